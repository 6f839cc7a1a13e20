"""The fault drill: `kill -9` at every boundary between two steps; then the next command is truthful, and goes on.

A `git` on PATH counts the calls of the command under test, and kills it before or after the call with a given number.
Nothing in the product knows of it. DRILL_ROUNDS=3 goes round three times over every boundary; without it, about every
seventh one is tried, another one each time.
"""

import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli import main
from tests.conftest import git
from tests.orchestrator.conftest import Shell
from tests.orchestrator.snapshots import load_git, load_index, load_tree

ROUNDS = int(os.environ.get("DRILL_ROUNDS", "0"))
_STRIDE = 1 if ROUNDS else 7

_WRAPPER = """#!/bin/sh
read count < "$DRILL/count"
count=$((count + 1))
echo $count > "$DRILL/count"
if [ "$DRILL_BEFORE" = $count ]; then kill -9 $PPID; exit 1; fi
{git} "$@"
code=$?
if [ "$DRILL_AFTER" = $count ]; then kill -9 $PPID; fi
exit $code
"""


@dataclass(frozen=True, kw_only=True)
class Drill:
    """Runs `orch` commands as forks of this process, and lets them die at a chosen boundary."""

    repo: Path
    folder: Path

    def run(self, *args: str, before: int = 0, after: int = 0) -> int:
        """Run, and kill before or after the git call with this number; the exit code, -9 when it was killed."""
        (self.folder / "count").write_text("0\n")
        child = os.fork()
        if child == 0:
            self._become(args, before, after)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)

    def _become(self, args: tuple[str, ...], before: int, after: int) -> None:
        os.chdir(self.repo)
        os.environ.update(
            PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}",
            DRILL=str(self.folder),
            DRILL_BEFORE=str(before),
            DRILL_AFTER=str(after),
        )
        code = 99
        try:
            with (self.folder / "output").open("w") as stream:
                sys.stdout = sys.stderr = stream
                code = main(list(args))
        finally:
            os._exit(code)

    def output(self) -> str:
        """What the last command printed."""
        return (self.folder / "output").read_text()

    def json(self, *args: str) -> Any:
        """The JSON that a command prints."""
        assert self.run(*args, "--json") == 0, self.output()
        return json.loads(self.output())

    def at_every_boundary(self, command: tuple[str, ...], check: Callable[[str], None]) -> int:
        """Kill the command at each boundary, and call `check` after each; return how many boundaries there were."""
        count = 0
        for turn in range(max(1, ROUNDS)):
            number = random.randrange(_STRIDE)
            while True:
                number += _STRIDE if number else 1
                code = self.run(*command, before=number)
                check(f"round {turn}, before call {number}")
                if code != -signal.SIGKILL:
                    assert code == 0, self.output()
                    break
                assert self.run(*command, after=number) == -signal.SIGKILL
                check(f"round {turn}, after call {number}")
                count += 2
        return count


@pytest.fixture
def drill(shell: Shell, repo: Path, tmp_path: Path) -> Drill:
    folder = tmp_path / "drill"
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "git"
    program.write_text(_WRAPPER.format(git=shutil.which("git")))
    program.chmod(0o755)
    return Drill(repo=repo, folder=folder)


_WORK = """
echo committed > a; git add a; git commit -qm A; echo staged > b; git add b; echo more >> b; echo changed >> README.md
echo untracked > 'c d'; chmod 700 'c d'; ln -s nowhere link; mkdir -p deep/er; printf '\\0\\377' > deep/er/bin
git init -q inner; echo i > inner/i; git -C inner add i; git -C inner -c user.name=x -c user.email=x@x commit -qm i
"""


def _state(worktree: Path) -> Any:
    return load_tree(worktree), load_index(worktree), load_git(worktree)


def _truthful(drill: Drill, agent_id: str, worktree: Path, branch: str) -> str:
    """What `orch show` says must be what is on disk; return the state."""
    shown = drill.json("show", agent_id)["agent"]
    status = str(shown["status"])
    begun = shown["extra"].get("operation")
    listed = str(worktree) in git(drill.repo, "worktree", "list", "--porcelain")
    has_branch = bool(git(drill.repo, "branch", "--list", branch))
    if begun is None:
        assert (worktree.is_dir(), listed, has_branch) == ((status != "removed"),) * 3
    else:
        assert drill.run("show", agent_id) == 0
        assert "was interrupted" in drill.output()
        assert drill.run("ls", "--all") == 0
        assert f"{begun['kind']} interrupted" in drill.output()
    return status if begun is None else str(begun["kind"])


