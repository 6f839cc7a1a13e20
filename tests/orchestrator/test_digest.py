"""The digest of an ended agent, every field checked against git."""

import json
import os
import signal
from pathlib import Path
from typing import Any

from tests.conftest import git
from tests.orchestrator.conftest import Shell, until


def _digest(shell: Shell, agent_id: str) -> dict[str, Any]:
    found = json.loads(shell.orch.ok("show", "--json", agent_id).stdout)["digest"]
    assert isinstance(found, dict)
    return found


_WORK = r"""
echo one > one; git add one; git commit -qm 'Add one: a subject with ünïcode'; printf 'a\0b' > bin; git add bin
git commit -qm 'Add a binary'; echo more >> README.md; git mv one 'renamed one'; echo u > 'untracked
file'
"""


def test_every_field(shell: Shell, repo: Path) -> None:
    agent = shell.ended(shell.spawn(_WORK)["id"])
    stored = until(lambda: shell.show(agent["id"])["extra"].get("digest"), what="the digest that the supervisor stores")
    digest = _digest(shell, agent["id"])
    assert digest == stored
    worktree = Path(agent["worktree"])
    assert (digest["outcome"], digest["reason"]) == ("completed", "")
    assert digest["head"] == git(worktree, "rev-parse", "HEAD")
    assert 0 <= digest["seconds"] < 60
    commits = git(worktree, "log", "--reverse", "--format=%H %s", f"{agent['base']}..HEAD").splitlines()
    assert [f"{commit} {subject}" for commit, subject in digest["commits"]] == commits
    assert digest["commit_count"] == 2
    assert sorted(map(tuple, digest["files"])) == [
        ("A", "bin", None, None),
        ("A", "renamed one", 1, 0),
        ("A", "untracked\nfile", 1, 0),
        ("M", "README.md", 1, 0),
    ]
    assert sorted(map(tuple, digest["uncommitted"])) == [
        (" M", "README.md"),
        ("??", "untracked\nfile"),
        ("R ", "renamed one"),
    ]
    assert (digest["checks"], digest["usage"], digest["held"]) == (None, None, None)
    assert git(worktree, "status", "--porcelain", "README.md") == " M README.md"
    text = shell.orch.ok("show", agent["id"]).stdout
    assert "commits   2\n" in text
    assert "left      3 uncommitted" in text
    assert "          A untracked\\nfile\n" in text
    shell.orch.ok("rm", "--keep", agent["id"])
    assert _digest(shell, agent["id"]) == digest


def test_checks_are_added_when_they_run(shell: Shell, repo: Path) -> None:
    (repo / ".orch").mkdir()
    (repo / ".orch" / "check.yml").write_text("checks: {good: 'true', bad: 'false'}\n")
    agent = shell.ended(shell.spawn("true")["id"])
    assert _digest(shell, agent["id"])["checks"] is None
    assert shell.orch("check", agent["id"]).code == 1
    checks = _digest(shell, agent["id"])["checks"]
    assert [(check["name"], check["passed"]) for check in checks] == [("bad", False), ("good", True)]
    assert "checks    FAILED: bad" in shell.orch.ok("show", agent["id"]).stdout


def test_an_agent_whose_supervisor_died_has_one_too(shell: Shell, repo: Path) -> None:
    agent = shell.spawn("echo a > a; git add a; git commit -qm A; exec sleep 60")
    until(lambda: git(Path(agent["worktree"]), "log", "-1", "--format=%s") == "A")
    os.kill(agent["supervisor_pid"], signal.SIGKILL)
    until(lambda: shell.show(agent["id"])["status"] == "ended")
    digest = _digest(shell, agent["id"])
    assert (digest["outcome"], digest["commit_count"]) == ("lost", 1)
    shell.orch.ok("stop", agent["id"])


def test_a_secret_in_the_message_is_in_no_digest(shell: Shell, repo: Path) -> None:
    import sqlite3
    from contextlib import closing

    agent = shell.ended(shell.spawn("true")["id"])
    until(lambda: shell.show(agent["id"])["extra"].get("digest"))
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2"
    with closing(sqlite3.connect(repo / ".git" / "orch" / "records.db")) as connection, connection:
        (data,) = connection.execute("SELECT data FROM agents WHERE id = ?", (agent["id"],)).fetchone()
        value = {**json.loads(data), "message": f"The token is {token}", "extra": {}}
        connection.execute("UPDATE agents SET data = ? WHERE id = ?", (json.dumps(value), agent["id"]))
    digest = _digest(shell, agent["id"])
    assert digest["message"] is None
    assert digest["held"]
    assert token not in json.dumps(digest)
