"""The context file in a worktree: the block written into it, taken out of it, and looked for.

Only a plain file directly in the worktree is ever touched: no symbolic link is followed, nothing is written below a
`.git`, and a rename replaces the file whole, so that a reader sees the old or the new one.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from projection.block import merge
from projection.faults import PlacementFault, write_hint
from projection.filter import BOM, clean


@dataclass(frozen=True, kw_only=True)
class Placement:
    """What was done. `made` says that there was no file before; `changed` that the file is another now."""

    made: bool
    changed: bool


def write_block(worktree: Path, name: str, block: bytes) -> Placement:
    """Put the block on top of the worktree's file `name`, in place of the one that it has; make it if it is absent.

    Every other byte and the mode stay. Raises PlacementFault where the file is no plain one or cannot be written,
    BlockFault where its markers do not add up.
    """
    with _directory(worktree, name) as folder:
        before = _read(folder, name)
        after = merge(before.content if before else b"", block)
        if before is not None and after == before.content:
            return Placement(made=False, changed=False)
        _replace(folder, name, after, before)
        return Placement(made=before is None, changed=True)


def remove_block(worktree: Path, name: str, *, made: bool, old: bytes | None = None) -> Placement:
    """Take the block out of the file; every other byte and the mode stay.

    `made` says that orch made the file: then it goes when nothing else is in it. `old` is the block that was written;
    it helps to find one whose markers an agent damaged.
    """
    with _directory(worktree, name) as folder:
        before = _read(folder, name)
        if before is None:
            return Placement(made=False, changed=False)
        after = clean(before.content, old)
        if made and not after.removeprefix(BOM).strip():
            os.unlink(name, dir_fd=folder)
            return Placement(made=False, changed=True)
        if after == before.content:
            return Placement(made=False, changed=False)
        _replace(folder, name, after, before)
        return Placement(made=False, changed=True)


def own_content(path: Path, block: bytes | None = None) -> bool:
    """Whether there is anything but the block at `path`: other text, or something that is no plain file."""
    try:
        with _directory(path.parent, path.name) as folder:
            found = _read(folder, path.name)
    except PlacementFault:
        return os.path.lexists(path)
    return found is not None and bool(clean(found.content, block).removeprefix(BOM).strip())


@dataclass(frozen=True, kw_only=True)
class _Plain:
    content: bytes
    mode: int


@contextlib.contextmanager
def _directory(worktree: Path, name: str) -> Iterator[int]:
    check_name(name)
    try:
        folder = os.open(worktree, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as exc:
        raise PlacementFault(f"cannot open the worktree {worktree}: {exc.strerror}") from exc
    try:
        yield folder
    except OSError as exc:
        raise PlacementFault(
            f"cannot change {worktree / name}: {exc.strerror}", write_hint(exc, "check its owner and mode")
        ) from exc
    finally:
        os.close(folder)


def check_name(name: str) -> None:
    """Refuse a name that is not one plain name directly in the worktree, with a PlacementFault."""
    if not name or "/" in name or "\0" in name or name in (".", ".."):
        raise PlacementFault(f"{name!r} is no file directly in the worktree", "name a file without any folder")
    # Also as case-insensitive and short-name file systems spell it; all of it is refused by git too.
    if name.lower().rstrip(". ") in (".git", "git~1") or name.lower().startswith((".git:", ".git\\")):
        raise PlacementFault(f"{name!r} belongs to git", "name another file")


def _read(folder: int, name: str) -> _Plain | None:
    """The plain file, None where there is nothing; raises PlacementFault for anything else."""
    try:
        # Not blocking, for a named pipe would wait for a writer.
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as exc:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(found.st_mode):
            raise
        raise _no_plain_file(name, found.st_mode) from exc
    with os.fdopen(descriptor, "rb") as stream:
        mode = os.fstat(stream.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise _no_plain_file(name, mode)
        return _Plain(content=stream.read(), mode=stat.S_IMODE(mode))


def _no_plain_file(name: str, mode: int) -> PlacementFault:
    kind = "a symbolic link" if stat.S_ISLNK(mode) else "a directory" if stat.S_ISDIR(mode) else "a special file"
    return PlacementFault(f"{name} is {kind}, so no block can be written into it", "use projection.seam: launch")


def _replace(folder: int, name: str, content: bytes, before: _Plain | None) -> None:
    if before is not None and not before.mode & stat.S_IWUSR:
        raise PlacementFault(f"{name} is read-only", f"chmod u+w {name}, or use projection.seam: launch")
    draft = f".{name}.{secrets.token_hex(4)}.orch"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(draft, flags, 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            if before is not None:
                os.fchmod(stream.fileno(), before.mode)
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft, dir_fd=folder)
        raise
