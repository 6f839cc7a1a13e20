"""The ledger: what a person, a corroboration or the course of things has said about an entry, in the records.

The memory file holds what is believed; this holds through which channel each belief came. An entry is named by the id
of its normalised text, so what is said outlives the line in the file: a rejected fact is not proposed again.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from memory.entry import Trust, wording_id
from orchestrator.records import Records, now, transaction

if TYPE_CHECKING:
    from orchestrator.line import Line

SCHEMA = """
CREATE TABLE IF NOT EXISTS ledger (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    entry TEXT NOT NULL,
    act TEXT NOT NULL,
    channel TEXT NOT NULL,
    agent TEXT,
    detail TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS ledger_entry ON ledger (entry, number);
"""


class Act(StrEnum):
    """What happened to an entry."""

    GRANTED_HUMAN = "granted-human"
    GRANTED_TRUSTED = "granted-trusted"
    PROPOSED = "proposed"
    CORROBORATED = "corroborated"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    REMOVED = "removed"
    WITHDRAWN = "withdrawn"
    CONFLICT = "conflict"
    SETTLED = "settled"
    REINSTATED = "reinstated"


# After one of these the fact is not proposed again by an agent.
CLOSED = frozenset({Act.REJECTED, Act.SUPERSEDED, Act.REMOVED})
_GRANTS = {Act.GRANTED_HUMAN: Trust.HUMAN, Act.GRANTED_TRUSTED: Trust.TRUSTED}
# These end what was granted before.
_REVOKES = frozenset({Act.REJECTED, Act.SUPERSEDED, Act.REMOVED, Act.WITHDRAWN})


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Append-only: a line is never taken back. Only the words in it go, of a fact that a person removed."""

    records: Records

    def grants(self, lines: "Sequence[Line] | None" = None) -> Mapping[str, Trust]:
        """What each entry has been granted and still has."""
        granted: dict[str, Trust] = {}
        for line in self.lines() if lines is None else lines:
            if line.act in _GRANTS:
                granted[line.entry] = max(_GRANTS[line.act], granted.get(line.entry, Trust.UNVERIFIED))
            elif line.act in _REVOKES:
                granted.pop(line.entry, None)
        return granted

    def wordings(self, lines: "Sequence[Line] | None" = None) -> Mapping[str, frozenset[str]]:
        """The wordings in which each entry has been granted, and still is."""
        found: dict[str, frozenset[str]] = {}
        for line in self.lines() if lines is None else lines:
            if line.act in _GRANTS and "wording" in line.detail:
                found[line.entry] = found.get(line.entry, frozenset()) | {line.detail["wording"]}
            elif line.act in _REVOKES:
                found.pop(line.entry, None)
        return found

    def vouched(self, entry: str | None = None) -> Mapping[str, Trust]:
        """What a person has granted, and still holds; a corroboration is no person's word."""
        return self.grants([line for line in self.lines(entry) if line.channel != "corroboration"])

    def closed(self, lines: "Sequence[Line] | None" = None) -> "Mapping[str, Line]":
        """The facts that are rejected, superseded or removed, and neither granted again nor reinstated since."""
        found: dict[str, Line] = {}
        for line in self.lines() if lines is None else lines:
            if line.act in CLOSED:
                found[line.entry] = line
            elif line.act in _GRANTS or line.act is Act.REINSTATED:
                found.pop(line.entry, None)
        return found

    def withdrawn(self, lines: "Sequence[Line] | None" = None) -> frozenset[str]:
        """The facts whose only source was discarded, and that nobody has claimed or granted again since."""
        found: set[str] = set()
        for line in self.lines() if lines is None else lines:
            if line.act is Act.WITHDRAWN:
                found.add(line.entry)
            elif line.act in _GRANTS or line.act in (Act.PROPOSED, Act.CORROBORATED, Act.REINSTATED):
                found.discard(line.entry)
        return frozenset(found)

    def conflicts(self, lines: "Sequence[Line] | None" = None) -> "tuple[Line, ...]":
        """Conflicts with what a person wrote or approved that nobody has settled."""
        open_: dict[str, Line] = {}
        for line in self.lines() if lines is None else lines:
            if line.act is Act.CONFLICT:
                open_[line.entry] = line
            elif line.act in (Act.SETTLED, *_GRANTS, *_REVOKES):
                open_.pop(line.entry, None)
        return tuple(open_.values())

    def lines(self, entry: str | None = None) -> "tuple[Line, ...]":
        """Every line, or those about one entry, in order."""
        from orchestrator.line import Line

        where, values = ("WHERE entry = ?", (entry,)) if entry is not None else ("", ())
        with self.records.reading("ledger") as connection:
            if connection is None:
                return ()
            rows = connection.execute(
                f"SELECT number, at, entry, act, channel, agent, detail FROM ledger {where} ORDER BY number", values
            ).fetchall()
        return tuple(
            Line(number=n, at=at, entry=e, act=Act(act), channel=ch, agent=ag, detail=json.loads(detail))
            for n, at, e, act, ch, ag, detail in rows
        )

    def write(self, act: Act, entries: Iterable[str], *, channel: str, agent: str | None = None, **detail: Any) -> None:
        """Append a line for each entry, all or none of them."""
        self._append(act, dict.fromkeys(entries, detail), channel, agent)

    def _append(self, act: Act, entries: Mapping[str, Mapping[str, Any]], channel: str, agent: str | None) -> None:
        with self.records.connected(SCHEMA) as connection, transaction(connection):
            connection.executemany(
                "INSERT INTO ledger (at, entry, act, channel, agent, detail) VALUES (?, ?, ?, ?, ?, ?)",
                [(now(), entry, act.value, channel, agent, json.dumps(detail)) for entry, detail in entries.items()],
            )

    def grant(self, texts: Mapping[str, str], trust: Trust, channel: str) -> None:
        """Vouch for entries, in the wording of their texts; `trust` is HUMAN or TRUSTED."""
        act = Act.GRANTED_HUMAN if trust is Trust.HUMAN else Act.GRANTED_TRUSTED
        self._append(act, {entry: {"wording": wording_id(text)} for entry, text in texts.items()}, channel, None)

    def forget(self, entry: str) -> None:
        """Blank what the lines about an entry quote of its text."""
        with self.records.connected(SCHEMA) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("UPDATE ledger SET detail = json_remove(detail, '$.text') WHERE entry = ?", (entry,))
