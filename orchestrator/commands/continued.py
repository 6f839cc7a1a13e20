"""What `orch resume` and `orch handoff` have in common."""

from typing import Any


def run_again(
    prefix: str,
    *,
    task: str | None,
    path: str | None,
    model: str | None,
    memory: bool | None,
    seam: str | None,
    wait: bool,
    as_json: bool,
    backend: str | None,
) -> int:
    """Start another run of an agent, and show it or wait for it; returns the exit code."""
    from orchestrator.commands.context import load_context
    from orchestrator.commands.options import carry_flags
    from orchestrator.commands.spawn import end_code, read_task, show_started
    from orchestrator.continuing import ContinueRequest, continue_agent
    from orchestrator.view import warn

    context = load_context(carry_flags(memory, seam))
    agent = context.records.require_agent(prefix, removed=False)
    request = ContinueRequest(task=read_task(task, path), backend=backend, model=model)

    def announce(started: Any) -> None:
        if not wait:
            show_started(started, as_json)

    started = continue_agent(
        context.project, context.config, context.records, agent, request, context.environ, tell=warn, announce=announce
    )
    if wait:
        from orchestrator.commands.wait import await_agents

        return await_agents(context.records, [started.id], as_json=as_json, alone=True)
    return end_code(started, context.project.agents / started.id / "output")
