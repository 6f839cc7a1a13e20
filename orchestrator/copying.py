"""Copying a file or a link into a worktree: sharing its blocks on disk where the file system can, else byte by byte.

A copy is the agent's own whatever happens to it: no hard links, and no symbolic links to what was copied.
"""

import errno
import os
import shutil
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

# FICLONE of linux/fs.h (btrfs, XFS, bcachefs, overlay on them).
_FICLONE = 0x40049409
_CANNOT_CLONE = frozenset(
    {errno.EOPNOTSUPP, errno.ENOTSUP, errno.EXDEV, errno.ENOTTY, errno.EINVAL, errno.ENOSYS, errno.EPERM, errno.EBADF}
)


@dataclass(frozen=True, kw_only=True)
class Copied:
    """What was done: the size in bytes (0 for a link), and whether the blocks are shared."""

    size: int
    shared: bool


def copy_entry(source: Path, target: Path) -> Copied | None:
    """Copy a plain file with mode and time, or a symbolic link as the link that it is; None for anything else.

    The target must not exist. Raises OSError.
    """
    kind = source.lstat().st_mode
    if stat.S_ISLNK(kind):
        target.symlink_to(source.readlink())
        return Copied(size=0, shared=False)
    if not stat.S_ISREG(kind):
        return None
    if sys.platform == "darwin" and _clone_on_macos(source, target):
        return Copied(size=target.stat().st_size, shared=True)
    # Not blocking and not following: what git listed may have become a pipe or a link since.
    descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as reader, target.open("xb") as writer:
        found = os.fstat(reader.fileno())
        if not stat.S_ISREG(found.st_mode):
            target.unlink()
            return None
        shared = _clone_on_linux(reader.fileno(), writer.fileno())
        if not shared:
            shutil.copyfileobj(reader, writer, 1 << 20)
        writer.flush()
        os.fchmod(writer.fileno(), stat.S_IMODE(found.st_mode))
        os.utime(writer.fileno(), ns=(found.st_atime_ns, found.st_mtime_ns))
    return Copied(size=found.st_size, shared=shared)


def _clone_on_linux(source: int, target: int) -> bool:
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError as exc:
        if exc.errno not in _CANNOT_CLONE:
            raise
        return False
    return True


def _clone_on_macos(source: Path, target: Path) -> bool:
    import ctypes

    no_follow = 1
    try:
        clone = ctypes.CDLL(None, use_errno=True).clonefile
    except AttributeError:
        return False
    return bool(clone(os.fsencode(source), os.fsencode(target), no_follow) == 0)
