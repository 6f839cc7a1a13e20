"""`orch diff`: what an agent has changed, or how all of them fit together."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from orchestrator.forecast import Forecast


@click.command("diff")
@click.option("--stat", is_flag=True, help="Show a summary per file.")
@click.option("--all", "everything", is_flag=True, help="Compare all agents, as without an ID.")
@click.option("--into", metavar="BRANCH", help="For the comparison: the branch to merge into (the current one).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("id", required=False)
def command(stat: bool, everything: bool, into: str | None, as_json: bool, id: str | None) -> None:
    """Show what the agent ID has changed since its base: commits, uncommitted and untracked files together.

    Without an ID: which agents touch the same files, which of them conflict, and in which order to merge them.
    """
    from orchestrator.changes import load_changes
    from orchestrator.commands.context import load_records
    from orchestrator.errors import UsageProblem
    from orchestrator.view import answer_bytes, print_json

    project, records = load_records()
    if id is None or everything:
        if id is not None or stat:
            raise UsageProblem("--all compares all agents", "leave out the ID and --stat")
        from orchestrator.forecast import load_forecast

        git = project.git()
        target = into or project.git(project.root).branch() or git.branch() or "main"
        if into is None and any(target == agent.branch for agent in records.agents()):
            target = git.branch() or "main"
        forecast = load_forecast(project, records.agents(), target)
        if as_json:
            print_json(forecast_json(forecast))
        else:
            show(forecast)
        return
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


def forecast_json(forecast: "Forecast") -> dict[str, Any]:
    """The forecast as JSON."""
    return {
        "target": forecast.target,
        "agents": [
            {"id": side.agent.id, "files": sorted(side.files), "uncommitted": side.uncommitted}
            for side in forecast.sides
        ],
        "overlaps": [
            {"agents": [each.first, each.second], "files": list(each.files), "conflicts": list(each.conflicts)}
            for each in forecast.overlaps
        ],
        "order": [
            {"id": step.agent_id, "conflicts": list(step.conflicts), "because": list(step.because)}
            for step in forecast.order
        ],
    }


def show(forecast: "Forecast") -> None:
    """Print the forecast for people."""
    from orchestrator.view import answer, say

    if not forecast.sides:
        say("no agent has changed anything")
        return
    for side in forecast.sides:
        left = ", not all of it committed" if side.uncommitted else ""
        files = "1 file" if len(side.files) == 1 else f"{len(side.files)} files"
        answer(f"agent {side.agent.id} changes {files}{left}")
    for each in forecast.overlaps:
        how = f"CONFLICT in {_few(each.conflicts)}" if each.conflicts else f"both change {_few(each.files)}, cleanly"
        answer(f"agents {each.first} and {each.second}: {how}")
    answer(f"merge into {forecast.target} in this order:")
    for number, step in enumerate(forecast.order, 1):
        because = f" (with {', '.join(step.because)})" if step.because else ""
        how = f"  conflicts in {_few(step.conflicts)}{because}" if step.conflicts else ""
        answer(f"  {number}. orch merge {step.agent_id}{how}")


def _few(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
