"""The forecast of `orch diff`: what it says about conflicts and order is what happens when it is followed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.orchestrator.conftest import Shell
from tests.orchestrator.snapshots import load_tree


def _list(repo: Path) -> None:
    (repo / "list").write_text("".join(f"line {number}\n" for number in range(1, 41)))
    git(repo, "add", "list")
    git(repo, "commit", "--quiet", "-m", "A list")


def _agent(shell: Shell, name: str, *edits: str, commit: bool = True) -> str:
    script = "; ".join([*edits, *([f"git add -A; git commit -qm {name}"] if commit else [])])
    agent = shell.spawn(script, "--branch", name)
    shell.ended(agent["id"])
    return str(agent["id"])


def _change(first: int, last: int, word: str) -> str:
    return f"sed -i '{first},{last}s/line/{word}/' list"


def _forecast(shell: Shell, *options: str) -> Any:
    return json.loads(shell.orch.ok("diff", "--json", *options).stdout)


def _follow(shell: Shell, repo: Path, forecast: Any) -> None:
    """Merge in the suggested order: what is said to conflict does, in those files, and all else merges."""
    for step in forecast["order"]:
        result = shell.orch("merge", step["id"])
        if step["conflicts"]:
            assert result.code == 1
            assert f"in {', '.join(step['conflicts'])};" in result.stderr
        else:
            assert result.code == 0, result.stderr


def test_three_agents_with_overlapping_lines(shell: Shell, repo: Path) -> None:
    """The widest one conflicts with both others, which do not conflict with each other: it must come last."""
    _list(repo)
    wide = _agent(shell, "wide", _change(5, 30, "wide"))
    upper = _agent(shell, "upper", _change(3, 8, "upper"), "echo u > u")
    lower = _agent(shell, "lower", _change(28, 35, "lower"))
    before = (load_tree(repo), git(repo, "for-each-ref"))
    forecast = _forecast(shell)
    assert (load_tree(repo), git(repo, "for-each-ref")) == before
    assert forecast["target"] == "main"
    assert [(each["agents"], each["conflicts"]) for each in forecast["overlaps"]] == [
        ([wide, upper], ["list"]),
        ([wide, lower], ["list"]),
        ([upper, lower], []),
    ]
    assert [step["id"] for step in forecast["order"]][2] == wide
    assert [bool(step["conflicts"]) for step in forecast["order"]] == [False, False, True]
    assert set(forecast["order"][2]["because"]) == {upper, lower}
    text = shell.orch.ok("diff", "--all").stdout
    assert f"agents {wide} and {upper}: CONFLICT in list" in text
    assert f"3. orch merge {wide}  conflicts in list" in text
    _follow(shell, repo, forecast)
    # The other order is worse: that is what the suggestion is for.
    git(repo, "reset", "--quiet", "--hard", "HEAD~2")
    shell.orch.ok("merge", wide)
    assert [shell.orch("merge", each).code for each in (upper, lower)] == [1, 1]


def test_work_on_top_of_other_work(shell: Shell, repo: Path) -> None:
    _list(repo)
    first = _agent(shell, "first", _change(1, 4, "first"))
    second = _agent(shell, "second", "git merge -q first", _change(3, 6, "second"))
    third = _agent(shell, "third", "echo other > other")
    forecast = _forecast(shell)
    assert not any(step["conflicts"] for step in forecast["order"])
    assert {step["id"] for step in forecast["order"]} == {first, second, third}
    _follow(shell, repo, forecast)


def test_uncommitted_and_running_work_counts(shell: Shell, repo: Path) -> None:
    _list(repo)
    committed = _agent(shell, "committed", _change(1, 4, "one"))
    running = shell.spawn(f"{_change(2, 5, 'two')}; echo new > new; sleep 60", "--branch", "running")
    status = git(Path(running["worktree"]), "status", "--porcelain")
    forecast = _forecast(shell)
    assert [(each["agents"], each["conflicts"]) for each in forecast["overlaps"]] == [
        ([committed, running["id"]], ["list"])
    ]
    assert [each["uncommitted"] for each in forecast["agents"]] == [False, True]
    assert git(Path(running["worktree"]), "status", "--porcelain") == status
    shell.orch.ok("stop", running["id"])


def test_conflicts_with_the_target_itself(shell: Shell, repo: Path) -> None:
    _list(repo)
    agent = _agent(shell, "work", _change(1, 4, "agent"))
    (repo / "list").write_text("all new\n")
    git(repo, "commit", "--quiet", "-am", "A person")
    forecast = _forecast(shell)
    assert forecast["order"] == [{"id": agent, "conflicts": ["list"], "because": []}]
    _follow(shell, repo, forecast)
    assert shell.orch("diff", "--into", "nothing").code == 7


def test_a_rename_that_meets_a_deletion(shell: Shell, repo: Path) -> None:
    _list(repo)
    _agent(shell, "rename", "git mv list new-name")
    _agent(shell, "delete", "git rm -q list")
    (overlap,) = _forecast(shell)["overlaps"]
    assert overlap["conflicts"]


@pytest.mark.slow
def test_more_agents_than_orders_can_be_tried(shell: Shell, repo: Path) -> None:
    _list(repo)
    wide = _agent(shell, "wide", _change(1, 40, "wide"))
    for number in range(6):
        _agent(shell, f"a{number}", _change(number * 6 + 1, number * 6 + 3, f"a{number}"))
    forecast = _forecast(shell)
    assert [bool(step["conflicts"]) for step in forecast["order"]] == [False] * 6 + [True]
    assert forecast["order"][6]["id"] == wide
    _follow(shell, repo, forecast)


def test_nothing_to_compare(shell: Shell, repo: Path) -> None:
    assert "no agent has changed anything" in shell.orch.ok("diff").stderr
    _agent(shell, "idle", "true", commit=False)
    assert "no agent has changed anything" in shell.orch.ok("diff").stderr
