"""`orch resume`: go on with an agent that has ended."""

import click

from orchestrator.commands.options import run_options


@click.command("resume")
@click.option("-m", "--model", metavar="MODEL", help="The model, as the backend names it; default: as before.")
@run_options
@click.argument("id")
@click.argument("task", required=False)
def command(
    model: str | None,
    path: str | None,
    memory: bool | None,
    seam: str | None,
    wait: bool,
    as_json: bool,
    id: str,
    task: str | None,
) -> int:
    """Give the agent ID, which has ended, another TASK in its worktree.

    Its backend takes up its own conversation where it can. It gets the memory as it is now, once.
    """
    from orchestrator.commands.continued import run_again

    return run_again(
        id, task=task, path=path, model=model, memory=memory, seam=seam, wait=wait, as_json=as_json, backend=None
    )