def _ready(shell: Shell, script: str, branch: str) -> dict[str, Any]:
    return shell.ended(shell.spawn(script, "--branch", branch)["id"])


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_rm(drill: Drill, shell: Shell, repo: Path) -> None:
    agent = _ready(shell, _WORK, "work")
    worktree = Path(agent["worktree"])
    before = _state(worktree)

    def check(where: str) -> None:
        state = _truthful(drill, agent["id"], worktree, "work")
        if state == "ended":
            assert _state(worktree) == before, where
        if state != "removed":
            assert drill.run("rm", "--keep", agent["id"]) == 0, f"{where}: {drill.output()}"
        assert _truthful(drill, agent["id"], worktree, "work") == "removed"
        assert not list(worktree.parent.glob(".*")) if worktree.parent.exists() else True, where
        assert drill.run("restore", agent["id"]) == 0, f"{where}: {drill.output()}"
        assert _state(worktree) == before, where

    assert drill.at_every_boundary(("rm", "--keep", agent["id"]), check) >= 40 * ROUNDS


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_restore(drill: Drill, shell: Shell, repo: Path) -> None:
    agent = _ready(shell, _WORK, "work")
    worktree = Path(agent["worktree"])
    before = _state(worktree)
    assert drill.run("rm", "--keep", agent["id"]) == 0, drill.output()
    turn = iter(range(10_000))

    def check(where: str) -> None:
        state = _truthful(drill, agent["id"], worktree, "work")
        # Either way on: finish it, or take the half away and begin again.
        if state == "restore" and next(turn) % 2:
            code = drill.run("rm", agent["id"])
            # Between its registration and its mark nothing proves the worktree to be ours: it is not touched.
            assert code == 0 or "first let it go on: orch restore" in drill.output(), f"{where}: {drill.output()}"
            state = "removed" if code == 0 else state
        if state != "ended":
            assert drill.run("restore", agent["id"]) == 0, f"{where}: {drill.output()}"
        assert _truthful(drill, agent["id"], worktree, "work") == "ended"
        assert _state(worktree) == before, where
        assert drill.run("rm", "--keep", agent["id"]) == 0, f"{where}: {drill.output()}"

    assert drill.at_every_boundary(("restore", agent["id"]), check) >= 20 * ROUNDS


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("way", [[], ["--squash"], ["--rebase"]])
def test_merge(drill: Drill, shell: Shell, repo: Path, way: list[str]) -> None:
    script = "for i in 1 2; do echo $i > new$i; git add -A; git commit -qm $i; done"
    agent = _ready(shell, script, "work")
    (repo / "other").write_text("meanwhile\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "Meanwhile")
    tip = git(repo, "rev-parse", "HEAD")
    worktree = Path(agent["worktree"])
    work = _state(worktree)

    def check(where: str) -> None:
        at = git(repo, "rev-parse", "main")
        merged = all((repo / name).exists() for name in ("new1", "new2"))
        assert (at != tip) == merged, where
        assert git(repo, "status", "--porcelain") == "", where
        assert drill.run("merge", *way, agent["id"]) == 0, f"{where}: {drill.output()}"
        if at != tip:
            assert "nothing to merge" in drill.output(), where
            assert git(repo, "rev-parse", "main") == at, where
        assert git(repo, "show", "main:new2") == "2"
        assert drill.json("show", agent["id"])["agent"]["extra"]["merged"]["into"] == "main"
        assert _state(worktree) == work, where
        git(repo, "reset", "--quiet", "--hard", tip)

    assert drill.at_every_boundary(("merge", *way, agent["id"]), check) >= 10 * ROUNDS


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_gc(drill: Drill, shell: Shell, repo: Path) -> None:
    merged = _ready(shell, "echo a > a; git add a; git commit -qm A", "merged")
    open_work = _ready(shell, _WORK, "open")
    git(repo, "merge", "--quiet", "--squash", "merged")
    git(repo, "commit", "--quiet", "-m", "Squashed")
    worktree, other = Path(merged["worktree"]), Path(open_work["worktree"])
    before, untouched = _state(worktree), _state(other)

    def check(where: str) -> None:
        _truthful(drill, merged["id"], worktree, "merged")
        assert _state(other) == untouched, where
        assert drill.run("gc", "--apply", "--days", "0") == 0, f"{where}: {drill.output()}"
        assert _truthful(drill, merged["id"], worktree, "merged") == "removed", where
        assert drill.run("restore", merged["id"]) == 0, f"{where}: {drill.output()}"
        assert _state(worktree) == before, where

    assert drill.at_every_boundary(("gc", "--apply", "--days", "0"), check) >= 40 * ROUNDS
