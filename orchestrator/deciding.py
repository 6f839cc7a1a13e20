"""What a person says about the memory: add, approve, reject, supersede, remove. Each is one change under the lock."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memory.document import Document, parse
from memory.edit import DEFAULT_SECTION, insert_entry, remove_entry, retag_entry, strike_entry
from memory.entry import Entry, Provenance, Trust, entry_id, normalise
from memory.hidden import has_hidden
from memory.secrets import find_secret
from memory.tag import parse_tag, render_tag
from orchestrator.errors import MemoryProblem, UsageProblem
from orchestrator.ledger import Act, Ledger
from orchestrator.memory_file import change_memory
from orchestrator.project import Project
from orchestrator.proposals import Moves, Proposal, Proposals, State
from orchestrator.records import Records

_LONGEST_TEXT = 8000
_OPEN = (State.WAITING, State.CONFLICT)


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What became of one entry: `done` is a word such as `added` or `approved`."""

    id: str
    text: str
    done: str


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where a person decides: the project and its records."""

    project: Project
    records: Records
    moves: Moves = field(default_factory=Moves)

    @property
    def ledger(self) -> Ledger:
        """The ledger of this project."""
        return Ledger(records=self.records)

    @property
    def proposals(self) -> Proposals:
        """The proposals of this project."""
        return Proposals(records=self.records, moves=self.moves)

    def change(self, change: Callable[[Document], Document]) -> None:
        """Change the document under the lock; what moves with it is written after the file, and before the unlock."""
        self.moves.held = {}
        try:
            change_memory(self.project, lambda data: change(parse(data)).serialise(), after=self.proposals.write_held)
        finally:
            self.moves.held = None


def require_fit(text: str) -> str:
    """The text of an entry without space around it.

    Raises MemoryProblem for a secret (which is never repeated), invisible characters, a tag of its own, or too much.
    """
    said = text.replace("\r\n", "\n").strip()
    secret = find_secret(said)
    if secret is not None:
        line, kind = secret
        raise MemoryProblem(
            f"line {line} of the text holds what looks like {kind}; it was not written anywhere",
            "say where the secret is kept, not what it is",
        )
    if has_hidden(said):
        raise MemoryProblem("the text holds characters that cannot be seen", "type it anew, in plain characters")
    if parse_tag(said) is not None:
        raise MemoryProblem("the text begins with a tag of its own", "leave it out: orch writes the tag")
    if len(said.encode("utf-8", "surrogatepass")) > _LONGEST_TEXT:
        raise MemoryProblem(f"the text is longer than {_LONGEST_TEXT} bytes", "an entry is one fact; link to the rest")
    return said


def add_entry(desk: Desk, text: str, section: str | None = None) -> Decision:
    """A person adds an entry; one that an agent proposed already becomes the person's own."""
    said = require_fit(text)
    found = entry_id(said)
    done = "added"

    def change(document: Document) -> Document:
        nonlocal done
        same = next((entry for entry in document.entries if entry.id == found and not entry.superseded), None)
        if same is None:
            document = insert_entry(document, said, section=section or DEFAULT_SECTION, tag=None)
        elif same.tag is None:
            done = "known"
        else:
            done = "approved"
            document = retag_entry(document, same, None)
        # After all that can fail, and before the file is replaced: a grant without its entry does no harm.
        desk.ledger.grant([found], Trust.HUMAN, "command")
        return document

    desk.change(change)
    return Decision(id=found, text=said, done=done)


def approve(desk: Desk, prefix: str) -> Decision:
    """A person vouches for an entry, or takes a proposal that waits."""
    decision: list[Decision] = []

    def change(document: Document) -> Document:
        entry = document.entry(prefix)
        if entry is None or entry.superseded:
            proposal = _open_proposal(desk, prefix)
            if proposal is not None:
                decision.append(Decision(id=proposal.entry, text=proposal.text, done="approved"))
                return _take(desk, document, proposal)
            if entry is None:
                raise _nothing(prefix)
            raise UsageProblem(f"{entry.id} is superseded", "orch memory add it again, in today's words")
        decision.append(Decision(id=entry.id, text=entry.text, done="approved"))
        if entry.claimed is Trust.HUMAN:
            desk.ledger.grant([entry.id], Trust.HUMAN, "command")
            return document
        desk.ledger.grant([entry.id], Trust.TRUSTED, "command")
        return retag_entry(document, entry, render_tag("trusted", entry.provenance))

    desk.change(change)
    return decision[0]


