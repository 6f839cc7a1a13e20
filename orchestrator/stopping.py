"""Stopping an agent: through its supervisor, and directly where that has died."""

import os
import signal
import time

from orchestrator.agent import Agent
from orchestrator.errors import OrchError
from orchestrator.identity import end_tree, is_alive
from orchestrator.liveness import observed
from orchestrator.process import signal_quietly
from orchestrator.records import Records

# The supervisor gives the backend eight seconds to end gently, then four for the hard way.
_PATIENCE_SECONDS = 25.0


def stop_agent(records: Records, agent: Agent) -> Agent:
    """End the agent's whole process tree and return it as recorded then; an ended agent is left as it is.

    Raises OrchError when something of it survives.
    """
    agent = observed(records, agent)
    if agent.live and agent.supervisor_pid is not None:
        signal_quietly(agent.supervisor_pid, signal.SIGTERM)
        until = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < until and agent.live:
            time.sleep(0.05)
            agent = observed(records, agent_now(records, agent))
    # Also what an agent without a supervisor left running.
    roots = [agent.pid] if agent.pid is not None and is_alive(agent.pid, agent.pid_started) else []
    spare = frozenset(pid for pid in (os.getpid(), agent.supervisor_pid) if pid is not None)
    ended = end_tree(roots, agent.id, spare=spare)
    if ended.survivors:
        raise OrchError(
            f"agent {agent.id} has processes that cannot be ended: {', '.join(ended.survivors)}", "end them by hand"
        )
    return agent_now(records, agent)


def agent_now(records: Records, agent: Agent) -> Agent:
    """The agent as it is recorded at this moment."""
    return records.agent(agent.id) or agent
