"""`orch gc`: only what is merged, clean and at rest goes, and only with --apply."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.conftest import git
from tests.orchestrator.conftest import Shell


def _ended(shell: Shell, script: str, branch: str) -> dict[str, Any]:
    return shell.ended(shell.spawn(script, "--branch", branch)["id"])


def _gc(shell: Shell, *options: str) -> Any:
    return json.loads(shell.orch.ok("gc", "--json", *options).stdout)


def test_the_policy(shell: Shell, repo: Path) -> None:
    merged = _ended(shell, "echo a > a; git add a; git commit -qm A", "merged")
    unmerged = _ended(shell, "echo b > b; git add b; git commit -qm B", "unmerged")
    dirty = _ended(shell, "echo c > c", "dirty")
    locked = _ended(shell, "true", "locked")
    running = shell.spawn("sleep 100", "--branch", "running")
    git(repo, "worktree", "lock", locked["worktree"])
    git(repo, "merge", "--quiet", "--squash", "merged")
    git(repo, "commit", "--quiet", "-m", "Squashed")
    agents = {each["id"]: each for each in _gc(shell, "--days", "0")["agents"]}
    assert [agents[each["id"]]["remove"] for each in (merged, unmerged, dirty, locked, running)] == [True] + [False] * 4
    assert "commits that no other branch has" in agents[unmerged["id"]]["why_not"]
    assert "uncommitted changes" in agents[dirty["id"]]["why_not"]
    assert "is locked" in agents[locked["id"]]["why_not"]
    assert agents[running["id"]]["why_not"] == "it is running"
    assert Path(merged["worktree"]).exists()
    assert "less than 7" in _gc(shell, "--apply")["agents"][0]["why_not"]
    assert Path(merged["worktree"]).exists()
    applied = _gc(shell, "--days", "0", "--apply")
    assert [each["done"] for each in applied["agents"]] == ["removed", None, None, None, None]
    assert not Path(merged["worktree"]).exists()
    for each in (unmerged, dirty, locked, running):
        assert Path(each["worktree"]).exists()
    shell.orch.ok("restore", merged["id"])
    shell.orch.ok("stop", running["id"])


def test_kept_work_goes_only_when_that_is_said(shell: Shell, repo: Path) -> None:
    agent = _ended(shell, "echo a > a", "work")
    shell.orch.ok("rm", "--keep", agent["id"])
    ref = f"refs/orch/kept/{agent['id']}"
    assert _gc(shell, "--apply", "--drop-kept")["kept"] == []
    assert _gc(shell, "--kept-days", "0", "--apply")["kept"][0]["dropped"] is False
    assert _gc(shell, "--kept-days", "0", "--drop-kept")["kept"][0]["dropped"] is False
    assert git(repo, "rev-parse", ref)
    assert _gc(shell, "--kept-days", "0", "--drop-kept", "--apply")["kept"][0]["dropped"] is True
    assert git(repo, "for-each-ref", ref) == ""
    refused = shell.orch("restore", agent["id"])
    assert (refused.code, "nothing is kept" in refused.stderr) == (2, True)


def test_a_record_that_points_elsewhere_lets_nothing_go(shell: Shell, repo: Path, tmp_path: Path) -> None:
    agent = _ended(shell, "true", "work")
    git(repo, "worktree", "add", "--quiet", "-b", "persons", str(tmp_path / "persons"))
    with closing(sqlite3.connect(repo / ".git" / "orch" / "records.db")) as connection, connection:
        change = "UPDATE agents SET data = json_set(data, '$.worktree', ?, '$.branch', 'persons')"
        connection.execute(change, (str(tmp_path / "persons"),))
    found = _gc(shell, "--days", "0", "--apply")["agents"][0]
    assert "was not made by orch" in found["why_not"]
    assert (tmp_path / "persons").is_dir()
    assert git(repo, "rev-parse", "persons")
    assert agent["id"] == found["id"]
