"""`orch spawn`: start an agent."""

import sys
from pathlib import Path
from typing import Any

import click

from orchestrator.commands.options import carry_flags, run_options
from orchestrator.errors import UsageProblem


@click.command("spawn")
@click.option("-b", "--backend", required=True, metavar="NAME", help="The backend to run (orch config lists them).")
@click.option("--branch", metavar="NAME", help="The new branch; default: orch/ and the task's first words.")
@click.option("--base", metavar="REV", help="The commit to branch from; default: HEAD.")
@click.option("-m", "--model", metavar="MODEL", help="The model, as the backend names it.")
@run_options
@click.argument("task", required=False)
def command(
    backend: str,
    branch: str | None,
    base: str | None,
    model: str | None,
    path: str | None,
    memory: bool | None,
    seam: str | None,
    wait: bool,
    as_json: bool,
    task: str | None,
) -> int:
    """Start an agent on TASK in a worktree of its own, with the project's memory in it.

    TASK may be an argument (after -- when it starts with a dash), a file, or standard input. With --wait, and for an
    agent that ends at once, the exit code tells how it ended: 0 completed, 10 failed, others as in docs/errors.md.
    """
    from orchestrator.commands.context import load_context
    from orchestrator.spawning import SpawnRequest, spawn
    from orchestrator.view import say, warn

    text = read_task(task, path)
    context = load_context(carry_flags(memory, seam))
    request = SpawnRequest(backend=backend, task=text, branch=branch, base=base, model=model)

    def announce(agent: Any) -> None:
        if not wait:
            show_started(agent, as_json)

    agent = spawn(context.project, context.config, request, context.environ, tell=warn, narrate=say, announce=announce)
    if wait:
        from orchestrator.commands.wait import await_agents

        return await_agents(context.records, [agent.id], as_json=as_json, alone=True)
    return end_code(agent, context.project.agents / agent.id / "output")


def end_code(agent: Any, output: Path) -> int:
    """0 for an agent that runs or has completed; one that failed at once fails the spawn, with what it said last."""
    from orchestrator.agent import Status
    from orchestrator.outcome import exit_code
    from orchestrator.output import last_line
    from orchestrator.view import complain

    code = exit_code(agent.outcome) if agent.status is Status.ENDED else 0
    if code:
        said = last_line(output)
        complain(f"{agent.backend} ended at once" + (f": {said}" if said else ""), f"orch logs {agent.id}")
    return code


def show_started(agent: Any, as_json: bool) -> None:
    """Print the agent that was started."""
    from orchestrator.commands.show import agent_json
    from orchestrator.commands.texts import describe_started
    from orchestrator.view import answer, print_json

    if as_json:
        print_json({"agent": agent_json(agent)})
    else:
        for line in describe_started(agent):
            answer(line)


def read_task(task: str | None, path: str | None) -> str:
    """The task from the argument, the file or standard input."""
    if task is not None and path is not None:
        raise UsageProblem("the task is given twice: as an argument and with --file", "give one of them")
    if task is not None and task != "-":
        return task
    if path is not None and path != "-":
        try:
            data = Path(path).read_bytes()
        except OSError as exc:
            raise UsageProblem(
                f"cannot read the task from {path}: {exc.strerror}",
                f"ls -l {path} (a task that begins with -f goes after --)",
            ) from exc
        return _decoded(data, path)
    stream = sys.stdin.buffer
    if stream.isatty():
        raise UsageProblem("there is no task", 'orch spawn --backend NAME "what to do", or --file PATH')
    return _decoded(stream.read(), "standard input")


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise UsageProblem(f"the task from {source} is not UTF-8 (byte {exc.start})", "convert it: iconv") from exc
