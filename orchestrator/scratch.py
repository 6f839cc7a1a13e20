"""Temporary folders of a project: below its own state, so that what a killed command leaves is found and cleaned."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def scratch_folder(parent: Path | None, purpose: str) -> Iterator[Path]:
    """A folder that is gone after the block, named for its purpose and locked while it is in use.

    It is made below `parent`; in the system's place for such things where there is no parent, where the parent's own
    folder is not there (nothing of ours is made in a project by looking at it), or where it cannot be written.
    """
    folder, lock = _made(parent, purpose)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)
            _leave(folder.parent)


def _leave(parent: Path) -> None:
    """Remove the folder of the temporary ones when nobody has one in it."""
    with suppress(OSError):
        parent.rmdir()


def _made(parent: Path | None, purpose: str) -> tuple[Path, int | None]:
    while parent is not None and parent.parent.is_dir():
        try:
            parent.mkdir(exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=f"{purpose}-", dir=parent))
            lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # cleaned away between the two steps
        except OSError:
            break
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        os.close(lock)
    return Path(tempfile.mkdtemp(prefix=f"orch-{purpose}-")), None


def abandoned(parent: Path) -> Iterator[Path]:
    """The folders below `parent` that no process holds any more."""
    for folder in sorted(parent.glob("*")):
        with _held(folder) as free:
            if free:
                yield folder


def remove_abandoned(folder: Path) -> str:
    """Remove a folder if still no process holds it; returns what was done."""
    with _held(folder) as free:
        if not free:
            return "it is in use again, and stays"
        shutil.rmtree(folder)
    _leave(folder.parent)
    return "removed"


@contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Whether nobody else holds the folder; if so it is held during the block."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            free = False
        else:
            free = True
        yield free
    finally:
        os.close(lock)
