"""A worktree as the bytes that are on disk and the index as git reads it, for tests that compare before and after."""

import os
import stat
from pathlib import Path

from tests.conftest import git


def load_tree(top: Path, *, empty_folders: bool = False) -> dict[bytes, tuple[str, int, bytes]]:
    """Every file and link below a folder, by its path: kind, permission bits, content. `.git` itself is left out."""
    found: dict[bytes, tuple[str, int, bytes]] = {}
    base = os.fsencode(top)
    for folder, folders, files in os.walk(base):
        relative = os.path.relpath(folder, base)
        if b".git" in folders:
            folders.remove(b".git")
        for name in [*files, *(each for each in folders if os.path.islink(os.path.join(folder, each)))]:  # noqa: PTH114, PTH118
            if name == b".git":
                continue
            path = os.path.join(folder, name)  # noqa: PTH118
            info = os.lstat(path)
            shown = os.path.normpath(os.path.join(relative, name))  # noqa: PTH118
            if stat.S_ISLNK(info.st_mode):
                found[shown] = ("link", 0, os.readlink(path))  # noqa: PTH115
            else:
                found[shown] = ("file", stat.S_IMODE(info.st_mode), Path(os.fsdecode(path)).read_bytes())
        if empty_folders and not folders and not files:
            found[relative] = ("folder", 0, b"")
    return found


def load_index(top: Path) -> tuple[str, str, str]:
    """The index as git reads it: entries with stages, flags, and what of it is staged; and the status."""
    return (
        git(top, "ls-files", "--stage", "-z"),
        git(top, "ls-files", "-v", "-z"),
        git(top, "status", "--porcelain=v2", "--untracked-files=all", "-z", "--branch"),
    )


def load_git(top: Path) -> tuple[str, str, str]:
    """HEAD as it is, its reflog, and the stash."""
    return (
        (git(top, "symbolic-ref", "--quiet", "HEAD") if _on_branch(top) else "detached"),
        git(top, "rev-parse", "HEAD"),
        git(top, "reflog", "--format=%H %gs", "HEAD"),
    )


def _on_branch(top: Path) -> bool:
    return (Path(git(top, "rev-parse", "--absolute-git-dir")) / "HEAD").read_text().startswith("ref: ")
