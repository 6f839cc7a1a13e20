"""Reading a file that others may have replaced by something that is none."""

import errno
import os
import stat
from pathlib import Path

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_plain(path: Path, most: int) -> bytes:
    """The bytes of a regular file (or of the one that a link leads to), which has at most `most` of them.

    Never waits for a writer and never reads what is too large. Raises OSError, its `strerror` fit to be shown, for what
    is no regular file, is larger, or cannot be read; FileNotFoundError also for a link that leads nowhere.
    """
    # Opening a pipe waits until somebody writes into it, unless it is asked not to.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
            raise OSError(errno.EINVAL, f"it is {kind}, not a file", os.fspath(path))
        if found.st_size > most:
            raise OSError(errno.EFBIG, f"it is too large: {found.st_size} bytes, {most} at most", os.fspath(path))
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read()
    finally:
        os.close(descriptor)
