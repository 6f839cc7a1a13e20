"""What an entry counts for: from the channel it came through, never from its tag alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from memory.document import Document
from memory.entry import Entry, Trust

_FIRST_SECTION = "do not repeat"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """An entry with what it counts for.

    `trust` is the effective one. `stale` says why it is out of date (None: it is not), `held` why it is kept out of the
    render until a person has looked at it. `value` orders entries when the budget is short: higher stays longer.
    """

    entry: Entry
    trust: Trust
    stale: str | None = None
    held: str | None = None
    value: int = 0

    @property
    def forged(self) -> bool:
        """Whether its tag claims more than its channel gives."""
        return self.entry.claimed > self.trust and not self.entry.superseded


def committed_trust(document: Document) -> dict[str, Trust]:
    """What a committed version of the memory grants: its reviewed diff is the gate, so its tags are believed."""
    granted: dict[str, Trust] = {}
    for entry in document.entries:
        if not entry.superseded:
            granted[entry.id] = max(entry.claimed, granted.get(entry.id, Trust.UNVERIFIED))
    return granted


def judge(
    document: Document,
    *,
    committed: Mapping[str, Trust],
    ledger: Mapping[str, Trust],
    stale: Mapping[str, str] | None = None,
    held: Mapping[str, str] | None = None,
    today: date | None = None,
    exact: Callable[[Entry], bool] | None = None,
) -> tuple[Judged, ...]:
    """Judge every entry, in document order. `exact` says whether what was granted was granted in this very wording.

    `committed` is what the main checkout's commit grants, `ledger` what a person's command or a corroboration granted;
    an entry that neither knows is unverified, whatever it says of itself. `stale` and `held` are reasons by id.
    A date after `today` gives no recency.
    """
    judged = []
    for entry in document.entries:
        granted = max(committed.get(entry.id, Trust.UNVERIFIED), ledger.get(entry.id, Trust.UNVERIFIED))
        if exact is not None and granted > Trust.UNVERIFIED and not exact(entry):
            granted = Trust.UNVERIFIED
        trust = min(entry.claimed, granted)
        judged.append(
            Judged(
                entry=entry,
                trust=trust,
                stale=(stale or {}).get(entry.id),
                held=(held or {}).get(entry.id) if trust is Trust.UNVERIFIED else None,
                value=value(entry, trust, today),
            )
        )
    return tuple(judged)


def value(entry: Entry, trust: Trust, today: date | None = None) -> int:
    """Human and "Do not repeat" first, then trusted by the number of witnesses and by recency, then unverified."""
    first = entry.section.casefold().startswith(_FIRST_SECTION) and trust > Trust.UNVERIFIED
    rank = Trust.HUMAN if first else trust
    witnesses = min(len(set(entry.provenance.agents)), 99)
    return (
        int(rank) * 10_000_000_000
        + first * 1_000_000_000
        + witnesses * 10_000_000
        + _ordinal(entry.provenance.date, today)
    )


def _ordinal(day: str | None, today: date | None) -> int:
    try:
        found = date.fromisoformat(day or "")
    except ValueError:
        return 0
    return 0 if today is not None and found > today else found.toordinal()
