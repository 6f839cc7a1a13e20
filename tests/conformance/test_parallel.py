"""Many spawns at once, in a small repository: each of them works."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conformance.scripted import commit_memory, processes, surroundings, write_backends
from tests.conftest import Orch, git

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ROUNDS = 10
AT_ONCE = 8


def _spawn(repo: Path, number: int) -> "subprocess.CompletedProcess[bytes]":
    argv = [sys.executable, "-I", "-m", "orchestrator", "spawn", "--backend", "script", "--json"]
    task = f"git status --porcelain --untracked-files=all > status-{number}; cat AGENTS.md > seen-{number}"
    return subprocess.run([*argv, task], cwd=repo, env=dict(os.environ), capture_output=True, check=False)


def test_eight_at_once_ten_times_over(repo: Path, home: Path, orch: Orch) -> None:
    write_backends(home, {"script": {"file": "AGENTS.md"}})
    commit_memory(repo)
    before = surroundings(repo)
    text = orch.ok("memory").stdout
    succeeded = 0
    for _ in range(ROUNDS):
        with ThreadPoolExecutor(AT_ONCE) as pool:
            done = list(pool.map(lambda number: _spawn(repo, number), range(AT_ONCE)))
        faults = [each.stderr.decode() for each in done if each.returncode != 0]
        assert faults == []
        agents = [json.loads(each.stdout)["agent"] for each in done]
        succeeded += len(agents)
        ids = [agent["id"] for agent in agents]
        assert len(set(ids)) == AT_ONCE
        orch.ok("wait", *ids)
        for number, agent in enumerate(agents):
            worktree = Path(agent["worktree"])
            assert (worktree / f"status-{number}").read_text() == f"?? status-{number}\n"
            assert text in (worktree / f"seen-{number}").read_text()
        orch.ok("rm", "--keep", *ids)
        for agent in ids:
            git(repo, "update-ref", "-d", f"refs/orch/kept/{agent}")
        assert surroundings(repo) == before
    assert succeeded == ROUNDS * AT_ONCE
    assert processes(repo) == []
