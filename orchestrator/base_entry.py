"""What a commit or a worktree holds at the place of a context file: looked at before anything is changed."""

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from orchestrator.config import environment
from orchestrator.project import Project
from projection.gitfiles import render_attributes
from projection.seam import HeadEntry

_KINDS: Mapping[bytes, Literal["file", "symlink", "directory", "submodule"]] = {
    b"100644": "file",
    b"100755": "file",
    b"120000": "symlink",
    b"040000": "directory",
    b"160000": "submodule",
}


def load_entry(project: Project, commit: str, name: str | None, reads: Iterable[str] = ()) -> HeadEntry:
    """What `commit` holds at the top-level name `name` (None: no matter), and in the documents that a backend `reads`.

    Raises ProcessFault when git fails.
    """
    git = project.git()
    listed = git.run("ls-tree", "-z", "--full-tree", commit).stdout
    # Each is `MODE TYPE ID<TAB>NAME`.
    lines = [line.partition(b"\t") for line in listed.split(b"\0") if line]
    entries = {os.fsdecode(file): meta.split(b" ") for meta, _, file in lines}
    documents = {each: _blob(project, entries[each]) for each in {*reads, name} if each is not None and each in entries}
    if name is None:
        return HeadEntry(documents=documents)
    beside = frozenset(entries) - {name}
    attributes = _attributes(project, name, _blob(project, entries.get(".gitattributes")))
    return HeadEntry(
        kind=_KINDS[entries[name][0]] if name in entries else "absent",
        content=documents.get(name, b""),
        attributes=attributes,
        beside=beside,
        documents=documents,
    )


def load_worktree_entry(project: Project, worktree: Path, name: str | None, reads: Iterable[str] = ()) -> HeadEntry:
    """What an existing worktree holds at `name`, and in what a backend `reads`; no symbolic link is followed."""
    documents = {each: (worktree / each).read_bytes() for each in {*reads, name} if each and _is_plain(worktree / each)}
    if name is None:
        return HeadEntry(documents=documents)
    committed = worktree / ".gitattributes"
    attributes = _attributes(project, name, committed.read_bytes() if _is_plain(committed) else b"")
    kind, writable = _kind_of(worktree / name)
    return HeadEntry(
        kind=kind,
        content=documents.get(name, b""),
        writable=writable,
        attributes=attributes,
        beside=frozenset(entry.name for entry in worktree.iterdir()) - {name},
        documents=documents,
    )


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and os.access(path, os.R_OK)


def _kind_of(path: Path) -> tuple[Literal["absent", "file", "symlink", "directory", "special"], bool]:
    """What stands at the path, and whether it may be written."""
    writable = os.access(path.parent, os.W_OK)
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return "absent", writable
    if stat.S_ISREG(mode):
        return "file", writable and bool(mode & stat.S_IWUSR) and os.access(path, os.R_OK)
    return ("symlink" if stat.S_ISLNK(mode) else "directory" if stat.S_ISDIR(mode) else "special"), writable


def user_file(project: Project, key: str, default: str) -> Path | None:
    """The file that a configuration key names (`core.excludesFile`), else git's default for it; None without a home."""
    configured = project.git().config(key)
    if configured is not None:
        return (project.main or project.common_dir) / configured
    environ = environment()
    base = environ.get("XDG_CONFIG_HOME") or (f"{environ['HOME']}/.config" if environ.get("HOME") else None)
    return None if base is None else Path(base) / "git" / default


def _blob(project: Project, entry: list[bytes] | None) -> bytes:
    if entry is None or _KINDS.get(entry[0]) != "file":
        return b""
    return project.git().run("cat-file", "blob", os.fsdecode(entry[2])).stdout


def _attributes(project: Project, name: str, committed: bytes) -> dict[str, str]:
    """The attributes of a path in the base commit that stand in the way of our filter.

    `.gitattributes` and `info/attributes` come before `core.attributesFile`, whatever they say (`!filter` too), so git
    is asked what it would make of ours; and what it makes of the path without ours, as the user's own filter would be
    lost. Git 2.39 can't ask this of a commit: the files are laid out in a scratch worktree.
    """
    user = user_file(project, "core.attributesFile", "attributes")
    lines = user.read_bytes() if user is not None and user.is_file() else b""
    if not committed and not lines and not (project.common_dir / "info" / "attributes").is_file():
        return {}
    with project.git().folder("attributes") as top:
        (top / ".gitattributes").write_bytes(committed)
        ours = top / "ours"
        ours.write_bytes(render_attributes(lines if not lines or lines.endswith(b"\n") else lines + b"\n", name))
        found = _asked(project, top, name, ("-c", f"core.attributesFile={ours}"))
        before = _asked(project, top, name, ())
    if found["filter"] == "orch-memory":
        found["filter"] = before["filter"]
        return {key: value for key, value in found.items() if value not in ("unspecified", "unset")}
    return {key: value for key, value in found.items() if key == "filter" or value not in ("unspecified", "unset")}


def _asked(project: Project, top: Path, name: str, options: tuple[str, ...]) -> dict[str, str]:
    environ = {"GIT_DIR": str(project.common_dir), "GIT_WORK_TREE": str(top)}
    git = project.git(top).with_environ(environ)
    answer = git.run(*options, "check-attr", "-z", "filter", "working-tree-encoding", "--", name).stdout
    fields = answer.split(b"\0")
    return {os.fsdecode(key): os.fsdecode(value) for key, value in zip(fields[1::3], fields[2::3], strict=False)}
