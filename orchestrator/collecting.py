"""Collecting what is over: agents whose work is merged and that have been at rest for a while, and old kept work."""

from dataclasses import dataclass
from datetime import UTC, datetime

from orchestrator.agent import Agent, Status
from orchestrator.errors import OrchError
from orchestrator.gate import inspect
from orchestrator.kept import PREFIX
from orchestrator.liveness import observed
from orchestrator.locks import held
from orchestrator.operation import operation
from orchestrator.project import Project
from orchestrator.records import Records


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An agent that is not removed yet. `why_not` says why it stays; empty: it may go. `days` since its end."""

    agent: Agent
    days: float
    why_not: str = ""


@dataclass(frozen=True, kw_only=True)
class OldKept:
    """A kept ref: its agent, its commit, and the days since it was written."""

    agent_id: str
    ref: str
    commit: str
    days: float


def find_candidates(project: Project, records: Records, *, days: float) -> tuple[Candidate, ...]:
    """Every agent with a worktree or branch, and whether the policy lets it go: merged, clean, older than `days`."""
    found = []
    for agent in records.agents():
        if agent.status is Status.REMOVED and operation(agent) is None:
            continue
        agent = observed(records, agent)
        age = _days_since(agent.ended or agent.created)
        found.append(Candidate(agent=agent, days=age, why_not=_why_not(project, agent, age, days)))
    return tuple(found)


def _why_not(project: Project, agent: Agent, age: float, days: float) -> str:
    if agent.live:
        return "it is running"
    begun = operation(agent)
    if begun is not None:
        return "" if begun["kind"] == "rm" else f"orch {begun['kind']} was interrupted"
    if age < days:
        return f"it ended {age:.1f} days ago, less than {days:g}"
    try:
        permit = inspect(project, agent)
    except OrchError as exc:
        return exc.message
    return ", ".join(permit.risks)


def find_kept(project: Project, *, days: float) -> tuple[OldKept, ...]:
    """Kept work that was written more than `days` ago, oldest first."""
    listed = project.git().text(
        "for-each-ref", "--sort=creatordate", "--format=%(refname) %(objectname) %(creatordate:unix)", PREFIX
    )
    found = []
    for line in listed.splitlines():
        ref, commit, seconds = line.split(" ")
        age = (datetime.now(UTC).timestamp() - float(seconds)) / 86400
        if age >= days:
            found.append(OldKept(agent_id=ref.removeprefix(PREFIX), ref=ref, commit=commit, days=age))
    return tuple(found)


def drop_kept(project: Project, records: Records, old: OldKept) -> bool:
    """Delete a kept ref if it still names what was listed. This is the one thing here that cannot be undone."""
    with held(project.lock):
        agent = records.agent(old.agent_id)
        if agent is not None and operation(agent) is not None:
            return False
        done = project.git().run("update-ref", "-d", old.ref, old.commit, check=False).code == 0
    if done and agent is not None:
        records.add_event("kept-dropped", old.agent_id, commit=old.commit)
    return done


def _days_since(moment: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds() / 86400