def reject(desk: Desk, prefix: str, why: str = "") -> Decision:
    """A person turns an entry or a proposal down: it goes, and is not proposed again."""
    return _take_out(desk, prefix, Act.REJECTED, why)


def remove(desk: Desk, prefix: str) -> Decision:
    """A person removes an entry; nothing of ours keeps its text."""
    return _take_out(desk, prefix, Act.REMOVED, "")


def supersede(desk: Desk, prefix: str, text: str) -> Decision:
    """A person puts a new text in the place of an entry, which stays in the file, struck through."""
    said = require_fit(text)
    new = entry_id(said)

    def change(document: Document) -> Document:
        old = _require_entry(document, prefix)
        if old.superseded or old.id == new:
            raise UsageProblem(f"{old.id} is superseded already" if old.superseded else "that is the same text")
        struck = strike_entry(document, old, struck_provenance(old))
        changed = insert_entry(struck, said, section=old.section or DEFAULT_SECTION, tag=None)
        desk.ledger.write(Act.SUPERSEDED, [old.id], channel="command", by=new)
        desk.ledger.grant([new], Trust.HUMAN, "command")
        return changed

    desk.change(change)
    return Decision(id=new, text=said, done="added")


def _take_out(desk: Desk, prefix: str, act: Act, why: str) -> Decision:
    decision: list[Decision] = []

    def change(document: Document) -> Document:
        found, text = _named(desk, document, prefix)
        decision.append(Decision(id=found, text=text, done=act.value))
        detail = {"why": why, "text": normalise(text)} if act is Act.REJECTED else {"why": why}
        desk.ledger.write(act, [found], channel="command", **detail)
        if act is Act.REMOVED:
            desk.proposals.forget(found)
            desk.ledger.forget(found)
        else:
            for each in desk.proposals.all(*_OPEN, State.LANDED, entry=found):
                desk.proposals.move(each.number, State.DROPPED, why="rejected by a person")
        return without(document, found)

    desk.change(change)
    return decision[0]


def _named(desk: Desk, document: Document, prefix: str) -> tuple[str, str]:
    """The id and the text of the entry or of the open proposal that `prefix` names."""
    entry = document.entry(prefix)
    if entry is not None:
        return entry.id, entry.text
    proposal = _open_proposal(desk, prefix)
    if proposal is None:
        raise _nothing(prefix)
    return proposal.entry, proposal.text


def without(document: Document, entry: str) -> Document:
    """The document without any bullet of this entry."""
    while (found := document.entry(entry)) is not None:
        document = remove_entry(document, found)
    return document


def _take(desk: Desk, document: Document, proposal: Proposal) -> Document:
    """Put a waiting proposal in as trusted; what it contradicts is superseded, since a person says so."""
    old = None if proposal.supersedes is None else document.entry(proposal.supersedes)
    if old is not None and not old.superseded:
        desk.ledger.write(Act.SUPERSEDED, [old.id], channel="command", by=proposal.entry)
        document = strike_entry(document, old, struck_provenance(old))
    desk.ledger.grant([proposal.entry], Trust.TRUSTED, "command")
    desk.proposals.move(proposal.number, State.LANDED, why="approved by a person")
    return insert_entry(
        document, proposal.text, section=proposal.section, tag=render_tag("trusted", provenance_of(proposal))
    )


def provenance_of(proposal: Proposal) -> Provenance:
    """What the tag of a proposal says of its origin."""
    return Provenance(
        date=proposal.at[:10],
        agents=(proposal.agent,),
        backend=proposal.backend,
        branch=proposal.branch,
        sha=proposal.sha[:7] if proposal.sha else None,
    )


def _open_proposal(desk: Desk, prefix: str) -> Proposal | None:
    found = {each.entry: each for each in desk.proposals.all(*_OPEN) if each.entry.startswith(prefix)}
    if len(found) > 1:
        raise UsageProblem(f"{prefix!r} is the beginning of several entries: {', '.join(found)}", "give more of it")
    return next(iter(found.values()), None)


def _require_entry(document: Document, prefix: str) -> Entry:
    entry = document.entry(prefix)
    if entry is None:
        raise _nothing(prefix)
    return entry


def _nothing(prefix: str) -> UsageProblem:
    return UsageProblem(f"there is no entry {prefix!r} in the memory", "orch memory list shows the ids")


def struck_provenance(old: Entry) -> Provenance:
    """What stands in the tag of an entry that is struck through today."""
    today = datetime.now(UTC).date().isoformat()
    return Provenance(date=today, agents=old.provenance.agents, backend=old.provenance.backend)
