"""How an agent is put into words, for people."""

from orchestrator.agent import Agent, Status

_TASK_WIDTH = 60


def describe_started(agent: Agent) -> list[str]:
    """What a person needs after a spawn: who, where, with which memory, and how to follow."""
    state = "is running" if agent.status is Status.RUNNING else f"has ended already: {outcome_text(agent)}"
    return [
        f"agent {agent.id} ({agent.backend}{f' {agent.version}' if agent.version else ''}) {state}",
        f"  branch    {agent.branch} from {agent.base_name} ({agent.base[:10]})",
        f"  worktree  {agent.worktree}",
        f"  memory    {memory_text(agent)}",
        f"  follow    orch logs -f {agent.id}    orch wait {agent.id}    orch diff {agent.id}",
    ]


def memory_text(agent: Agent) -> str:
    """How the memory reached the agent."""
    if agent.seam == "none":
        return "none" + (f" ({agent.seam_reason})" if agent.seam_reason else "")
    at_launch = "at launch" if agent.seam == "launch" else "in the repository itself"
    where = f"block in {agent.seam_file}" if agent.seam_file else at_launch
    return f"{agent.render_bytes} bytes, {where}" + (f" ({agent.seam_reason})" if agent.seam_reason else "")


def outcome_text(agent: Agent) -> str:
    """The outcome and its reason in one line."""
    if agent.outcome is None:
        return str(agent.status.value)
    return agent.outcome.value + (f": {agent.reason}" if agent.reason else "")


def state_text(agent: Agent) -> str:
    """The state in a word or two: what was interrupted, that it is removed, else how it ended or stands."""
    from orchestrator.operation import operation

    begun = operation(agent)
    if begun is not None:
        return f"{begun['kind']} interrupted"
    if agent.status is Status.REMOVED:
        return "removed"
    return agent.status.value if agent.outcome is None else agent.outcome.value


def task_line(agent: Agent) -> str:
    """The task's first line, cut."""
    line = next((line.strip() for line in agent.task.splitlines() if line.strip()), "")
    return line if len(line) <= _TASK_WIDTH else line[: _TASK_WIDTH - 1] + "…"


def duration_text(agent: Agent) -> str:
    """How long it has been running, or ran."""
    from datetime import UTC, datetime

    if agent.started is None:
        return "-"
    end = datetime.fromisoformat(agent.ended) if agent.ended else datetime.now(UTC)
    seconds = int((end - datetime.fromisoformat(agent.started)).total_seconds())
    if seconds < 60:
        return f"{seconds}s"
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes}m{seconds:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"
