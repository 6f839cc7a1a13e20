"""The records: what happened, in SQLite, written by many processes at once."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.errors import ProjectProblem, RecordsProblem, UsageProblem
from orchestrator.locks import held

if TYPE_CHECKING:
    from orchestrator.agent import Agent
    from orchestrator.event import Event
    from orchestrator.identity import Mark

_SCHEMA = """
CREATE TABLE IF NOT EXISTS agents (
    id TEXT PRIMARY KEY,
    created TEXT NOT NULL,
    status TEXT NOT NULL,
    data TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    agent TEXT,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_agent ON events (agent, number);
"""
_VERSION = 1
_BUSY_SECONDS = 30.0


def now() -> str:
    """The time in UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction around the block, undone where it fails; inside of another one, a part of that."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@dataclass(frozen=True, kw_only=True)
class Records:
    """The database at `path`; made on the first write. A read of a database that is absent finds nothing."""

    path: Path
    _kept: "list[tuple[sqlite3.Connection, set[str]]]" = field(default_factory=list, repr=False, compare=False)

    def mark(self, agent_id: str) -> "Mark":
        """What the processes of an agent of this project carry."""
        from orchestrator.identity import Mark

        return Mark(agent_id=agent_id, project=str(self.path.parent.parent))

    @contextmanager
    def connected(self, schema: str = "") -> Iterator[sqlite3.Connection]:
        """A connection in autocommit, with our own tables in place and those that the script `schema` makes."""
        if self._kept:
            connection, made = self._kept[-1]
            with self._mapped():
                if schema and schema not in made:
                    connection.executescript(schema)
                    made.add(schema)
                yield connection
            return
        with self._mapped(), self._opened() as connection:
            if schema:
                connection.executescript(schema)
            yield connection

    @contextmanager
    def kept_open(self, *schemas: str) -> Iterator[None]:
        """Keep one connection open during the block, for all that is read and written in it by this thread.

        For what is done under a lock: opening and closing a database takes longer than writing a line into it.
        """
        with self._mapped(), self._opened() as connection:
            self._kept.append((connection, set()))
            try:
                for schema in schemas:
                    with self.connected(schema):
                        pass
                yield
            finally:
                self._kept.pop()

    def _opened(self) -> "closing[sqlite3.Connection]":
        if not self.path.exists():
            self._make()
        return closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None))

    @contextmanager
    def reading(self, table: str) -> Iterator[sqlite3.Connection | None]:
        """A connection to read one table, None where there is none yet; it needs no right to write."""
        if not self.path.exists():
            yield None
            return
        from orchestrator.reading import connected_to_read

        kept = nullcontext(self._kept[-1][0]) if self._kept else None
        with self._mapped(), kept or connected_to_read(self.path, timeout=_BUSY_SECONDS) as opened:
            known = opened.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
            yield opened if known else None

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as exc:
            from orchestrator.reading import is_unwritable

            if is_unwritable(exc):
                raise self._unwritable(exc) from exc
            raise RecordsProblem(
                f"the records at {self.path} cannot be used: {exc}",
                "orch doctor says what to do; the memory file and the branches do not depend on it",
            ) from exc

    def _unwritable(self, exc: Exception) -> ProjectProblem:
        from projection.faults import write_hint

        why = getattr(exc, "strerror", None) or exc
        return ProjectProblem(
            f"the records at {self.path} cannot be written: {why}",
            write_hint(exc, "check the owner and mode of that file and its directory", place=self.path.parent),
        )

    def _make(self) -> None:
        # The switch to WAL fails at once when another process holds the file, whatever the busy timeout says:
        # so only one process makes the database, and it appears under its name when it is whole.
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._mapped(), held(self.path.with_suffix(".lock")):
                if self.path.exists():
                    return
                unfinished = self.path.with_suffix(".new")
                unfinished.unlink(missing_ok=True)
                with closing(sqlite3.connect(unfinished, isolation_level=None)) as connection:
                    connection.execute("PRAGMA journal_mode=WAL")
                    connection.executescript(_SCHEMA)
                    connection.execute(f"PRAGMA user_version={_VERSION}")
                unfinished.rename(self.path)
        except OSError as exc:
            raise self._unwritable(exc) from exc

    def add_agent(self, agent: "Agent") -> None:
        """Write a new agent. Raises UsageProblem when the id is taken."""
        with self.connected() as connection:
            try:
                connection.execute(
                    "INSERT INTO agents (id, created, status, data) VALUES (?, ?, ?, ?)",
                    (agent.id, agent.created, agent.status.value, _dump(agent.to_json())),
                )
            except sqlite3.IntegrityError as exc:
                raise UsageProblem(f"there is an agent {agent.id} already") from exc

    def change_agent(self, agent_id: str, change: "Callable[[Agent], Agent]") -> "Agent":
        """Read, change and write one agent in one transaction, and return what was written."""
        from orchestrator.agent import Agent

        with self.connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                row = connection.execute("SELECT data FROM agents WHERE id = ?", (agent_id,)).fetchone()
                if row is None:
                    raise UsageProblem(f"there is no agent {agent_id}", "orch ls --all")
                agent = change(Agent.from_json(json.loads(row[0])))
                connection.execute(
                    "UPDATE agents SET status = ?, data = ? WHERE id = ?",
                    (agent.status.value, _dump(agent.to_json()), agent_id),
                )
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise
        return agent

    def delete_agent(self, agent_id: str) -> None:
        """Forget an agent that never came to be (the undoing of a spawn)."""
        if self.path.exists():
            with self.connected() as connection:
                connection.execute("DELETE FROM agents WHERE id = ?", (agent_id,))

    def agents(self) -> "tuple[Agent, ...]":
        """Every agent, oldest first, removed ones included."""
        from orchestrator.agent import Agent

        with self.reading("agents") as connection:
            if connection is None:
                return ()
            rows = connection.execute("SELECT data FROM agents ORDER BY created, id").fetchall()
        return tuple(Agent.from_json(json.loads(row[0])) for row in rows)

    def agent(self, agent_id: str) -> "Agent | None":
        """The agent with exactly this id."""
        from orchestrator.agent import Agent

        with self.reading("agents") as connection:
            if connection is None:
                return None
            row = connection.execute("SELECT data FROM agents WHERE id = ?", (agent_id,)).fetchone()
        return None if row is None else Agent.from_json(json.loads(row[0]))

    def require_agent(self, prefix: str, *, removed: bool = True) -> "Agent":
        """The one agent whose id starts with `prefix`, or whose branch is exactly it.

        Raises UsageProblem when there is none or more than one. With `removed` False, those whose worktree is
        gone do not count.
        """
        from orchestrator.agent import Status

        known = [agent for agent in self.agents() if removed or agent.status is not Status.REMOVED]
        exact = [agent for agent in known if prefix in (agent.id, agent.branch)]
        found = exact or [agent for agent in known if prefix and agent.id.startswith(prefix)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise UsageProblem(f"there is no agent {prefix!r}", "orch ls lists them")
        ids = ", ".join(agent.id for agent in found)
        raise UsageProblem(f"{prefix!r} is not unique: {ids}", "give more of the id")

    def add_event(self, kind: str, agent_id: str | None = None, **detail: Any) -> None:
        """Append one event."""
        with self.connected() as connection:
            connection.execute(
                "INSERT INTO events (at, agent, kind, detail) VALUES (?, ?, ?, ?)",
                (now(), agent_id, kind, _dump(detail)),
            )

    def events(self, agent_id: str | None = None) -> "tuple[Event, ...]":
        """The events of one agent, or all of them, in order."""
        from orchestrator.event import Event

        where, values = ("WHERE agent = ?", (agent_id,)) if agent_id is not None else ("", ())
        with self.reading("events") as connection:
            if connection is None:
                return ()
            rows = connection.execute(
                f"SELECT number, at, agent, kind, detail FROM events {where} ORDER BY number", values
            ).fetchall()
        return tuple(
            Event(number=row[0], at=row[1], agent=row[2], kind=row[3], detail=json.loads(row[4])) for row in rows
        )


def _dump(value: Any) -> str:
    # ensure_ascii keeps lone surrogates (undecodable bytes of a path or a task) writable as text.
    return json.dumps(value, ensure_ascii=True, default=str)
