"""What else a person says about the memory: approve, reject, supersede, remove. Each is one change under the lock."""

from datetime import UTC, datetime

from memory.document import Document
from memory.edit import DEFAULT_SECTION, insert_entry, remove_entry, retag_entry, strike_entry
from memory.entry import Entry, Provenance, Trust, entry_id, normalise
from memory.secrets import find_secret
from memory.tag import render_tag
from orchestrator.adding import Decision, require_text, safe_section
from orchestrator.desk import Desk
from orchestrator.errors import UsageProblem
from orchestrator.ledger import Act
from orchestrator.proposals import Proposal, State

_OPEN = (State.WAITING, State.CONFLICT)


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
    secret = find_secret(why)
    if secret is not None:
        raise UsageProblem(
            f"the reason holds what looks like {secret[1]}; nothing was written",
            "say where the secret is kept, not what it is",
        )
    return _take_out(desk, prefix, Act.REJECTED, why)


def remove(desk: Desk, prefix: str) -> Decision:
    """A person removes an entry; nothing of ours keeps its text."""
    return _take_out(desk, prefix, Act.REMOVED, "")


def supersede(desk: Desk, prefix: str, text: str) -> Decision:
    """A person puts a new text in the place of an entry, which stays in the file, struck through."""
    said = require_text(text)
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
        document,
        proposal.text,
        section=safe_section(proposal.section),
        tag=render_tag("trusted", provenance_of(proposal)),
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
