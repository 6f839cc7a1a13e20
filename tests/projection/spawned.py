"""A worktree made as a spawn makes it, with real git and without the orchestrator: what the hygiene tests act on."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from projection.block import render_block
from projection.hygiene import Hygiene, remove_hygiene, write_hygiene
from projection.placement import Placement, write_block
from tests.conftest import git

TEXT = "# Project memory\n\nNotes about this repository.\n\n- Use tabs.\n- Never edit gen/."
BLOCK = render_block(TEXT)


@dataclass(frozen=True, kw_only=True)
class Spawned:
    """An agent's worktree, and what was placed in it."""

    repo: Path
    worktree: Path
    name: str
    agent_id: str
    placed: Placement
    common: Path

    @property
    def agent_dir(self) -> Path:
        return self.common / "orch" / "agents" / self.agent_id

    @property
    def file(self) -> Path:
        return self.worktree / self.name

    def git(self, *args: str) -> str:
        return git(self.worktree, *args)

    def status(self) -> str:
        return self.git("status", "--porcelain", "--untracked-files=all")

    def committed(self, rev: str = "HEAD") -> bytes:
        """The bytes of the file in a commit."""
        argv = ["git", "cat-file", "blob", f"{rev}:{self.name}"]
        return subprocess.run(argv, cwd=self.worktree, capture_output=True, check=True).stdout

    def remove(self) -> None:
        """What `orch rm` does to git."""
        git(self.repo, "worktree", "remove", "--force", str(self.worktree))
        remove_hygiene(self.common, self.agent_id)


def spawn(
    repo: Path,
    worktree: Path,
    name: str = "AGENTS.md",
    *,
    agent_id: str = "a1b2",
    python: str = sys.executable,
    common: Path | None = None,
) -> Spawned:
    """The sequence of a spawn: register, configure, check out, place."""
    hidden = subprocess.run(["git", "cat-file", "-e", f"HEAD:{name}"], cwd=repo, capture_output=True, check=False)
    git(repo, "worktree", "add", "--quiet", "--no-checkout", "-b", f"agent-{agent_id}", str(worktree), "HEAD")
    gitdir = Path(git(worktree, "rev-parse", "--absolute-git-dir"))
    common = common or repo / ".git"
    folder = common / "orch" / "agents" / agent_id
    hygiene = Hygiene(common_dir=common, gitdir=gitdir, agent_dir=folder, agent_id=agent_id)
    write_hygiene(hygiene, name, BLOCK, python, hide=hidden.returncode != 0)
    git(worktree, "checkout", "--quiet")
    placed = write_block(worktree, name, BLOCK)
    return Spawned(repo=repo, worktree=worktree, name=name, agent_id=agent_id, placed=placed, common=common)


def commit_file(repo: Path, name: str, content: bytes, *, executable: bool = False) -> None:
    """Commit one file, byte for byte."""
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if executable:
        path.chmod(0o755)
    git(repo, "add", "--force", "--", name)
    git(repo, "commit", "--quiet", "--message", f"Add {name}")


def every_object(repo: Path) -> bytes:
    """The content of every object that the repository holds, reachable or not."""
    argv = ["git", "cat-file", "--batch", "--batch-all-objects"]
    return subprocess.run(argv, cwd=repo, capture_output=True, check=True).stdout


def footprint(repo: Path) -> dict[str, bytes]:
    """The bytes of the git configuration and of everything in `info`."""
    files = [repo / ".git" / "config", *(repo / ".git" / "info").iterdir()]
    return {os.path.relpath(path, repo): path.read_bytes() for path in files}
