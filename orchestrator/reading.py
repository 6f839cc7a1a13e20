"""A connection that only reads, also where nothing can be written: a sandbox, a read-only mount, another's clone.

The records are in WAL mode, where SQLite makes two files beside the database even to read it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)


def is_unwritable(exc: sqlite3.Error) -> bool:
    """Whether SQLite failed because it may not write there. Extended codes have the kind in their low byte."""
    return (getattr(exc, "sqlite_errorcode", 0) & 0xFF) in _UNWRITABLE


@contextmanager
def connected_to_read(path: Path, *, timeout: float) -> Iterator[sqlite3.Connection]:
    """Connect to a database in WAL mode that exists. Raises sqlite3.Error for one that cannot be read."""
    with ExitStack() as stack:
        connection = stack.enter_context(closing(sqlite3.connect(path, timeout=timeout, isolation_level=None)))
        try:
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except sqlite3.Error as exc:
            if not is_unwritable(exc):
                raise
            connection.close()
            connection = stack.enter_context(closing(_connect_unwritable(path, stack)))
        yield connection


def _connect_unwritable(path: Path, stack: ExitStack) -> sqlite3.Connection:
    import shutil
    import tempfile
    from urllib.parse import quote

    log = path.with_name(f"{path.name}-wal")
    try:
        if log.exists() and log.stat().st_size:
            # What a killed writer left in the log belongs to the database: both are read from a copy.
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="orch-records-")))
            for each in (path, log):
                shutil.copyfile(each, folder / each.name)
            return sqlite3.connect(folder / path.name, isolation_level=None)
    except OSError as exc:
        raise sqlite3.OperationalError(f"{exc.strerror}: {exc.filename}") from exc
    # Without a log the file is whole, and SQLite reads it without making anything when told that it does not change.
    return sqlite3.connect(f"file:{quote(str(path))}?immutable=1", uri=True, isolation_level=None)
