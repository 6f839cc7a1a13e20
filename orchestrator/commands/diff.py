"""`orch diff`: what an agent has changed."""

import click


@click.command("diff")
@click.option("--stat", is_flag=True, help="Show a summary per file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("id")
def command(stat: bool, as_json: bool, id: str) -> None:
    """Show what the agent ID has changed since its base: commits, uncommitted and untracked files together."""
    from orchestrator.changes import load_changes
    from orchestrator.commands.context import load_records
    from orchestrator.view import answer_bytes, print_json

    project, records = load_records()
    changes = load_changes(project, records.require_agent(id), stat=stat)
    if as_json:
        print_json(
            {
                "id": changes.agent_id,
                "base": changes.base,
                "commits": list(changes.commits),
                "files": [{"status": status, "path": path} for status, path in changes.files],
                "diff": changes.diff.decode("utf-8", "replace"),
            }
        )
        return
    answer_bytes(changes.diff)
