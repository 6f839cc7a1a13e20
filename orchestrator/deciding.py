"""What else a person says about the memory: approve, reject, supersede, remove. Each is one change under the
lock, however many entries it is about."""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

from memory.document import Document
from memory.edit import (
    DEFAULT_SECTION,
    insert_entry,
    insert_sections,
    remove_entries,
    retag_entries,
    strike_entries,
)
from memory.entry import Entry, Provenance, Trust, entry_id, normalise, wording_id
from memory.secrets import find_secret
from memory.tag import render_tag
from orchestrator.adding import Decision, require_text, safe_section, said_alike
from orchestrator.desk import Desk
from orchestrator.errors import UsageProblem
from orchestrator.ledger import Act
from orchestrator.naming import Names, entry_named, nothing_named, replaced, require_name
from orchestrator.proposals import Proposal, State

_OPEN = (State.WAITING, State.CONFLICT)


def approve(desk: Desk, prefix: str) -> Decision:
    """A person vouches for an entry, or takes a proposal that waits."""
    return approve_all(desk, (prefix,))[0]


def approve_all(desk: Desk, prefixes: Sequence[str]) -> tuple[Decision, ...]:
    """As `approve`, in one change: for all of them, or for none where one cannot be approved."""
    wanted = [require_name(prefix) for prefix in prefixes]
    decided: list[Decision] = []

    def change(document: Document) -> Document:
        names = Names(document, desk.proposals.all(*_OPEN))
        found = _each_once(names.open_to_approval(prefix) for prefix in wanted)
        decided.extend(Decision(id=name, text=each.text, done="approved") for name, each in found.items())
        with desk.at_once():
            document = _vouch(desk, document, [each for each in found.values() if isinstance(each, Entry)])
            document = _take(desk, document, [each for each in found.values() if isinstance(each, Proposal)])
            _drop_open(desk, found.keys(), "a person has vouched for it")
            return document

    desk.change(change)
    return tuple(decided)


def reject(desk: Desk, prefix: str, why: str = "") -> Decision:
    """A person turns an entry or a proposal down: it goes, and is not proposed again."""
    return reject_all(desk, (prefix,), why)[0]


def reject_all(desk: Desk, prefixes: Sequence[str], why: str = "") -> tuple[Decision, ...]:
    """As `reject`, in one change: for all of them, or for none where one is not there."""
    secret = find_secret(why)
    if secret is not None:
        raise UsageProblem(
            f"the reason holds what looks like {secret[1]}; nothing was written",
            "say where the secret is kept, not what it is",
        )
    return _take_out(desk, prefixes, Act.REJECTED, why)


def remove(desk: Desk, prefix: str) -> Decision:
    """A person removes an entry; nothing of ours keeps its text."""
    return remove_all(desk, (prefix,))[0]


def remove_all(desk: Desk, prefixes: Sequence[str]) -> tuple[Decision, ...]:
    """As `remove`, in one change: for all of them, or for none where one is not there."""
    return _take_out(desk, prefixes, Act.REMOVED, "")


def supersede(desk: Desk, prefix: str, text: str) -> Decision:
    """A person puts a new text in the place of an entry, which stays in the file, struck through."""
    said = require_text(text)
    new = entry_id(said)

    def change(document: Document) -> Document:
        old = _require_entry(document, prefix)
        if old.superseded or old.id == new:
            raise UsageProblem(
                f"{old.id} is superseded already" if old.superseded else "that is the same text", "orch memory list"
            )
        every = [each for each in document.entries if each.id == old.id and not each.superseded]
        struck = strike_entries(document, [(each, struck_provenance(each)) for each in every])
        same = struck.entry(new)
        stands = said
        if same is not None and not same.superseded:
            stands = said_alike(same, said)
            changed = retag_entries(struck, [(same, None)])
        else:
            changed = insert_entry(struck, said, section=old.section or DEFAULT_SECTION, tag=None)
        desk.ledger.write(Act.SUPERSEDED, [old.id], channel="command", by=new)
        desk.ledger.grant({new: stands}, Trust.HUMAN, "command")
        return changed

    desk.change(change)
    return Decision(id=new, text=said, done="added")


