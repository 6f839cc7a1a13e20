"""The journal of what must not be forgotten half-way: which operation on an agent has begun, and how far it came.

It stands in the agent's record before each step and is taken out with the last one, so that a command after a crash
says what was interrupted, and the same command goes on where the first one stopped.
"""

from typing import Any

from orchestrator.agent import Agent
from orchestrator.records import Records, now

_KEY = "operation"


def operation(agent: Agent) -> dict[str, Any] | None:
    """What was begun and not finished: `kind` (rm, restore), `step`, `since`, and what its steps need."""
    found = agent.extra.get(_KEY)
    return found if isinstance(found, dict) else None


def interrupted_text(agent: Agent) -> str:
    """What a person should read about it; empty when nothing was interrupted."""
    found = operation(agent)
    if found is None:
        return ""
    kind, step = found["kind"], found["step"]
    return f"orch {kind} was interrupted after the step {step!r}: orch {kind} {agent.id} goes on"


def write_step(records: Records, agent_id: str, kind: str, step: str, **detail: Any) -> Agent:
    """Note that a step is done; details of earlier steps stay."""

    def change(agent: Agent) -> Agent:
        before = operation(agent) or {}
        kept = before if before.get("kind") == kind else {}
        value = {"since": now(), **kept, "kind": kind, "step": step, **detail}
        return agent.changed(extra={**agent.extra, _KEY: value})

    agent = records.change_agent(agent_id, change)
    records.add_event("step", agent_id, operation=kind, step=step, **detail)
    return agent


def without_operation(agent: Agent) -> Agent:
    """The record with nothing in progress."""
    return agent.changed(extra={name: value for name, value in agent.extra.items() if name != _KEY})
