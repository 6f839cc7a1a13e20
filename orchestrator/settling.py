"""Settling proposals: into the memory at their agent's end or merge, out of it when their branch is discarded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.document import Document
from memory.edit import strike_entry, unstrike_entry
from memory.entry import Trust
from memory.similar import same_fact
from orchestrator.agent import Agent
from orchestrator.beliefs import committed
from orchestrator.config import environment
from orchestrator.config_schema import Config
from orchestrator.deciding import struck_provenance
from orchestrator.desk import Desk
from orchestrator.errors import OrchError, RecordsProblem
from orchestrator.fate import Fate, branch_tip, fate
from orchestrator.landing import land
from orchestrator.ledger import Act
from orchestrator.liveness import observed
from orchestrator.project import Project, load_project
from orchestrator.proposals import Proposal, State
from orchestrator.records import Records
from orchestrator.renewal import renew
from orchestrator.settings import load_settings
from orchestrator.sight import note_shown


def settle_or_tell(
    project: Project,
    records: Records,
    config: Config,
    tell: Callable[[str], None],
    *,
    report: Callable[[str], None] | None = None,
) -> None:
    """As `settle`, where it is not the matter itself: what cannot be settled now is told, and settled later.

    What is settled goes to `report`, with the texts; to `tell` where there is none.

    Raises RecordsProblem, since without the records nothing that comes after could be right either.
    """
    changed = False
    try:
        for line in settle(project, records, config):
            (report or tell)(f"memory: {line}")
            changed = True
    except RecordsProblem:
        raise
    except OrchError as exc:
        tell(f"what agents proposed could not be settled: {exc.message}")
    if changed or (project.mirrors.exists() and not config.memory.mirror):
        renew(project, environment(), tell)


def settle_after(
    common_dir: Path, records: Records, tell: Callable[[str], None], *, report: Callable[[str], None] | None = None
) -> None:
    """As `settle_or_tell`, for the end of an agent: the configuration is read anew, and no fault of it matters here."""
    try:
        project = load_project(common_dir)
        settle_or_tell(project, records, load_settings(project, environment()), tell, report=report)
    except OrchError as exc:
        tell(f"what the agent proposed is settled by the next command: {exc.message}")


def settle_if_over(desk: Desk, agent_id: str, tell: Callable[[str], None]) -> None:
    """Let the claims land of an agent that has ended, or that nobody supervises: nothing else would."""
    agent = desk.records.agent(agent_id)
    if agent is None or not agent.live:
        settle_after(desk.project.common_dir, desk.records, tell)


def reopen(project: Project, records: Records, agent: str) -> None:
    """Let what was withdrawn with an agent's branch wait again, since that branch is back; `settle` does the rest."""
    desk = Desk(project=project, records=records)
    for each in desk.proposals.all(State.WITHDRAWN):
        if each.agent == agent and each.branch is not None and branch_tip(project.git(), each.branch) is not None:
            desk.proposals.move(each.number, State.WAITING)


@dataclass(frozen=True, kw_only=True)
class _Course:
    """What is to be done with one proposal, decided before the lock is taken (git is slow, and is not asked in it)."""

    proposal: Proposal
    fate: Fate | None
    tip: str | None


def settle(project: Project, records: Records, config: Config) -> tuple[str, ...]:
    """Bring every open proposal as far as it goes; return a line for each that moved. Nothing open costs nothing."""
    desk = Desk(project=project, records=records)
    open_ = desk.proposals.all(State.WAITING, State.LANDED, State.CONFLICT)
    if not open_ or project.memory_path is None:
        return ()
    _close_conflicts(desk, open_)
    agents = {agent.id: agent for agent in records.agents()}
    courses = _courses(desk, config, open_, agents)
    if not courses:
        return ()
    lines: list[str] = []
    granted = committed(project)

    def change(document: Document) -> Document:
        fresh = {each.number: each.state for each in desk.proposals.all()}
        for course in courses:
            if fresh.get(course.proposal.number) is course.proposal.state:
                document = _settled(desk, document, course, agents, granted, lines)
        return document

    desk.change(change)
    if lines:
        # They are told to whoever runs this, with the texts.
        note_shown(environment(), records, [course.proposal.entry for course in courses])
    return tuple(lines)


def _close_conflicts(desk: Desk, open_: Sequence[Proposal]) -> None:
    """A conflict is over where a person has vouched for the claim meanwhile, or another agent's of the same text."""
    conflicts = [each for each in open_ if each.state is State.CONFLICT]
    granted = desk.ledger.grants() if conflicts else {}
    for each in conflicts:
        if each.entry in granted:
            desk.proposals.move(each.number, State.DROPPED, why="a person has vouched for it")


