"""`orch rm`: remove an agent's worktree and branch."""

import click


@click.command("rm")
@click.option("--keep", is_flag=True, help="Keep uncommitted and unmerged work under refs/orch/kept/ID first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def command(keep: bool, as_json: bool, ids: tuple[str, ...]) -> None:
    """Remove the worktree and the branch of agents; refused while that would lose work."""
    from orchestrator.commands.context import load_records
    from orchestrator.removing import remove_agent
    from orchestrator.view import answer, print_json, say

    project, records = load_records()
    agents = [records.require_agent(each, removed=False) for each in ids]
    removed = [remove_agent(project, records, agent, keep=keep, tell=say) for agent in agents]
    if as_json:
        print_json(
            {
                "removed": [
                    {"id": each.agent.id, "kept": each.kept, "branch_deleted": each.branch_deleted} for each in removed
                ]
            }
        )
        return
    for each in removed:
        kept = f", its work is kept under {each.kept}" if each.kept else ""
        answer(f"agent {each.agent.id} removed{kept}")
