"""`orch handoff`: let another backend go on in an agent's worktree."""

import click

from orchestrator.commands.options import run_options


@click.command("handoff")
@click.option("-b", "--backend", required=True, metavar="NAME", help="The backend that takes over.")
@click.option("-m", "--model", metavar="MODEL", help="The model, as that backend names it.")
@run_options
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