def _take_out(desk: Desk, prefixes: Sequence[str], act: Act, why: str) -> tuple[Decision, ...]:
    wanted = [require_name(prefix) for prefix in prefixes]
    why = " ".join(why.split())
    decided: list[Decision] = []

    def change(document: Document) -> Document:
        names = Names(document, desk.proposals.all(*_OPEN))
        found = _each_once(names.named(prefix) for prefix in wanted)
        decided.extend(Decision(id=name, text=each.text, done=act.value) for name, each in found.items())
        with desk.at_once():
            for name, each in found.items():
                detail = {"why": why, "text": normalise(each.text)} if act is Act.REJECTED else {"why": why}
                desk.ledger.write(act, [name], channel="command", **detail)
            _close_proposals(desk, found.keys(), act)
        return remove_entries(document, found.keys())

    desk.change(change)
    return tuple(decided)


def _close_proposals(desk: Desk, entries: Collection[str], act: Act) -> None:
    if act is Act.REMOVED:
        for entry in entries:
            desk.proposals.forget(entry)
            desk.ledger.forget(entry)
        return
    _drop_open(desk, entries, "rejected by a person", State.LANDED)


def _drop_open(desk: Desk, entries: Collection[str], why: str, *besides: State) -> None:
    for each in desk.proposals.all(*_OPEN, *besides):
        if each.entry in entries:
            desk.proposals.move(each.number, State.DROPPED, why=why)


def _each_once(found: "Iterable[Entry | Proposal]") -> "dict[str, Entry | Proposal]":
    return {each.id if isinstance(each, Entry) else each.entry: each for each in found}


def without(document: Document, entry: str) -> Document:
    """The document without any bullet of this entry."""
    return remove_entries(document, {entry})


def _require_no_secret(entries: Iterable[Entry]) -> None:
    """Raise UsageProblem for what would stay held back, whoever vouches for it: only a commit says that it is none."""
    for entry in entries:
        secret = find_secret(entry.text) if entry.claimed is not Trust.HUMAN else None
        if secret is not None:
            raise UsageProblem(
                f"{entry.id} holds what looks like {secret[1]}, and stays held back; nothing was approved",
                f"orch memory rm {entry.id}, and orch memory add where the secret is kept instead",
            )


def _vouch(desk: Desk, document: Document, entries: Sequence[Entry]) -> Document:
    _require_no_secret(entries)
    granted = desk.ledger.vouched()
    for trust in (Trust.HUMAN, Trust.TRUSTED):
        named = {entry.id: entry.text for entry in entries if (entry.claimed is Trust.HUMAN) == (trust is Trust.HUMAN)}
        wordings = desk.ledger.wordings()
        new = {
            name: text
            for name, text in named.items()
            if granted.get(name) is not trust or wording_id(text) not in wordings.get(name, ())
        }
        desk.ledger.grant(new, trust, "command")
    tagged = [entry for entry in entries if entry.claimed is not Trust.HUMAN]
    return retag_entries(document, [(entry, render_tag("trusted", entry.provenance)) for entry in tagged])


def _take(desk: Desk, document: Document, proposals: Sequence[Proposal]) -> Document:
    """Put waiting proposals in as trusted; what they contradict is superseded, since a person says so."""
    sections: dict[str, list[tuple[str, str | None]]] = {}
    for each in proposals:
        desk.proposals.move(each.number, State.LANDED, why="approved by a person")
        tag = render_tag("trusted", provenance_of(each))
        sections.setdefault(safe_section(each.section), []).append((each.text, tag))
    desk.ledger.grant({each.entry: each.text for each in proposals}, Trust.TRUSTED, "command")
    if sections:
        document = insert_sections(document, sections)
    struck: dict[str, Entry] = {}
    for each in proposals:
        old = replaced(document, each.supersedes)
        if old is not None and old.id not in struck:
            desk.ledger.write(Act.SUPERSEDED, [old.id], channel="command", by=each.entry)
            struck[old.id] = old
    return strike_entries(document, [(old, struck_provenance(old)) for old in struck.values()])


def provenance_of(proposal: Proposal) -> Provenance:
    """What the tag of a proposal says of its origin; not the branch where its name would not be written as a text."""
    named = proposal.branch
    return Provenance(
        date=proposal.at[:10],
        agents=(proposal.agent,),
        backend=proposal.backend,
        branch=None if named is None or find_secret(named) is not None else named,
        sha=proposal.sha[:7] if proposal.sha else None,
    )


def _require_entry(document: Document, prefix: str) -> Entry:
    entry = entry_named(document, require_name(prefix))
    if entry is None:
        raise nothing_named(prefix)
    return entry


def struck_provenance(old: Entry) -> Provenance:
    """What stands in the tag of an entry that is struck through today."""
    today = datetime.now(UTC).date().isoformat()
    return Provenance(date=today, agents=old.provenance.agents, backend=old.provenance.backend)
