"""Ctrl-C during each step of a spawn: no branch, worktree, line of configuration or process is left."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conformance.scripted import commit_memory, processes, surroundings, write_backends
from tests.conftest import Orch

pytestmark = pytest.mark.slow

# Runs the real git; at its Nth call it says so and dawdles, before or after the work.
SLOW_GIT = """#!/bin/sh
n=$(cat "$SLOW_DIR/count" 2>/dev/null || echo 0)
n=$((n + 1))
echo $n > "$SLOW_DIR/count"
echo "$n $*" >> "$SLOW_DIR/calls"
if [ "$n" = "$SLOW_CALL" ] && [ "$SLOW_WHEN" = before ]; then touch "$SLOW_DIR/now"; sleep 0.4; fi
"$REAL_GIT" "$@"; code=$?
if [ "$n" = "$SLOW_CALL" ] && [ "$SLOW_WHEN" = after ]; then touch "$SLOW_DIR/now"; sleep 0.4; fi
exit $code
"""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A repository with a memory and a scripted backend that sleeps; `folder` is for what the tests need."""

    repo: Path
    folder: Path
    before: dict[str, object]

    def start(self, **environ: str) -> "subprocess.Popen[bytes]":
        """Begin a spawn in a process group of its own, as a shell on a terminal would."""
        argv = [sys.executable, "-I", "-m", "orchestrator", "spawn", "--backend", "script", "--json", "exec sleep 60"]
        return subprocess.Popen(
            argv,
            cwd=self.repo,
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )

    def outcome(self, spawn: "subprocess.Popen[bytes]") -> str:
        """Wait for the end; check that it either came up whole, or left nothing."""
        stdout, stderr = spawn.communicate(timeout=60)
        # An interrupt after the agent was told of is one of a program that is done: the agent goes on.
        if stdout:
            agent = json.loads(stdout)["agent"]
            orch = Orch(self.repo)
            orch.ok("stop", agent["id"])
            orch.ok("rm", agent["id"])
            self.check_nothing_left()
            return "started"
        # Before any of our code runs, it is Python itself that ends by the signal.
        assert spawn.returncode in (130, -signal.SIGINT), stderr.decode()
        assert spawn.returncode != 130 or b"Traceback" not in stderr
        self.check_nothing_left()
        return "undone"

    def check_nothing_left(self) -> None:
        assert processes(self.repo) == []
        assert surroundings(self.repo) == self.before
        listed = json.loads(Orch(self.repo).ok("ls", "--all", "--json").stdout)["agents"]
        assert {agent["status"] for agent in listed} <= {"removed"}
        folders = {path.name for path in (self.repo / ".git" / "orch" / "agents").glob("*")}
        assert folders <= {agent["id"] for agent in listed}


@pytest.fixture
def scene(repo: Path, home: Path, tmp_path: Path) -> Scene:
    write_backends(home, {"script": {"file": "AGENTS.md"}})
    commit_memory(repo)
    folder = tmp_path / "slow"
    folder.mkdir()
    return Scene(repo=repo, folder=folder, before=surroundings(repo))


def _interrupt(spawn: "subprocess.Popen[bytes]", *, group: bool = True) -> None:
    """Ctrl-C on a terminal reaches every process of the foreground group; `kill -INT` just the one."""
    if group:
        os.killpg(spawn.pid, signal.SIGINT)
    else:
        os.kill(spawn.pid, signal.SIGINT)


def _await(path: Path, spawn: "subprocess.Popen[bytes]") -> bool:
    """Wait until the file is there; False when the spawn ended before."""
    until = time.monotonic() + 30
    while not path.exists():
        if spawn.poll() is not None or time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


@pytest.mark.parametrize(("when", "group"), [("before", True), ("after", False)], ids=["terminal", "kill"])
def test_during_each_git_command(scene: Scene, when: str, group: bool) -> None:
    real = shutil.which("git")
    assert real is not None
    programs = scene.folder / "bin"
    programs.mkdir()
    (programs / "git").write_text(SLOW_GIT)
    (programs / "git").chmod(0o755)
    environ = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "REAL_GIT": real,
        "SLOW_DIR": str(scene.folder),
        "SLOW_WHEN": when,
    }
    seen = []
    for call in range(1, 100):
        for name in ("count", "calls", "now"):
            (scene.folder / name).unlink(missing_ok=True)
        spawn = scene.start(**environ, SLOW_CALL=str(call))
        if not _await(scene.folder / "now", spawn):
            assert scene.outcome(spawn) == "started"
            break
        seen.append((scene.folder / "calls").read_text().splitlines()[call - 1])
        _interrupt(spawn, group=group)
        scene.outcome(spawn)
    assert any("worktree add" in line for line in seen)
    assert any(" checkout " in f"{line} " for line in seen)
    assert len(seen) > 8


def test_during_the_persons_hook(scene: Scene) -> None:
    hook = scene.repo / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {scene.folder}/now made-by-the-hook\nsleep 5\n")
    hook.chmod(0o755)
    for group in (True, False):
        (scene.folder / "now").unlink(missing_ok=True)
        spawn = scene.start()
        assert _await(scene.folder / "now", spawn)
        _interrupt(spawn, group=group)
        assert scene.outcome(spawn) == "undone"


def test_while_the_backend_comes_up(scene: Scene) -> None:
    """The agent's own process is known only once it has been started: it must go too."""
    for delay in (0.0, 0.15, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        spawn = scene.start()
        folders = scene.repo / ".git" / "orch" / "agents"
        until = time.monotonic() + 30
        while not list(folders.glob("*/supervisor.log")) and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(delay)
        _interrupt(spawn)
        scene.outcome(spawn)


def test_at_any_time(scene: Scene) -> None:
    begun = time.monotonic()
    assert scene.outcome(scene.start()) == "started"
    whole = min(time.monotonic() - begun, 3.0)
    outcomes = []
    for step in range(12):
        spawn = scene.start()
        time.sleep(whole * step / 12)
        if spawn.poll() is None:
            _interrupt(spawn)
        outcomes.append(scene.outcome(spawn))
    assert "undone" in outcomes


def test_twice(scene: Scene) -> None:
    """An impatient second Ctrl-C does not interrupt the undoing."""
    for delay in (0.02, 0.1, 0.2):
        spawn = scene.start()
        time.sleep(0.8)
        for _ in range(3):
            if spawn.poll() is None:
                _interrupt(spawn)
            time.sleep(delay)
        scene.outcome(spawn)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_that_closes(scene: Scene, number: signal.Signals) -> None:
    spawn = scene.start()
    assert _await(scene.repo / ".git" / "worktrees", spawn)
    os.killpg(spawn.pid, number)
    scene.outcome(spawn)
