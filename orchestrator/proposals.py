"""What agents propose: kept beside the memory until it is settled, with the branch that it was learned on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from memory.entry import entry_id
from orchestrator.moves import Moves
from orchestrator.records import Records, now, transaction

SCHEMA = """
CREATE TABLE IF NOT EXISTS proposals (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    entry TEXT NOT NULL,
    text TEXT NOT NULL,
    section TEXT NOT NULL,
    agent TEXT NOT NULL,
    backend TEXT,
    branch TEXT,
    base TEXT,
    sha TEXT,
    supersedes TEXT,
    state TEXT NOT NULL,
    why TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS proposals_state ON proposals (state, number);
"""
_COLUMNS = "number, at, entry, text, section, agent, backend, branch, base, sha, supersedes, state, why"


class State(StrEnum):
    """Where a proposal stands."""

    WAITING = "waiting"  # for its agent's end, or for the merge of its branch
    LANDED = "landed"  # in the memory; goes again if its branch is discarded
    SETTLED = "settled"  # in the memory for good: its branch is merged, or it never had one
    CONFLICT = "conflict"  # it contradicts what a person vouched for: a person decides
    DROPPED = "dropped"  # not taken: rejected before, or known already
    WITHDRAWN = "withdrawn"  # its branch was discarded


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """One claim of one agent. `sha` is the tip of its branch when last seen; `why` a one-line reason for the state."""

    number: int
    at: str
    entry: str
    text: str
    section: str
    agent: str
    backend: str | None
    branch: str | None
    base: str | None
    sha: str | None
    supersedes: str | None
    state: State
    why: str


@dataclass(frozen=True, kw_only=True)
class Proposals:
    """The proposals in the records, with the moves that are held back laid over them."""

    records: Records
    moves: Moves = field(default_factory=Moves)

    def add(
        self,
        text: str,
        *,
        section: str,
        agent: str,
        backend: str | None = None,
        branch: str | None = None,
        base: str | None = None,
        sha: str | None = None,
        supersedes: str | None = None,
    ) -> str:
        """Keep a claim as waiting; the same claim of the same agent is kept once. Returns the entry's id."""
        entry = entry_id(text)
        with self.records.connected(SCHEMA) as connection:
            connection.execute(
                "INSERT INTO proposals (at, entry, text, section, agent, backend, branch, base, sha, supersedes, state)"
                " SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting' WHERE NOT EXISTS"
                " (SELECT 1 FROM proposals WHERE entry = ? AND agent = ? AND state = 'waiting')",
                (now(), entry, text, section, agent, backend, branch, base, sha, supersedes, entry, agent),
            )
        return entry

    def all(self, *states: State, entry: str | None = None) -> tuple[Proposal, ...]:
        """Those in one of the states (none given: every state), about one entry if given, in order."""
        where, values = ("", ()) if entry is None else ("WHERE entry = ?", (entry,))
        with self.records.reading("proposals") as connection:
            if connection is None:
                return ()
            rows = connection.execute(f"SELECT {_COLUMNS} FROM proposals {where} ORDER BY number", values).fetchall()
        names = _COLUMNS.split(", ")
        found = [Proposal(**{**dict(zip(names, row, strict=True)), "state": State(row[11])}) for row in rows]
        return tuple(each for each in map(self._moved, found) if not states or each.state in states)

    def move(
        self, number: int, state: State, *, why: str = "", sha: str | None = None, supersedes: str | None = None
    ) -> None:
        """Give a proposal another state, and where known the tip of its branch and the entry that it contradicts."""
        known = {name: value for name, value in (("sha", sha), ("supersedes", supersedes)) if value is not None}
        values = {"state": state.value, "why": why, **known}
        if self.moves.held is not None:
            self.moves.held.setdefault(number, {}).update(values)
        else:
            self._write({number: values})

    def _moved(self, proposal: Proposal) -> Proposal:
        """The proposal as it will be."""
        changed = (self.moves.held or {}).get(proposal.number)
        return proposal if changed is None else replace(proposal, **{**changed, "state": State(changed["state"])})  # type: ignore[arg-type]

    def write_held(self) -> None:
        """Write the moves that were held back."""
        self._write(self.moves.held or {})

    def _write(self, moves: Mapping[int, Mapping[str, str]]) -> None:
        if not moves:
            return
        with self.records.connected(SCHEMA) as connection, transaction(connection):
            for number, values in moves.items():
                names = ", ".join(f"{name} = ?" for name in values)
                connection.execute(f"UPDATE proposals SET {names} WHERE number = ?", (*values.values(), number))

    def forget(self, entry: str) -> None:
        """Blank the text of every claim of a fact that a person removed; that there was one stays known."""
        with self.records.connected(SCHEMA) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(
                "UPDATE proposals SET text = '', state = 'dropped', why = 'removed by a person' WHERE entry = ?",
                (entry,),
            )
