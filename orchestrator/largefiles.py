"""Files that git-lfs keeps elsewhere: whether a commit has any, and which of them stayed pointers."""

import os
from pathlib import Path

from orchestrator.git import Git
from orchestrator.place import Place

# For a checkout where git-lfs is configured but not there: the pointers are written as they are in the commit.
WITHOUT_LARGE_FILES = (
    *("-c", "core.hooksPath=/dev/null", "-c", "filter.lfs.smudge=", "-c", "filter.lfs.process="),
    *("-c", "filter.lfs.required=false"),
)
_POINTER = b"version https://git-lfs.github.com/spec/"
_LONGEST_POINTER = 1024
_NAMED = 5


def needs_large_files(git: Git, commit: str) -> bool:
    """Whether a `.gitattributes` of the commit gives files to git-lfs. `git` runs in the worktree."""
    found = git.run(
        "grep", "--quiet", "-I", "-e", "filter=lfs", commit, "--", ".gitattributes", "**/.gitattributes", check=False
    )
    return found.code == 0


def pointer_notes(git: Git, place: Place) -> tuple[str, ...]:
    """A warning that names the files which are pointers in the worktree; none when there are none."""
    listed = git.run("ls-files", "-z", "--cached").stdout
    attributes = git.run("check-attr", "-z", "--stdin", "filter", stdin=listed).stdout.split(b"\0")
    names = [
        os.fsdecode(name) for name, value in zip(attributes[::3], attributes[2::3], strict=False) if value == b"lfs"
    ]
    pointers = [name for name in names if _is_pointer(place.path / name)]
    if not pointers:
        return ()
    named = ", ".join(pointers[:_NAMED]) + (f" and {len(pointers) - _NAMED} more" if len(pointers) > _NAMED else "")
    what = "is a git-lfs pointer, not the file" if len(pointers) == 1 else "are git-lfs pointers, not the files"
    return (f"{named} {what}; with git-lfs installed, git lfs pull in {place.path} brings them",)


def _is_pointer(path: Path) -> bool:
    try:
        if path.is_symlink() or path.stat().st_size > _LONGEST_POINTER:
            return False
        return path.read_bytes().startswith(_POINTER)
    except OSError:
        return False
