"""Looking through the memory for what a person should see to."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from memory.entry import Trust
from memory.secrets import find_secret
from memory.tag import likely_slip
from memory.trust import Judged
from orchestrator.beliefs import Beliefs, load_beliefs, unclosed_text
from orchestrator.config_schema import Config
from orchestrator.injection import load_injection
from orchestrator.ledger import Ledger
from orchestrator.oversize import oversize_entries
from orchestrator.project import Project
from orchestrator.records import Records


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing. `line` is that of the file (from 1), `kind` a word, `what` one line that repeats no secret."""

    kind: str
    what: str
    line: int | None = None
    entry: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The finding as a JSON object."""
        return {"kind": self.kind, "what": self.what, "line": self.line, "entry": self.entry}


def lint_memory(project: Project, config: Config, records: Records) -> tuple[Finding, ...]:
    """Every finding, in the order of the file. Raises MemoryProblem where the file cannot be read at all."""
    beliefs = load_beliefs(project, config)
    if beliefs is None:
        return ()
    found = [*_secrets(beliefs), *_hidden(beliefs), *_empty(beliefs), *_oversize(project, config, beliefs)]
    seen: set[str] = set()
    for item in beliefs.checked():
        found += _entry(item, beliefs, seen)
        seen.add(item.entry.id)
    found += _lost(beliefs)
    found.sort(key=lambda each: each.line or 0)
    conflicts = Ledger(records=records).conflicts()
    found += [
        Finding(
            kind="conflict", entry=line.entry, what=f"an agent claims what contradicts {line.detail.get('against')}"
        )
        for line in conflicts
    ]
    return tuple(found)


def _secrets(beliefs: Beliefs) -> Iterator[Finding]:
    for number, line in enumerate(beliefs.document.lines, 1):
        secret = find_secret(line)
        if secret is not None:
            yield Finding(kind="secret", line=number, what=f"the line holds what looks like {secret[1]}")


def _lost(beliefs: Beliefs) -> Iterator[Finding]:
    """What stands in the last commit as a person's or trusted, and in the file as less or not at all."""
    if beliefs.committed is None or beliefs.committed is beliefs.document:
        return
    there: dict[str, Trust] = {}
    for entry in beliefs.document.entries:
        if not entry.superseded:
            there[entry.id] = max(entry.claimed, there.get(entry.id, Trust.UNVERIFIED))
    for entry in beliefs.committed.entries:
        if entry.superseded or entry.claimed is Trust.UNVERIFIED or entry.id in beliefs.closed:
            continue
        if entry.id not in there:
            yield Finding(kind="gone", entry=entry.id, what="it stands in the last commit, and in the file no more")
        elif there[entry.id] < entry.claimed:
            words = f"as {entry.claimed.word}, and in the file as {there[entry.id].word}"
            yield Finding(kind="lowered", entry=entry.id, what=f"it stands in the last commit {words}")


def _hidden(beliefs: Beliefs) -> Iterator[Finding]:
    unclosed = beliefs.document.unclosed
    if unclosed is not None:
        yield Finding(kind="hidden", line=unclosed.line + 1, what=unclosed_text(unclosed))


def _empty(beliefs: Beliefs) -> Iterator[Finding]:
    for line in beliefs.document.empty:
        yield Finding(kind="empty", line=line + 1, what="the bullet says nothing, so it is no entry")


def _oversize(project: Project, config: Config, beliefs: Beliefs) -> Iterator[Finding]:
    injection = load_injection(project, config)
    lines = {entry.id: entry.first_line + 1 for entry in beliefs.document.entries}
    for name, what in oversize_entries(injection, config, lines).items():
        yield Finding(kind="oversize", line=lines[name], entry=name, what=what)


def _entry(item: Judged, beliefs: Beliefs, seen: set[str]) -> Iterator[Finding]:
    entry = item.entry

    def found(kind: str, what: str) -> Finding:
        return Finding(kind=kind, what=what, line=entry.first_line + 1, entry=entry.id)

    if entry.unknown_tag:
        yield found("unknown tag", f"{entry.tag} is no tag of ours: it counts as unverified")
    slip = None if entry.tag is not None else likely_slip(entry.text)
    if slip is not None:
        yield found("unknown tag", f"{slip} is read as part of the text, not as a tag: mend it or leave it out")
    if entry.superseded:
        return
    if item.forged:
        word = entry.claimed.word
        yield found("unvouched", f"it stands there as {word}, but nobody vouched: commit it, or orch memory approve")
    if entry.id in seen:
        yield found("twice", "the same entry stands above already")
    if entry.id in beliefs.closed:
        # Git brought it back, or somebody wrote it anew: the file alone does not undo what a person decided.
        yield found("held back", f"{item.held}: orch memory approve {entry.id} has it back, rm takes it out again")
    elif item.held is not None:
        yield found("held back", item.held)
    if item.stale is not None:
        yield found("stale", item.stale)
    if entry.provenance.date is not None:
        yield from (found(*fault) for fault in _of_date(entry.provenance.date, beliefs.today))


def _of_date(day: str, today: date) -> Iterator[tuple[str, str]]:
    try:
        # A day of grace: the writer's time zone may be ahead of UTC.
        if (date.fromisoformat(day) - today).days > 1:
            yield "future date", f"{day} has not come yet"
    except ValueError:
        yield "no date", f"{day} is no day of the calendar"
