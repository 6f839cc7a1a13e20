"""Whether an agent that the records call running still is, asked of the machine."""

import os

from adapters.adapter import Outcome
from orchestrator.agent import Agent, Status
from orchestrator.errors import ProjectProblem, UsageProblem
from orchestrator.identity import is_alive, tree
from orchestrator.records import Records, now

# The time between the record and the supervisor's first write; after that a missing supervisor is a dead one.
_STARTING_SECONDS = 60.0


def observed(records: Records, agent: Agent) -> Agent:
    """The agent as it is now. One whose supervisor has died is recorded as lost, with what is still running."""
    if not agent.live or is_alive(agent.supervisor_pid, agent.supervisor_started):
        return agent
    if agent.supervisor_pid is None and _age_seconds(agent) < _STARTING_SECONDS:
        return agent

    def lose(current: Agent) -> Agent:
        # The supervisor may have recorded the end between our reading and now.
        if not current.live or is_alive(current.supervisor_pid, current.supervisor_started):
            return current
        running = is_alive(current.pid, current.pid_started)
        reason = "its supervisor died"
        if running:
            reason += f"; the backend still runs as pid {current.pid} (orch stop {current.id} ends it)"
        return current.changed(status=Status.ENDED, ended=now(), outcome=Outcome.LOST, reason=reason)

    try:
        return records.change_agent(agent.id, lose)
    except ProjectProblem:
        return lose(agent)  # a reader that may not write sees it all the same


def require_over(records: Records, agent: Agent) -> Agent:
    """The agent as it is now. Raises UsageProblem while it runs, or while something of a lost one still does: that
    would go on to write into a worktree that is merged, given away or gone."""
    agent = observed(records, agent)
    if agent.live:
        raise UsageProblem(f"agent {agent.id} is still running", f"orch wait {agent.id}, or orch stop {agent.id}")
    if agent.status is Status.ENDED and agent.outcome is Outcome.LOST:
        roots = [agent.pid] if agent.pid is not None and is_alive(agent.pid, agent.pid_started) else []
        left = tree(roots, records.mark(agent.id), spare=frozenset({os.getpid()}))
        if left:
            pids = ", ".join(str(process.pid) for process in left)
            raise UsageProblem(
                f"agent {agent.id} lost its supervisor, and what it started still runs (pid {pids})",
                f"orch stop {agent.id}",
            )
    return agent


def _age_seconds(agent: Agent) -> float:
    from datetime import UTC, datetime

    return (datetime.now(UTC) - datetime.fromisoformat(agent.begun or agent.created)).total_seconds()
