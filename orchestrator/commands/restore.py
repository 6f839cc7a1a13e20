"""`orch restore`: bring a removed agent back."""

from pathlib import Path

import click


@click.command("restore")
@click.option("--path", type=click.Path(path_type=Path), metavar="DIRECTORY", help="Another place for the worktree.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("id")
def command(path: Path | None, as_json: bool, id: str) -> None:
    """Bring back branch and worktree of the removed agent ID: every file and mode, and the index as it was.

    Facts that were withdrawn with its branch come back too.
    """
    from orchestrator.commands.context import load_records
    from orchestrator.commands.show import agent_json
    from orchestrator.restoring import restore_agent
    from orchestrator.settling import reopen, settle_after
    from orchestrator.view import answer, print_json, say, warn

    project, records = load_records()
    target = None if path is None else Path.cwd() / path
    agent = restore_agent(project, records, records.require_agent(id), path=target, tell=warn)
    reopen(project, records, agent.id)
    settle_after(project.common_dir, records, say)
    if as_json:
        print_json({"agent": agent_json(agent)})
        return
    answer(f"agent {agent.id} restored: branch {agent.branch or '(detached)'}, worktree {agent.worktree}")
