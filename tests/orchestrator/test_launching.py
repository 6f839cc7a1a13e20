"""A spawn that cannot be done, at each of its steps: it says why, and leaves the repository as it was."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Orch, git
from tests.orchestrator.conftest import Shell, until


def _everything(repo: Path) -> dict[str, object]:
    """What a spawn may change."""
    return {
        "config": (repo / ".git" / "config").read_bytes(),
        "refs": git(repo, "for-each-ref"),
        "worktrees": git(repo, "worktree", "list"),
        "status": git(repo, "status", "--porcelain"),
        "beside": sorted(path.name for path in repo.parent.iterdir()),
        "agents": sorted(path.name for path in (repo / ".git" / "orch" / "agents").glob("*")),
    }


def _define(home: Path, program: Path) -> None:
    config = home / ".config" / "orch" / "config.yml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"backends: {{broken: {{command: ['{program}'], seam: {{file: AGENTS.md}}}}}}\n")


@pytest.mark.parametrize(
    "content",
    [b"#!/no/such/interpreter\n", b"\x7fELF no program", b"\x00\x01\x02"],
    ids=["interpreter", "format", "binary"],
)
def test_a_program_that_the_system_cannot_start(orch: Orch, repo: Path, home: Path, content: bytes) -> None:
    program = repo.parent / "broken"
    program.write_bytes(content)
    program.chmod(0o755)
    _define(home, program)
    (repo / ".orch").mkdir()
    (repo / ".orch" / "memory.md").write_text("- A fact.\n")
    before = _everything(repo)
    result = orch("spawn", "--backend", "broken", "task")
    assert result.code != 0
    assert "error: " in result.stderr
    assert "unexpected" not in result.stderr
    if result.code == 6:
        assert "broken did not start" in result.stderr
        assert _everything(repo) == before
        assert orch.ok("ls").stdout == ""


def test_a_program_that_goes_away_while_it_is_spawned(shell: Shell, orch: Orch, repo: Path, home: Path) -> None:
    program = repo.parent / "broken"
    program.write_text("#!/bin/sh\ntrue\n")
    program.chmod(0o755)
    _define(home, program)
    hook = repo / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nrm -f {program}\n")
    hook.chmod(0o755)
    before = _everything(repo)
    result = orch("spawn", "--backend", "broken", "task")
    assert (result.code, "broken did not start" in result.stderr) == (6, True), result
    assert {**_everything(repo), "beside": None} == {**before, "beside": None}
    assert not (repo.parent / "repo.worktrees").exists()


def test_a_checkout_that_fails(shell: Shell, repo: Path) -> None:
    (repo / ".gitattributes").write_text("* filter=broken\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Filter")
    git(repo, "config", "filter.broken.smudge", "false")
    git(repo, "config", "filter.broken.clean", "cat")
    git(repo, "config", "filter.broken.required", "true")
    before = _everything(repo)
    result = shell.orch("spawn", "-b", "sh", "true")
    assert (result.code, "the checkout in" in result.stderr) == (1, True), result
    assert _everything(repo) == before, result


def test_a_worktree_that_a_hook_deletes(shell: Shell, repo: Path) -> None:
    hook = repo / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\nrm -rf "$PWD"\n')
    hook.chmod(0o755)
    before = _everything(repo)
    result = shell.orch("spawn", "-b", "sh", "true")
    assert result.code not in (0, 3), result
    assert _everything(repo) == before, result


@pytest.mark.parametrize("seconds", [0.15, 0.3, 0.45, 0.6])
def test_a_spawn_that_is_killed_is_in_nobodys_way(shell: Shell, repo: Path, seconds: float) -> None:
    """Wherever it was: the next commands work, git is whole, and what it left is either recorded or without content."""
    command = [sys.executable, "-I", "-m", "orchestrator", "spawn", "-b", "sh", "echo worked > made; sleep 1"]
    with subprocess.Popen(command, cwd=repo, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        time.sleep(seconds)
        child.kill()
    shell.orch.ok("ls")
    after = shell.spawn("true")
    git(repo, "fsck", "--no-dangling")
    git(repo, "config", "--list")
    until(lambda: "\trunning\t" not in shell.orch.ok("ls").stdout, seconds=60)
    for row in shell.orch.ok("ls").stdout.splitlines():
        agent = shell.show(row.split("\t")[0])
        assert Path(agent["worktree"]).is_dir()
        assert agent["status"] in ("ended", "starting")
        if agent["outcome"] == "completed" and agent["id"] != after["id"]:
            assert (Path(agent["worktree"]) / "made").read_text() == "worked\n"
