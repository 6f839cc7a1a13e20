"""Which agents act for which: one that was spawned, resumed or handed over by another speaks for that one too."""

from collections.abc import Mapping

from orchestrator.agent import Agent


def leaders(agent: Agent | None) -> tuple[str, ...]:
    """The ids of the agents that gave this one a task: by its spawn, or by another run; none for a person's."""
    if agent is None:
        return ()
    led_by = agent.extra.get("led_by", [])
    named = (agent.extra.get("parent"), *(led_by if isinstance(led_by, list) else ()))
    return tuple(each for each in named if isinstance(each, str))


def kin(agent_id: str, agents: Mapping[str, Agent]) -> frozenset[str]:
    """The agent, those that gave it a task, those that gave them theirs, and so on.

    Two agents are independent witnesses where they have nobody in common here.
    """
    found: set[str] = set()
    open_ = [agent_id]
    while open_:
        each = open_.pop()
        if each not in found:
            found.add(each)
            open_ += leaders(agents.get(each))
    return frozenset(found)


def family(agent_id: str, agents: Mapping[str, Agent]) -> frozenset[str]:
    """The agent, and all that gave each other tasks with it, upwards and downwards."""
    near: dict[str, set[str]] = {}
    for each in agents.values():
        for leader in leaders(each):
            near.setdefault(each.id, set()).add(leader)
            near.setdefault(leader, set()).add(each.id)
    found: set[str] = set()
    open_ = [agent_id]
    while open_:
        each_id = open_.pop()
        if each_id not in found:
            found.add(each_id)
            open_ += near.get(each_id, ())
    return frozenset(found)
