"""Locks between processes: waited for with a word to the person, never for ever."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.errors import OrchError

_QUIET_SECONDS = 2.0
_PATIENCE_SECONDS = 300.0


@contextmanager
def held(path: Path, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold the lock at `path` during the block. `tell` is told when it has to be waited for.

    The kernel frees the lock of a process that dies. Raises OrchError after five minutes of waiting.
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=_QUIET_SECONDS)
    except Timeout:
        if tell is not None:
            tell(f"waiting for another orch command that holds {path.name}")
        try:
            lock.acquire(timeout=_PATIENCE_SECONDS)
        except Timeout as exc:
            raise OrchError(
                f"another process has held {path} for more than {_PATIENCE_SECONDS:g} s", "orch doctor"
            ) from exc
    try:
        yield
    finally:
        lock.release()
