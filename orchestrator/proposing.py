"""An agent's claim: kept as a proposal with where it comes from; nothing of it is believed yet."""

from memory.entry import entry_id
from orchestrator.adding import Decision, require_section, require_text
from orchestrator.desk import Desk
from orchestrator.errors import MemoryProblem


def propose(desk: Desk, agent_id: str, text: str, *, section: str | None, supersedes: str | None = None) -> Decision:
    """Keep a claim of an agent until it ends (or its branch merges).

    Raises MemoryProblem for a text that is refused, and for a fact that was rejected, superseded or removed before;
    UsageProblem for a section's name that is none.
    """
    said, where = require_text(text), require_section(section, claimed=True)
    agent = desk.records.agent(agent_id)
    branch = agent.branch if agent is not None else None
    tip = desk.project.git().commit(f"refs/heads/{branch}") if branch else None
    entry = entry_id(said)
    closed = desk.ledger.closed().get(entry)
    if closed is not None:
        raise MemoryProblem(
            f"this was {closed.act.value} before, and is not proposed again", "a person can: orch memory add"
        )
    desk.proposals.add(
        said,
        section=where,
        agent=agent_id,
        backend=agent.backend if agent is not None else None,
        branch=branch,
        base=agent.base if agent is not None else None,
        sha=tip,
        supersedes=supersedes,
    )
    return Decision(id=entry, text=said, done="proposed")
