"""Repositories inside a worktree: submodules that are filled, and repositories that an agent made or cloned there."""

import os
from collections.abc import Iterator
from pathlib import Path

from orchestrator.git import Git

_DEPTH = 8


def find_nested(git: Git, top: Path, *, prefix: str = "", depth: int = _DEPTH) -> Iterator[str]:
    """Paths, relative to the worktree, of the repositories in it, those inside of others after them.

    What git ignores is not looked into.
    """
    for path in dict.fromkeys((*_submodules(git), *_untracked(git, top))):
        inner = top / path
        if not os.path.lexists(inner / ".git"):
            continue
        yield prefix + path
        if depth > 0:
            yield from find_nested(Git(cwd=inner), inner, prefix=f"{prefix}{path}/", depth=depth - 1)


def _submodules(git: Git) -> Iterator[str]:
    for record in git.run("ls-files", "-z", "--stage").stdout.split(b"\0"):
        if record.startswith(b"160000 "):
            yield os.fsdecode(record.partition(b"\t")[2])


def _untracked(git: Git, top: Path) -> Iterator[str]:
    """Git names a repository by its folder; one without a commit it takes for a folder of plain files."""
    looked: set[str] = set()
    for record in git.run("ls-files", "-z", "--others", "--exclude-standard").stdout.split(b"\0"):
        name = os.fsdecode(record)
        if name.endswith("/"):
            yield name.removesuffix("/")
            continue
        parts = name.split("/")[:-1]
        for count in range(1, len(parts) + 1):
            folder = "/".join(parts[:count])
            if folder in looked:
                continue
            looked.add(folder)
            if os.path.lexists(top / folder / ".git"):
                yield folder
