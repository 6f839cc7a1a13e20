"""The bytes around an agent that must be the same before and after it."""

from dataclasses import dataclass
from pathlib import Path

from orchestrator.git import Git


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """A repository as it is at one moment: configuration, ignore rules, status, worktrees and branches."""

    config: bytes
    info: tuple[tuple[str, bytes], ...]
    status: bytes
    worktrees: str
    branches: str

    def differences(self, after: "Footprint") -> list[str]:
        """Name what has changed."""
        named = {
            ".git/config": self.config != after.config,
            ".git/info": self.info != after.info,
            "git status of the main checkout": self.status != after.status,
            "git worktree list": self.worktrees != after.worktrees,
            "the branches": self.branches != after.branches,
        }
        return [f"{name} has changed" for name, changed in named.items() if changed]


def load_footprint(git: Git) -> Footprint:
    """Read the footprint of the repository whose main checkout `git` runs in."""
    common = git.cwd / ".git"
    return Footprint(
        config=(common / "config").read_bytes(),
        info=tuple(sorted(_files(common / "info"))),
        status=git.status(),
        worktrees=git.text("worktree", "list", "--porcelain"),
        branches=git.text("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"),
    )


def _files(folder: Path) -> list[tuple[str, bytes]]:
    if not folder.is_dir():
        return []
    return [(path.name, path.read_bytes()) for path in folder.iterdir() if path.is_file()]