def _courses(desk: Desk, config: Config, open_: Sequence[Proposal], agents: Mapping[str, Agent]) -> tuple[_Course, ...]:
    git = desk.project.git()
    fates: dict[tuple[str, str | None], tuple[Fate, str | None]] = {}
    found = []
    for each in open_:
        if each.state is State.CONFLICT:
            continue
        agent = agents.get(each.agent)
        if each.state is State.WAITING and agent is not None and observed(desk.records, agent).live:
            continue
        outcome: Fate | None = None
        tip = each.sha
        if each.branch is not None:
            key = (each.branch, each.sha)
            if key not in fates:
                fates[key] = (
                    fate(git, each.branch, base=each.base, tip=each.sha),
                    branch_tip(git, each.branch) or each.sha,
                )
            outcome, tip = fates[key]
        if outcome is Fate.OPEN and (each.state is State.LANDED or config.memory.stage == "merge"):
            if tip != each.sha:
                # The tip is kept, since a branch that is gone tomorrow is judged by where it was last seen.
                desk.proposals.move(each.number, each.state, why=each.why, sha=tip)
            continue
        found.append(_Course(proposal=each, fate=outcome, tip=tip))
    return tuple(found)


def _settled(
    desk: Desk,
    document: Document,
    course: _Course,
    agents: Mapping[str, Agent],
    granted: Mapping[str, Trust],
    lines: list[str],
) -> Document:
    proposal = course.proposal
    if course.fate is Fate.DISCARDED:
        desk.proposals.move(proposal.number, State.WITHDRAWN, why=f"branch {proposal.branch} was discarded")
        back: list[str] = []
        withdrawn = _withdraw(desk, document, proposal, granted, back)
        if withdrawn is not document or proposal.state is State.WAITING:
            lines.append(f"withdrawn, since its branch {proposal.branch} was discarded: {_first_line(proposal)}")
        lines += back
        return withdrawn
    after = State.SETTLED if course.fate in (Fate.MERGED, None) else State.LANDED
    if proposal.state is State.LANDED:
        desk.proposals.move(proposal.number, after, sha=course.tip)
        return document
    landing = land(desk, document, proposal, agents=agents, granted=granted)
    desk.proposals.move(
        proposal.number, after if landing.state is State.LANDED else landing.state, why=landing.why, sha=course.tip
    )
    lines.append(f"{landing.why or 'proposed'}: {_first_line(proposal)}")
    return landing.document


def _withdraw(
    desk: Desk, document: Document, proposal: Proposal, granted: Mapping[str, Trust], lines: list[str]
) -> Document:
    """Strike a fact through whose only source is gone; not one that a person vouched for."""
    others = desk.proposals.all(State.LANDED, State.SETTLED)
    if any(each.number != proposal.number and same_fact(each.text, proposal.text) for each in others):
        return document
    committed_as = granted.get(proposal.entry, Trust.UNVERIFIED)
    entry = document.entry(proposal.entry)
    if committed_as > Trust.UNVERIFIED or desk.ledger.vouched(proposal.entry) or entry is None or entry.superseded:
        return document
    desk.ledger.write(Act.WITHDRAWN, [entry.id], channel="orch", agent=proposal.agent, branch=proposal.branch)
    return _reinstated(desk, strike_entry(document, entry, struck_provenance(entry)), entry.id, lines)


def _reinstated(desk: Desk, document: Document, by: str, lines: list[str]) -> Document:
    """Give back what an agent's claim took the place of, as it was before, now that this claim is withdrawn."""
    said = desk.ledger.lines()
    closed = desk.ledger.closed(said)
    for line in closed.values():
        old = document.entry(line.entry)
        if line.channel != "agent" or line.detail.get("by") != by or old is None or not old.superseded:
            continue
        claims = desk.proposals.all(entry=old.id)
        if claims and not any(each.state in (State.LANDED, State.SETTLED) for each in claims):
            continue
        before = desk.ledger.grants([each for each in said if each.number < line.number]).get(old.id)
        desk.ledger.write(Act.REINSTATED, [old.id], channel="orch", by=by)
        if before is not None:
            desk.ledger.grant({old.id: old.text}, before, "corroboration")
        document = unstrike_entry(document, old, line.detail.get("tag"))
        lines.append(f"back, since what took its place was withdrawn: {old.text.splitlines()[0][:80]} ({old.id})")
    return document


def _first_line(proposal: Proposal) -> str:
    return f"{proposal.text.splitlines()[0][:80] if proposal.text else ''} ({proposal.entry})"
