"""Landing one proposal in the memory: new, known, corroborated, superseding, or against what a person vouched for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from memory.document import Document
from memory.edit import insert_entry, remove_entry, retag_entry, strike_entry
from memory.entry import Entry, Trust, entry_id
from memory.errors import MemoryFault
from memory.similar import contradicts, may_contradict, same_fact, same_letters
from memory.tag import render_tag
from memory.trust import judge
from orchestrator.adding import safe_section
from orchestrator.agent import Agent
from orchestrator.deciding import provenance_of, struck_provenance
from orchestrator.desk import Desk
from orchestrator.holding import held_text
from orchestrator.ledger import Act
from orchestrator.lineage import kin
from orchestrator.naming import replaced
from orchestrator.proposals import Proposal, State
from orchestrator.sight import was_shown


@dataclass(frozen=True, kw_only=True)
class Landing:
    """The document afterwards, the state that the proposal has now, and why in one line ("": it went in as new)."""

    document: Document
    state: State
    why: str = ""


def land(
    desk: Desk, document: Document, proposal: Proposal, *, agents: Mapping[str, Agent], granted: Mapping[str, Trust]
) -> Landing:
    """Put a proposal where it belongs. `granted` is what the main checkout's commit grants.

    Nothing here believes the claim: it enters as unverified, confirms what another, independent agent claimed, or waits
    for a person.
    """
    refused = refused_before(desk, document, proposal.text)
    if refused is not None:
        return Landing(document=document, state=State.DROPPED, why=f"not taken, since it was {refused} before")
    grants = desk.ledger.grants()
    trusts = {
        item.entry.id: item.trust
        for item in judge(document, committed=granted, ledger=grants)
        if not item.entry.superseded
    }
    living = [entry for entry in document.entries if not entry.superseded]
    same = next((entry for entry in living if same_fact(proposal.text, entry.text)), None)
    if same is not None:
        return _again(desk, document, proposal, same, trusts[same.id], agents)
    found = _contradicted(document, living, proposal)
    against = [each for each in found if trusts[each.id] is Trust.HUMAN or _vouched(desk, each, granted)]
    # What a person vouched for comes first. In what agents say, a wording that only may contradict is another fact.
    sure = (each for each in found if proposal.supersedes or contradicts(proposal.text, each.text))
    old = against[0] if against else next(sure, None)
    if old is None:
        return _enter(desk, document, proposal)
    if against:
        desk.ledger.write(
            Act.CONFLICT, [proposal.entry], channel="agent", agent=proposal.agent, against=old.id, text=proposal.text
        )
        desk.proposals.move(proposal.number, State.CONFLICT, supersedes=old.id)
        return Landing(
            document=document, state=State.CONFLICT, why=f"in conflict with {old.id}, which a person wrote or approved"
        )
    # The tag is what the entry gets back, should the claim in its place be withdrawn.
    desk.ledger.write(Act.SUPERSEDED, [old.id], channel="agent", agent=proposal.agent, by=proposal.entry, tag=old.tag)
    entered = _enter(desk, strike_entry(document, old, struck_provenance(old)), proposal)
    return replace(entered, why=f"in place of {old.id}")


def refused_before(desk: Desk, document: Document, text: str) -> str | None:
    """What became of a fact that is not to be proposed again (`rejected` …), by the ledger or by the file; else None.

    The file alone knows in another clone: what is struck through there was superseded.
    """
    lines = desk.ledger.lines()
    entry = entry_id(text)
    for closed, line in desk.ledger.closed(lines).items():
        said = line.detail.get("text")
        if closed == entry or (isinstance(said, str) and same_fact(text, said)):
            return line.act.value
    # What was withdrawn is struck through as well, and may be learned anew.
    withdrawn = desk.ledger.withdrawn(lines)
    struck = {each.id: each.text for each in document.entries if each.superseded and each.id not in withdrawn}
    living = {each.id for each in document.entries if not each.superseded}
    found = any(name not in living and (name == entry or same_fact(text, said)) for name, said in struck.items())
    return "superseded" if found else None


def _again(
    desk: Desk, document: Document, proposal: Proposal, entry: Entry, trust: Trust, agents: Mapping[str, Agent]
) -> Landing:
    """The memory says so already: another independent agent makes it trusted, anything else changes nothing."""
    if trust > Trust.UNVERIFIED:
        return Landing(document=document, state=State.DROPPED, why="known already")
    held = held_text(entry, claimed=True, heading_claimed=True)
    if held is not None:
        return Landing(
            document=document, state=State.DROPPED, why=f"claimed before, and held back for a person: {held}"
        )
    if not same_letters(proposal.text, entry.text):
        return Landing(document=document, state=State.DROPPED, why="claimed before, with other letters")
    said = [each for each in desk.proposals.all() if same_fact(each.text, entry.text)]
    names = {entry.id, *(each.entry for each in said)}

    def shown(claim: Proposal) -> bool:
        return any(was_shown(claim.agent, name, agents, before=claim.at) for name in names)

    if shown(proposal):
        return Landing(document=document, state=State.DROPPED, why="known to its agent from the memory itself")
    earlier = [
        each
        for each in said
        # Who is not in the records may have been made up, and nothing is known of what it was shown.
        if each.state in (State.LANDED, State.SETTLED) and each.number != proposal.number and each.agent in agents
    ]
    if not earlier:
        # Somebody wrote it into the file. That is no witness, so this claim is the first one.
        desk.ledger.write(Act.PROPOSED, [entry.id], channel="agent", agent=proposal.agent)
        return Landing(document=document, state=State.LANDED, why="claimed for the first time")
    if proposal.agent not in agents:
        return Landing(document=document, state=State.DROPPED, why="claimed before, and its agent is unknown here")
    mine = kin(proposal.agent, agents)
    witnesses = [each for each in earlier if mine.isdisjoint(kin(each.agent, agents)) and not shown(each)]
    if not witnesses:
        return Landing(document=document, state=State.DROPPED, why="claimed before by the same agent")
    found_by = tuple(dict.fromkeys([*(each.agent for each in witnesses), proposal.agent]))
    tag = render_tag("trusted", replace(entry.provenance, date=proposal.at[:10], agents=found_by))
    desk.ledger.write(
        Act.CORROBORATED, [entry.id], channel="corroboration", agent=proposal.agent, agents=list(found_by)
    )
    desk.ledger.grant({entry.id: entry.text}, Trust.TRUSTED, "corroboration")
    return Landing(document=retag_entry(document, entry, tag), state=State.LANDED, why="corroborated, now trusted")


def _contradicted(document: Document, living: list[Entry], proposal: Proposal) -> list[Entry]:
    """The entries that a proposal may contradict; the one that it names, where it names one."""
    if proposal.supersedes:
        named = replaced(document, proposal.supersedes)
        return [named] if named is not None else []
    # Two claims of one agent are two facts, unless it says that the one takes the other's place.
    others = (entry for entry in living if proposal.agent not in entry.provenance.agents)
    return [entry for entry in others if may_contradict(proposal.text, entry.text)]


def _vouched(desk: Desk, entry: Entry, granted: Mapping[str, Trust]) -> bool:
    """Whether a person stands behind an entry: by a command, or by a commit that calls it more than unverified."""
    return granted.get(entry.id, Trust.UNVERIFIED) > Trust.UNVERIFIED or entry.id in desk.ledger.vouched(entry.id)


def _enter(desk: Desk, document: Document, proposal: Proposal) -> Landing:
    try:
        entered = insert_entry(
            _without_tombstone(desk, document, proposal.entry),
            proposal.text,
            section=safe_section(proposal.section),
            tag=render_tag("unverified", provenance_of(proposal)),
        )
    except MemoryFault as exc:
        return Landing(document=document, state=State.DROPPED, why=exc.message)
    desk.ledger.write(Act.PROPOSED, [proposal.entry], channel="agent", agent=proposal.agent)
    return Landing(document=entered, state=State.LANDED)


def _without_tombstone(desk: Desk, document: Document, entry: str) -> Document:
    """The document without the line that says that this very fact was withdrawn: it comes back, or is learned anew."""
    old = document.entry(entry)
    if old is None or not old.superseded:
        return document
    return remove_entry(document, old) if entry in desk.ledger.withdrawn() else document
