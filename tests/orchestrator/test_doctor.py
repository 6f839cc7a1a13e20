"""`orch doctor` on real leftovers."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from orchestrator.agent import Agent, Status
from orchestrator.gate import claim
from orchestrator.records import Records, now
from orchestrator.surroundings import judge_git_version
from tests.conftest import Orch, git
from tests.projection.spawned import spawn

Findings = dict[str, list[dict[str, Any]]]


def _doctor(orch: Orch, *args: str, code: int = 0) -> Findings:
    """The findings by area; the exit code must be `code`."""
    result = orch("doctor", "--json", *args)
    assert result.code == code, result.stdout + result.stderr
    found: Findings = {}
    for finding in json.loads(result.stdout)["findings"]:
        found.setdefault(finding["area"], []).append(finding)
    return found


def _age(path: Path) -> None:
    """Make a file look an hour old."""
    hour_ago = time.time() - 3600
    os.utime(path, (hour_ago, hour_ago), follow_symlinks=False)


def _sleeper(orch: Orch, repo: Path) -> dict[str, Any]:
    """A running agent that does not mind a hang-up."""
    (repo / ".orch").mkdir()
    (repo / ".orch" / "config.yml").write_text(
        """backends: {sleeper: {command: [sh, -c, "trap '' HUP; echo up; sleep 600 & wait"]}}"""
    )
    spawned = json.loads(orch.ok("spawn", "--backend", "sleeper", "--json", "sleep").stdout)
    agent: dict[str, Any] = json.loads(orch.ok("show", spawned["agent"]["id"], "--json").stdout)["agent"]
    return agent


def test_a_sound_project(orch: Orch) -> None:
    found = _doctor(orch)
    assert found["leftovers"][0]["text"] == "none"
    assert [finding["state"] for area in ("git", "config", "memory") for finding in found[area]] == ["ok"] * 3
    rows = orch.ok("doctor").stdout.splitlines()
    assert rows[0].startswith("ok\tgit\tgit 2.")


def test_outside_a_repository_the_machine_is_looked_at(orch: Orch, tmp_path: Path) -> None:
    result = orch.ok("doctor", cwd=tmp_path)
    assert "is not in a git repository" in result.stdout


def test_a_supervisor_that_was_killed(orch: Orch, repo: Path) -> None:
    agent = _sleeper(orch, repo)
    backend = psutil.Process(agent["pid"])
    try:
        os.kill(agent["supervisor_pid"], signal.SIGKILL)
        psutil.wait_procs([psutil.Process(agent["supervisor_pid"])], timeout=10)
        area = f"agent {agent['id']}"
        found = _doctor(orch, code=1)
        assert "its supervisor is gone" in found[area][0]["text"]
        assert found[area][0]["fixable"]
        assert _doctor(orch, "--fix")[area][0]["state"] == "repaired"
        stray = _doctor(orch)[area]
        assert stray[0]["state"] == "warning"
        assert stray[0]["hint"] == f"orch stop {agent['id']}"
        orch.ok("stop", agent["id"])
        assert _doctor(orch)["leftovers"][0]["text"] == "none"
    finally:
        if backend.is_running():
            backend.kill()


def test_a_running_agent_is_no_leftover(orch: Orch, repo: Path) -> None:
    agent = _sleeper(orch, repo)
    try:
        assert _doctor(orch)["leftovers"][0]["text"] == "none"
    finally:
        orch.ok("stop", agent["id"])


def test_a_worktree_that_was_deleted_by_hand(orch: Orch, repo: Path) -> None:
    agent = _sleeper(orch, repo)
    orch.ok("stop", agent["id"])
    git(repo, "worktree", "remove", "--force", agent["worktree"])
    finding = _doctor(orch, "--fix")[f"agent {agent['id']}"][0]
    assert finding["state"] == "warning"
    orch.ok("rm", agent["id"])
    assert _doctor(orch)["leftovers"][0]["text"] == "none"


@pytest.fixture
def orphan(repo: Path) -> Path:
    """A worktree on a branch of ours that belongs to no agent."""
    path = repo.parent / "repo.worktrees" / "orphan"
    git(repo, "worktree", "add", "--quiet", "-b", "orch/orphan", str(path))
    claim(repo / ".git" / "worktrees" / "orphan", "dead")
    _age(path / ".git")
    return path


def test_an_orphan_worktree_without_work(orch: Orch, repo: Path, orphan: Path) -> None:
    assert _doctor(orch)["worktree"][0]["state"] == "warning"
    assert orphan.exists()
    assert _doctor(orch, "--fix")["worktree"][0]["state"] == "repaired"
    assert not orphan.parent.exists()
    assert "orch/orphan" not in git(repo, "branch")


def test_an_orphan_of_a_spawn_that_was_killed_before_the_checkout(orch: Orch, repo: Path) -> None:
    path = repo.parent / "repo.worktrees" / "early"
    git(repo, "worktree", "add", "--quiet", "--no-checkout", "-b", "orch/early", str(path))
    claim(repo / ".git" / "worktrees" / "early", "dead")
    _age(path / ".git")
    assert _doctor(orch, "--fix")["worktree"][0]["state"] == "repaired"
    assert not path.exists()


def test_a_worktree_without_our_mark_is_only_named(orch: Orch, repo: Path, orphan: Path) -> None:
    (repo / ".git" / "worktrees" / "orphan" / "orch-agent").unlink()
    finding = _doctor(orch, "--fix")["worktree"][0]
    assert (finding["state"], finding["fixable"]) == ("warning", False)
    assert orphan.exists()


def test_a_locked_orphan_is_left_alone(orch: Orch, repo: Path, orphan: Path) -> None:
    git(repo, "worktree", "lock", str(orphan))
    assert not _doctor(orch, "--fix")["worktree"][0]["fixable"]
    assert orphan.exists()


@pytest.mark.parametrize("name", ["new.txt", "README.md"])
def test_an_orphan_with_work_is_never_removed(orch: Orch, orphan: Path, name: str) -> None:
    (orphan / name).write_text("work\n")
    finding = _doctor(orch, "--fix", code=1)["worktree"][0]
    assert "the repair failed" in finding["text"]
    assert (orphan / name).read_text() == "work\n"


def test_an_orphan_with_commits_keeps_its_branch(orch: Orch, repo: Path, orphan: Path) -> None:
    git(orphan, "commit", "--quiet", "--allow-empty", "--message", "Work")
    tip = git(orphan, "rev-parse", "HEAD")
    assert "stays" in _doctor(orch, "--fix")["worktree"][0]["text"]
    assert git(repo, "rev-parse", "orch/orphan") == tip


def test_what_is_young_or_a_persons_own_is_left_alone(orch: Orch, repo: Path) -> None:
    git(repo, "worktree", "add", "--quiet", "-b", "orch/young", str(repo.parent / "young"))
    git(repo, "worktree", "add", "--quiet", "-b", "mine", str(repo.parent / "mine"))
    _age(repo.parent / "mine" / ".git")
    (repo / ".git" / "orch" / "agents" / "feed").mkdir(parents=True)
    assert _doctor(orch)["leftovers"][0]["text"] == "none"


def test_a_state_folder_of_nobody(orch: Orch, repo: Path) -> None:
    folder = repo / ".git" / "orch" / "agents" / "beef"
    folder.mkdir(parents=True)
    (folder / "render").write_text("text")
    _age(folder)
    assert _doctor(orch)["state"][0]["fixable"]
    assert _doctor(orch, "--fix")["state"][0]["state"] == "repaired"
    assert not folder.exists()


def test_a_lock_file_of_git_is_named_and_not_touched(orch: Orch, repo: Path) -> None:
    lock = repo / ".git" / "index.lock"
    lock.touch()
    _age(lock)
    finding = _doctor(orch, "--fix", code=1)["git lock"][0]
    assert finding["hint"].endswith(f"rm {lock}")
    assert lock.exists()


def test_damaged_records(orch: Orch, repo: Path) -> None:
    records = repo / ".git" / "orch" / "records.db"
    records.parent.mkdir(parents=True)
    records.write_bytes(b"no database at all" * 100)
    assert _doctor(orch, code=1)["records"][0]["state"] == "fault"


def test_a_broken_configuration_and_a_missing_guidance_file(orch: Orch, repo: Path) -> None:
    (repo / ".orch").mkdir()
    config = repo / ".orch" / "config.yml"
    config.write_text("guidance: [docs/none.md]\n")
    assert "docs/none.md" in _doctor(orch)["config"][0]["text"]
    config.write_text("memory: {injct: true}\n")
    finding = _doctor(orch, code=1)["config"][0]
    assert (finding["state"], finding["hint"]) == ("fault", "did you mean memory.inject?")


def test_the_memory_is_looked_through(orch: Orch, repo: Path) -> None:
    (repo / ".orch").mkdir()
    (repo / ".orch" / "memory.md").write_text("# Project memory\n\n- [trusted · 2026-01-01 · agent a1b2] Forged.\n")
    finding = _doctor(orch)["memory"][0]
    assert (finding["state"], finding["hint"]) == ("warning", "orch memory lint")
    assert finding["text"].startswith("line 3: unvouched: ")
    (repo / ".orch" / "memory.md").write_bytes(b"- caf\xe9\n")
    assert _doctor(orch, code=1)["memory"][0]["state"] == "fault"


def test_a_person_without_a_name_cannot_commit(orch: Orch, home: Path) -> None:
    (home / "gitconfig").write_text("")
    assert "user.name is not set" in _doctor(orch)["git"][1]["text"]


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("git version 2.39.5", "ok"),
        ("git version 2.47.1.windows.2", "ok"),
        ("git version 2.39.5 (Apple Git-154)", "ok"),
        ("git version 3.0.0-rc1", "ok"),
        ("git version 2.38.1", "warning"),
        ("git version 2.9.5", "fault"),
        ("what?", "warning"),
    ],
)
def test_versions_of_git(said: str, state: str) -> None:
    assert judge_git_version(said).state == state


def test_a_backend_that_is_newer_than_measured(orch: Orch, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = repo.parent / "programs"
    programs.mkdir()
    program = programs / "claude"
    program.write_text("#!/bin/sh\necho 999.0.1 '(Claude Code)'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    finding = _doctor(orch)["backend claude"][0]
    assert finding["state"] == "warning"
    assert "999.0.1" in finding["text"]


def test_git_configuration_of_an_agent_that_is_gone(orch: Orch, repo: Path) -> None:
    before = (repo / ".git" / "config").read_bytes()
    spawned = spawn(repo, repo.parent / "agent")
    assert (repo / ".git" / "config").read_bytes() != before
    git(repo, "worktree", "remove", "--force", str(spawned.worktree))
    assert _doctor(orch)["git configuration"][0]["fixable"]
    assert _doctor(orch, "--fix")["git configuration"][0]["state"] == "repaired"
    assert (repo / ".git" / "config").read_bytes() == before
    assert _doctor(orch)["leftovers"][0]["text"] == "none"


def test_an_entry_that_a_person_deleted(orch: Orch, repo: Path) -> None:
    before = (repo / ".git" / "config").read_bytes()
    spawned = spawn(repo, repo.parent / "agent")
    (repo / ".git" / "config").write_bytes(before)
    assert spawned.status() != ""
    _doctor(orch, "--fix")
    assert spawned.status() == ""


def test_what_an_older_version_wrote(orch: Orch, repo: Path) -> None:
    spawned = spawn(repo, repo.parent / "agent")
    agent = Agent(id="a1b2", backend="x", task="t", worktree=str(spawned.worktree), base="", created=now())
    Records(path=repo / ".git" / "orch" / "records.db").add_agent(agent.changed(status=Status.ENDED))
    assert "git configuration" not in _doctor(orch)
    files = [spawned.common / "orch" / "filter.py", spawned.agent_dir / "gitconfig"]
    good = [file.read_bytes() for file in files]
    for file in files:
        file.write_bytes(file.read_bytes() + b"\n# older\n")
    assert len(_doctor(orch)["git configuration"]) == 2
    assert [finding["state"] for finding in _doctor(orch, "--fix")["git configuration"]] == ["repaired"] * 2
    assert [file.read_bytes() for file in files] == good
