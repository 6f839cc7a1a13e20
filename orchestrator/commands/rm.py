"""`orch rm`: remove an agent's worktree and branch."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from orchestrator.project import Project
    from orchestrator.removing import Removal


@click.command("rm")
@click.option("--keep", is_flag=True, help="Also with work that is nowhere else: orch restore brings it back.")
@click.option("--force", is_flag=True, help="The same as --keep: nothing is ever deleted that is not kept first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def command(keep: bool, force: bool, as_json: bool, ids: tuple[str, ...]) -> None:
    """Remove the worktree and the branch of agents; refused while they hold work that is nowhere else.

    Whatever goes is kept under refs/orch/kept/ID first, uncommitted and untracked files included. Records and logs
    stay.
    """
    from orchestrator.commands.context import load_records
    from orchestrator.operation import operation
    from orchestrator.removing import remove_agent
    from orchestrator.settling import settle_after
    from orchestrator.view import answer, print_json, say, warn

    project, records = load_records()
    agents = [records.require_agent(each) for each in dict.fromkeys(ids)]
    removal = plan_removal(project, keep=keep or force)
    removed = []
    for agent in agents:
        if operation(agent) is not None:
            say(f"going on with what was interrupted for agent {agent.id}")
        each = remove_agent(project, records, agent, removal, tell=say)
        removed.append(each)
        for note in each.notes:
            warn(note)
        if not as_json:
            answer(f"agent {agent.id} removed; orch restore {agent.id} brings it back")
    settle_after(project.common_dir, records, say)
    if as_json:
        print_json(
            {
                "removed": [
                    {"id": each.agent.id, "kept": each.kept, "branch_deleted": each.branch_deleted} for each in removed
                ]
            }
        )


def plan_removal(project: "Project", *, keep: bool) -> "Removal":
    """How to remove, by the configuration; a broken one stops no removal, and is told."""
    from orchestrator.config import environment
    from orchestrator.config_schema import Config
    from orchestrator.errors import OrchError
    from orchestrator.listed import listed_patterns
    from orchestrator.preparation import run_teardown
    from orchestrator.removing import Removal
    from orchestrator.settings import load_settings
    from orchestrator.view import warn

    environ = environment()
    try:
        config = load_settings(project, environ)
    except OrchError as exc:
        warn(f"worktrees.teardown and worktrees.include are not known: {exc.message}")
        config = Config()
    return Removal(
        keep=keep,
        include=listed_patterns(project, config.worktrees.include),
        teardown=lambda agent: run_teardown(
            project, config, agent_id=agent.id, worktree=Path(agent.worktree), environ=environ, tell=warn
        ),
        here=Path.cwd(),
    )
