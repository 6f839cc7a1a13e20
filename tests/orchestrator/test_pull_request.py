"""`orch pr` with a stand-in for `gh` that keeps what it was given, and a real remote on disk."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.orchestrator.conftest import Shell

_GH = """#!/bin/sh
printf '%s\\0' "$@" >> "{folder}/calls"; printf '\\036' >> "{folder}/calls"
case "$2" in
  view) [ -f "{folder}/open" ] || exit 1; echo '{{"url": "https://example.invalid/pull/1", "state": "OPEN"}}';;
  create) touch "{folder}/open"; echo "Creating pull request"; echo https://example.invalid/pull/1;;
esac
"""


@pytest.fixture
def hub(repo: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "hub"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "gh").write_text(_GH.format(folder=folder))
    (folder / "bin" / "gh").chmod(0o755)
    git(tmp_path, "clone", "--quiet", "--bare", str(repo), str(folder / "remote.git"))
    git(repo, "remote", "add", "origin", str(folder / "remote.git"))
    return folder


def _calls(hub: Path) -> list[list[str]]:
    return [call.split("\0")[:-1] for call in (hub / "calls").read_text().split("\x1e")[:-1]]


def _environ(hub: Path) -> dict[str, str]:
    return {"PATH": f"{hub / 'bin'}:{os.environ['PATH']}"}


def _ended(shell: Shell, script: str) -> dict[str, Any]:
    return shell.ended(shell.spawn(script, "--branch", "work")["id"])


def test_it_pushes_and_opens_one(shell: Shell, repo: Path, hub: Path) -> None:
    agent = _ended(shell, "echo a > a; git add a; git commit -qm 'Add a'")
    shell.show(agent["id"])  # with its digest written
    config = (repo / ".git" / "config").read_bytes()
    result = shell.orch.ok("pr", "--draft", agent["id"], environ=_environ(hub))
    assert result.stdout == "https://example.invalid/pull/1\n"
    assert git(hub / "remote.git", "rev-parse", "work") == git(repo, "rev-parse", "work")
    view, create = _calls(hub)
    assert view == ["pr", "view", "work", "--json", "url,state"]
    assert create[:8] == ["pr", "create", "--head", "work", "--base", "main", "--title", "Add a"]
    assert create[-1] == "--draft"
    assert (repo / ".git" / "config").read_bytes() == config
    worktree = Path(agent["worktree"])
    git(worktree, "commit", "--quiet", "--allow-empty", "-m", "More")
    again = json.loads(shell.orch.ok("pr", "--json", agent["id"], environ=_environ(hub)).stdout)
    assert (again["url"], again["already"]) == ("https://example.invalid/pull/1", True)
    assert git(hub / "remote.git", "log", "-1", "--format=%s", "work") == "More"
    assert len(_calls(hub)) == 3


def test_it_never_pushes_by_force(shell: Shell, repo: Path, hub: Path) -> None:
    agent = _ended(shell, "echo a > a; git add a; git commit -qm 'Add a'")
    other = git(repo, "commit-tree", "-m", "Somebody else's", "main^{tree}")
    git(repo, "push", "--quiet", "origin", f"{other}:refs/heads/work")
    refused = shell.orch("pr", agent["id"], environ=_environ(hub))
    assert (refused.code, "the push of work to origin failed" in refused.stderr) == (1, True)
    assert git(hub / "remote.git", "rev-parse", "work") == other
    assert not (hub / "calls").exists()


def test_what_is_missing_is_named(shell: Shell, repo: Path, hub: Path) -> None:
    agent = _ended(shell, "echo a > a; git add a; git commit -qm 'Add a'; echo b > b")
    (hub / "empty").mkdir()
    for name in ("git", "sh"):
        (hub / "empty" / name).symlink_to(f"/usr/bin/{name}")
    without = shell.orch("pr", agent["id"], environ={"PATH": str(hub / "empty")})
    assert (without.code, "orch pr needs gh" in without.stderr) == (2, True)
    dirty = shell.orch("pr", agent["id"], environ=_environ(hub))
    assert (dirty.code, "uncommitted changes" in dirty.stderr) == (9, True)
    (Path(agent["worktree"]) / "b").unlink()
    remote = shell.orch("pr", "--remote", "nowhere", agent["id"], environ=_environ(hub))
    assert (remote.code, "there is no remote nowhere" in remote.stderr) == (2, True)
    assert git(hub / "remote.git", "branch", "--list", "work") == ""
