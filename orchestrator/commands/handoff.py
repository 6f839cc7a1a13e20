"""`orch handoff`: let another backend go on in an agent's worktree."""

import click


@click.command("handoff")
@click.option("-b", "--backend", required=True, metavar="NAME", help="The backend that takes over.")
@click.option("-m", "--model", metavar="MODEL", help="The model, as that backend names it.")
@click.option("-f", "--file", "path", metavar="PATH", help="Read the task from a file (- for standard input).")
@click.option("--memory/--no-memory", default=None, help="Carry the project's memory or not (memory.inject).")
@click.option("--seam", type=click.Choice(["auto", "file", "launch"]), help="How it is carried (projection.seam).")
@click.option("--wait/--detach", "wait", default=False, help="Wait for the agent's end, or return at once (default).")
@click.option("--json", "as_json", is_flag=True, help="Print the agent as JSON.")
@click.argument("id")
@click.argument("task", required=False)
def command(
    backend: str,
    model: str | None,
    path: str | None,
    memory: bool | None,
    seam: str | None,
    wait: bool,
    as_json: bool,
    id: str,
    task: str | None,
) -> int:
    """Let another backend work on TASK in the worktree of the agent ID, which has ended.

    Branch, worktree and id stay. What carried the memory to the first backend goes before the other one gets it.
    """
    from orchestrator.commands.continued import run_again

    return run_again(
        id, task=task, path=path, model=model, memory=memory, seam=seam, wait=wait, as_json=as_json, backend=backend
    )
