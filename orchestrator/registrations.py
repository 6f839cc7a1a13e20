"""The worktrees that git has registered, each with what git says about it."""

import os
from dataclasses import dataclass
from pathlib import Path

from orchestrator.project import Project


@dataclass(frozen=True, kw_only=True)
class Registration:
    """One entry of `git worktree list`: `branch` is None on a detached HEAD, `locked` forbids git to remove it."""

    path: Path
    branch: str | None = None
    locked: bool = False

    @property
    def missing(self) -> bool:
        """Whether its directory is gone, or is no longer a worktree."""
        return not os.path.lexists(self.path / ".git")


def registrations(project: Project) -> tuple[Registration, ...]:
    """Every worktree that git lists, the main one first."""
    listed = project.git().worktrees()
    return tuple(_parsed(block.split(b"\0")) for block in listed.split(b"\0\0") if block.startswith(b"worktree "))


def _parsed(lines: list[bytes]) -> Registration:
    branch = next((line.removeprefix(b"branch refs/heads/") for line in lines if line.startswith(b"branch ")), None)
    return Registration(
        path=Path(os.fsdecode(lines[0].removeprefix(b"worktree "))),
        branch=None if branch is None else os.fsdecode(branch),
        locked=any(line == b"locked" or line.startswith(b"locked ") for line in lines),
    )
