"""What can go wrong in the projection; the orchestrator maps each to an error that a person sees."""

import errno
import os
from pathlib import Path

_READ_ONLY = "the file system is mounted read-only: mount it for writing, or work in a clone elsewhere"


def write_hint(cause: BaseException, usual: str, *, place: Path | None = None) -> str:
    """What helps when a file cannot be written: `usual`, but where no owner and mode would (a read-only mount).

    `place` is a directory to look at, for a cause that does not say.
    """
    if isinstance(cause, OSError):
        return _READ_ONLY if cause.errno == errno.EROFS else usual
    try:
        flags = 0 if place is None else os.statvfs(place).f_flag
    except OSError:
        return usual
    return _READ_ONLY if flags & os.ST_RDONLY else usual


class ProjectionFault(Exception):
    """`message` says what is wrong in one line, `hint` what helps (may be empty)."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BlockFault(ProjectionFault):
    """A block that cannot be made, or a file whose markers do not add up."""


class HygieneFault(ProjectionFault):
    """Git's configuration, or a file that goes with it, cannot be written."""


class PlacementFault(ProjectionFault):
    """A context file in a worktree cannot be read or written safely."""


class SeamFault(ProjectionFault):
    """The render cannot be carried the way that was asked for, or in any way."""
