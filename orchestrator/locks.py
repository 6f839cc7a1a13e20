"""Locks between processes: waited for with a word to the person, never for ever."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.errors import OrchError, ProjectProblem

_QUIET_SECONDS = 2.0
_PATIENCE_SECONDS = 300.0


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
        from projection.faults import write_hint

        raise ProjectProblem(
            f"cannot open the lock {path}: {exc.strerror}",
            write_hint(exc, "check the owner and mode of that file and its directory"),
        ) from exc
    try:
        if not _acquired(descriptor):
            _wait(descriptor, path, tell)
        yield
    finally:
        os.close(descriptor)


def _acquired(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(descriptor: int, path: Path, tell: Callable[[str], None] | None) -> None:
    """Wait until the lock is ours.

    The system hands a lock over at once, in order, and waits without the processor; looking again and again does
    neither when hundreds wait. Only it knows no time limit: so a thread stands in the queue, and we wait for it.
    """
    import threading

    done = threading.Event()
    failure: list[OSError] = []
    # The same lock by a number of its own: when we give up, ours may be another file by the time that it is used.
    queued = os.dup(descriptor)

    def stand_in_the_queue() -> None:
        try:
            fcntl.flock(queued, fcntl.LOCK_EX)
        except OSError as exc:
            failure.append(exc)
        finally:
            os.close(queued)
            done.set()

    # A daemon: it may still stand there when we have given up, and what it gets then it frees at once.
    threading.Thread(target=stand_in_the_queue, daemon=True).start()
    if not done.wait(_QUIET_SECONDS):
        if tell is not None:
            tell(f"waiting for another orch command that holds {path.name}")
        if not done.wait(_PATIENCE_SECONDS):
            raise OrchError(f"another process has held {path} for more than {_PATIENCE_SECONDS:g} s", "orch doctor")
    if failure:
        raise ProjectProblem(f"cannot take the lock {path}: {failure[0].strerror}") from failure[0]
