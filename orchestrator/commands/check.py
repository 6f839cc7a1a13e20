"""`orch check`: run the project's checks."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from orchestrator.agent import Agent
    from orchestrator.checks import Check, Checked
    from orchestrator.project import Project
    from orchestrator.records import Records


@click.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("id", required=False)
def command(as_json: bool, id: str | None) -> int:
    """Run the checks of `.orch/check.yml` in the worktree of the agent ID (without one: in the current worktree).

    The file holds `checks: {NAME: COMMAND}`. Failures are shown first; the exit code is 1 when there is one.
    """
    from orchestrator.checks import CHECK_FILE, load_checks
    from orchestrator.commands.context import load_records
    from orchestrator.errors import UsageProblem
    from orchestrator.view import print_json

    project, records = load_records()
    checks = load_checks(project)
    if not checks:
        raise UsageProblem(f"there are no checks: {CHECK_FILE} is not there, or empty", "checks: {test: make test}")
    agent = None if id is None else records.require_agent(id)
    found = judge(project, records, agent, checks)
    if as_json:
        print_json({"id": None if agent is None else agent.id, "checks": [each.to_json() for each in found]})
    else:
        show(found)
    return 0 if all(each.passed for each in found) else 1


def judge(
    project: "Project", records: "Records", agent: "Agent | None", checks: "tuple[Check, ...]"
) -> "tuple[Checked, ...]":
    """Run the checks where they belong, and note the result with the agent."""
    from orchestrator.checks import run_checks
    from orchestrator.config import environment
    from orchestrator.digest import note_checks
    from orchestrator.errors import WorktreeProblem
    from orchestrator.view import say

    folder = project.root if agent is None else Path(agent.worktree)
    if not folder.is_dir():
        raise WorktreeProblem(f"the worktree {folder} is gone", "" if agent is None else f"orch restore {agent.id}")
    commit = project.git(folder).commit("HEAD")
    found = run_checks(checks, folder, environment(), started=lambda check: say(f"check {check.name}: {check.command}"))
    if agent is not None:
        results = [{"name": each.name, "passed": each.passed, "seconds": each.seconds} for each in found]
        records.add_event("checked", agent.id, commit=commit, checks=results)
        note_checks(records, agent.id, results)
    return found


def show(found: "Sequence[Checked]") -> None:
    """Print results, failures first and with the end of what they said."""
    from orchestrator.view import answer

    for each in found:
        failed = "did not end" if each.code is None else f"FAILED with exit code {each.code}"
        how = "passed" if each.passed else failed
        answer(f"{each.name}: {how} ({each.seconds:.1f} s)")
        if each.output:
            answer("\n".join(f"    {line}" for line in each.output.split("\n")))
