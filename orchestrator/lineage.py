"""Which agents act for which: one that was spawned, resumed or handed over by another speaks for that one too."""

from collections.abc import Callable, Iterable, Mapping

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
    return _reached(agent_id, lambda each: leaders(agents.get(each)))


def family(agent_id: str, agents: Mapping[str, Agent]) -> frozenset[str]:
    """The agent, and all that gave each other tasks with it, upwards and downwards."""
    near: dict[str, set[str]] = {}
    for agent in agents.values():
        for leader in leaders(agent):
            near.setdefault(agent.id, set()).add(leader)
            near.setdefault(leader, set()).add(agent.id)
    return _reached(agent_id, lambda each: near.get(each, ()))


def _reached(start: str, near: Callable[[str], Iterable[str]]) -> frozenset[str]:
    found: set[str] = set()
    open_ = [start]
    while open_:
        each = open_.pop()
        if each not in found:
            found.add(each)
            open_ += near(each)
    return frozenset(found)
