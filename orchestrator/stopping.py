"""Stopping an agent: through its supervisor, and directly where that has died."""

import os
import signal
import time

from adapters.adapter import Outcome
from orchestrator.agent import Agent, Status
from orchestrator.errors import OrchError
from orchestrator.identity import Ended, end_tree, is_alive
from orchestrator.liveness import observed
from orchestrator.process import signal_quietly
from orchestrator.records import Records, now

STOP_EVENT = "stop"
# The supervisor gives the backend eight seconds to end gently, then four for the hard way.
_PATIENCE_SECONDS = 25.0


def stop_agent(records: Records, agent: Agent, *, patience: float = _PATIENCE_SECONDS) -> Agent:
    """End the agent's whole process tree and return it as recorded then; an ended agent is left as it is.

    A supervisor that does not answer within `patience` seconds is killed. Raises OrchError when something survives.
    """
    agent = observed(records, agent)
    if agent.live and agent.supervisor_pid is not None:
        # Before the signal: a supervisor that is told to end without it was not told so by us.
        records.add_event(STOP_EVENT, agent.id)
        signal_quietly(agent.supervisor_pid, signal.SIGTERM)
        until = time.monotonic() + patience
        while time.monotonic() < until and agent.live:
            time.sleep(0.05)
            agent = observed(records, agent_now(records, agent))
    # What a dead or deaf supervisor left running: itself and all below it, which carries the agent's id.
    roots = [agent.pid] if agent.pid is not None and is_alive(agent.pid, agent.pid_started) else []
    ended = end_tree(roots, records.mark(agent.id), spare=frozenset({os.getpid()}))
    if ended.survivors:
        raise OrchError(
            f"agent {agent.id} has processes that cannot be ended: {', '.join(ended.survivors)}", "end them by hand"
        )
    return records.change_agent(agent.id, lambda current: _corrected(current, ended))


def _corrected(agent: Agent, ended: Ended) -> Agent:
    """The record after the stop, where no supervisor has written the end, or could not see all of it."""
    if agent.live:
        return agent.changed(
            status=Status.ENDED,
            ended=now(),
            outcome=Outcome.STOPPED,
            reason="orch stop; its supervisor did not answer and was killed",
        )
    if agent.outcome is Outcome.LOST and ended.ended:
        return agent.changed(reason=f"its supervisor died; orch stop then ended {', '.join(ended.ended)}")
    return agent


def agent_now(records: Records, agent: Agent) -> Agent:
    """The agent as it is recorded at this moment."""
    return records.agent(agent.id) or agent
