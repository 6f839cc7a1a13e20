"""What git does not carry into a new worktree: ignored files that the project lists, and backends' local settings.

`.worktreeinclude` in the main checkout holds patterns as a `.gitignore` does, and so does `worktrees.include`. Only
files that git ignores are copied, never tracked ones (as in Claude Code). Local settings are what a person keeps
untracked for their backend, such as permissions and MCP servers: they come along without being listed, and git does
not see them in the worktree.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from adapters.adapter import Adapter
from orchestrator.copying import copy_entry
from orchestrator.git import Git
from orchestrator.local_settings import merge_settings
from orchestrator.place import Place
from orchestrator.project import Project

LIST_NAME = ".worktreeinclude"
_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class Carried:
    """What was brought: paths relative to the worktree, and notes on what could not be.

    `visible` are those that git would show as untracked: they have to be hidden.
    """

    files: tuple[str, ...] = ()
    size: int = 0
    visible: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def carry_files(project: Project, adapter: Adapter, place: Place, patterns: tuple[str, ...]) -> Carried:
    """Copy what is listed and the backend's local settings from the main checkout (in a bare layout: from the worktree
    that the command runs in) into the new worktree. Raises ProcessFault when git fails.
    """
    source = project.main or (project.root if project.root != project.common_dir else None)
    if source is None:
        return Carried()
    git = project.git(source)
    listed = _listed(git, source, patterns)
    settings = _untracked(git, adapter.local_files)
    files: list[str] = []
    notes: list[str] = []
    size = 0
    folders = {place.path}
    merged = frozenset(settings)
    for name in dict.fromkeys((*listed, *settings)):
        try:
            _make_parents(source / name, place.path / name, folders)
            found = _bring(source / name, place.path / name, place.path, merge=name in merged)
        except OSError as exc:
            notes.append(f"{name} was not brought into the worktree: {exc.strerror or exc}")
            continue
        if found is not None:
            files.append(name)
            size += found
    return Carried(
        files=tuple(files), size=size, visible=_visible(project.git(place.path), files), notes=_shortened(notes)
    )


def _listed(git: Git, source: Path, patterns: tuple[str, ...]) -> list[str]:
    """The untracked files that a pattern names and that git ignores."""
    options = [f"--exclude={pattern}" for pattern in patterns]
    if (source / LIST_NAME).is_file():
        options.insert(0, f"--exclude-from={LIST_NAME}")
    if not options:
        return []
    named = git.run("ls-files", "-z", "--others", "--ignored", *options).stdout
    # A repository inside this one is listed as a folder: it is somebody's work, and nothing to copy.
    names = [name for name in named.split(b"\0") if name and not name.endswith(b"/")]
    if not names:
        return []
    ignored = git.run("check-ignore", "-z", "--stdin", stdin=b"\0".join(names) + b"\0", check=False).stdout
    return [os.fsdecode(name) for name in ignored.split(b"\0") if name]


def _untracked(git: Git, names: tuple[str, ...]) -> list[str]:
    if not names:
        return []
    found = git.run("ls-files", "-z", "--others", "--", *(f":(literal){name}" for name in names)).stdout
    return [os.fsdecode(name) for name in found.split(b"\0") if name and not name.endswith(b"/")]


def _bring(source: Path, target: Path, worktree: Path, *, merge: bool) -> int | None:
    """Copy one; return its size, None where the worktree has its own or it is no file."""
    if os.path.lexists(target):
        if not merge or source.is_symlink() or target.is_symlink() or _tracked(worktree, target):
            return None
        merged = merge_settings(target.read_bytes(), source.read_bytes())
        if merged is None:
            return None
        target.write_bytes(merged)
        return len(merged)
    copied = copy_entry(source, target)
    return None if copied is None else copied.size


def _make_parents(source: Path, target: Path, folders: set[Path]) -> None:
    """Make the folders of the target, and refuse one that is a link: it could lead out of the worktree.

    `folders` are known to be real ones inside; it grows.
    """
    there, here = target.parent, source.parent
    if there in folders:
        return
    _make_parents(here, there, folders)
    if there.is_symlink() or (there.exists() and not there.is_dir()):
        raise NotADirectoryError(0, f"{there} is no folder of the worktree")
    if not there.exists():
        there.mkdir()
        there.chmod(here.stat().st_mode & 0o7777)
    folders.add(there)


def _tracked(worktree: Path, target: Path) -> bool:
    name = f":(literal){target.relative_to(worktree)}"
    return Git(cwd=worktree).succeeds("ls-files", "--error-unmatch", "--", name)


def _visible(git: Git, files: Iterable[str]) -> tuple[str, ...]:
    """Those of the files that the worktree's own ignore rules (its commit may have others) do not cover."""
    names = [os.fsencode(name) for name in files]
    if not names:
        return ()
    data = b"\0".join(names) + b"\0"
    ignored = set(git.run("check-ignore", "-z", "--stdin", stdin=data, check=False).stdout.split(b"\0"))
    return tuple(os.fsdecode(name) for name in names if name not in ignored)


def _shortened(notes: list[str]) -> tuple[str, ...]:
    more = len(notes) - _NAMED
    return (*notes[:_NAMED], f"and {more} more files like that") if more > 0 else tuple(notes)
