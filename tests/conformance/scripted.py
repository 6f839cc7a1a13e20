"""A scripted backend, defined in the configuration: its task is a shell script that it runs in its worktree."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from tests.conformance.memories import MEMORY
from tests.conftest import git
from tests.projection.spawned import footprint

# What git reads for an agent; the logs of a removed one stay.
HYGIENE = frozenset({"gitconfig", "excludes", "attributes", "block", "hidden"})
RUNS_ITS_TASK = ["sh", "-c", 'exec sh -ec "$1"', "agent"]


def write_backends(home: Path, seams: Mapping[str, object]) -> None:
    """Configure one scripted backend for each name, with that seam."""
    path = home / ".config" / "orch" / "config.yml"
    path.parent.mkdir(parents=True, exist_ok=True)
    backends = {name: {"command": RUNS_ITS_TASK, "prompt": "arg", "seam": seam} for name, seam in seams.items()}
    path.write_text(json.dumps({"backends": backends}))


def commit_memory(repo: Path) -> None:
    """Commit a memory, so that there is something to carry."""
    (repo / ".orch").mkdir(exist_ok=True)
    (repo / ".orch" / "memory.md").write_text(MEMORY, encoding="utf-8")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "A memory")


def surroundings(repo: Path) -> dict[str, object]:
    """Everything that an agent must leave as it was once it is gone: git's view, and the folders around."""
    return {
        **footprint(repo),
        "status": git(repo, "status", "--porcelain", "--ignored"),
        "worktrees": git(repo, "worktree", "list", "--porcelain"),
        "refs": [line for line in git(repo, "for-each-ref").splitlines() if "\trefs/orch/kept/" not in line],
        "beside": sorted(path.name for path in repo.parent.iterdir()),
        "agents": sorted(path.name for path in (repo / ".git" / "orch" / "agents").glob("*/*") if path.name in HYGIENE),
        "git": sorted(path.name for path in (repo / ".git").iterdir() if path.name != "orch"),
        "registered": sorted(path.name for path in (repo / ".git" / "worktrees").glob("*")),
        "config of ours": (repo / ".git" / "orch" / "gitconfig").exists(),
    }


def processes(repo: Path) -> list[str]:
    """The processes that belong to an agent of this repository."""
    import psutil

    found = []
    for process in psutil.process_iter():
        try:
            environ = process.environ()
            if environ.get("ORCH_PROJECT") == os.path.realpath(repo / ".git"):
                found.append(f"{process.pid} {' '.join(process.cmdline())}")
        except (psutil.Error, OSError):
            continue
    return found
