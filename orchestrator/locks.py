"""Locks between processes: waited for with a word to the person, never for ever."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.errors import OrchError, ProjectProblem

_QUIET_SECONDS = 2.0
_PATIENCE_SECONDS = 300.0
_SHORTEST_SECONDS, _LONGEST_SECONDS = 0.005, 0.1


@contextmanager
def held(path: Path, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold the lock at `path` during the block. `tell` is told when it has to be waited for.

    The kernel frees the lock of a process that dies. Raises OrchError after five minutes of waiting, and ProjectProblem
    where the lock's file cannot be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The system's own lock: a library for it takes longer to load than a whole `orch memory add` takes.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as exc:
        raise ProjectProblem(
            f"cannot open the lock {path}: {exc.strerror}", "check the owner and mode of that file and its directory"
        ) from exc
    try:
        if not _acquired(descriptor, _QUIET_SECONDS):
            if tell is not None:
                tell(f"waiting for another orch command that holds {path.name}")
            if not _acquired(descriptor, _PATIENCE_SECONDS):
                raise OrchError(f"another process has held {path} for more than {_PATIENCE_SECONDS:g} s", "orch doctor")
        yield
    finally:
        os.close(descriptor)


def _acquired(descriptor: int, seconds: float) -> bool:
    """Try for so long to take the lock, at intervals that grow, so that many waiters leave the processor to others."""
    end = time.monotonic() + seconds
    pause = _SHORTEST_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_SECONDS)
        else:
            return True
