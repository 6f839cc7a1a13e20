"""The ledger: which entries a person's command or a corroboration has vouched for, in the records."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memory.entry import Trust
from orchestrator.records import Records, now

_SCHEMA = """
CREATE TABLE IF NOT EXISTS ledger (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    entry TEXT NOT NULL,
    trust INTEGER NOT NULL,
    channel TEXT NOT NULL
)
"""


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Append-only; the latest line about an entry counts. `channel` says what vouched: `command`, `edit`, …"""

    records: Records

    def grants(self) -> Mapping[str, Trust]:
        """What each entry's id has been granted."""
        if not self.records.path.exists():
            return {}
        with self.records.connected() as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'ledger'").fetchone():
                return {}
            rows = connection.execute("SELECT entry, trust FROM ledger ORDER BY number").fetchall()
        return {entry: Trust(trust) for entry, trust in rows}

    def grant(self, entries: Iterable[str], trust: Trust, channel: str) -> None:
        """Vouch for entries."""
        with self.records.connected() as connection:
            connection.execute(_SCHEMA)
            connection.executemany(
                "INSERT INTO ledger (at, entry, trust, channel) VALUES (?, ?, ?, ?)",
                [(now(), entry, int(trust), channel) for entry in entries],
            )
