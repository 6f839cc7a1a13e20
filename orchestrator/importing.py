"""Taking facts over from other memories: as unverified, with their source, after a look at what would come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.denylist import is_denied
from memory.document import Document
from memory.edit import insert_entry
from memory.entry import Provenance, entry_id
from memory.errors import MemoryFault
from memory.foreign import Foreign, read_foreign
from memory.similar import same_fact
from memory.tag import render_tag
from orchestrator.adding import require_fit, safe_section
from orchestrator.desk import Desk
from orchestrator.errors import MemoryProblem, UsageProblem
from orchestrator.ledger import Act
from orchestrator.line import Line

_MOST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """One fact of an import: `fate` is `new`, `known` or `refused`, `why` says more."""

    id: str
    text: str
    section: str
    source: str
    line: int
    fate: str
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """The arrival as a JSON object; the text of a refused one is left out, since it may be a secret."""
        shown = {"id": self.id, "section": self.section, "source": self.source, "line": self.line, "fate": self.fate}
        return {**shown, "why": self.why, "text": "" if self.fate == "refused" else self.text}


def plan_import(desk: Desk, document: Document | None, paths: Sequence[Path]) -> tuple[Arrival, ...]:
    """What an import would bring; changes nothing. Raises UsageProblem for a file that cannot be read as text."""
    known = [entry.text for entry in document.entries] if document is not None else []
    closed = desk.ledger.closed()
    found: list[Arrival] = []
    for path in paths:
        for fact in _facts(path):
            found.append(_arrival(fact, path, known, closed))
            if found[-1].fate == "new":
                known.append(fact.text)
    return tuple(found)


def carry_import(desk: Desk, arrivals: Sequence[Arrival]) -> None:
    """Put the new ones into the memory as unverified."""
    today = datetime.now(UTC).date().isoformat()

    def change(document: Document) -> Document:
        for each in arrivals:
            if each.fate != "new" or any(entry.id == each.id for entry in document.entries):
                continue
            tag = render_tag("unverified", Provenance(date=today, source=each.source))
            document = insert_entry(document, each.text, section=safe_section(each.section), tag=tag)
        desk.ledger.write(Act.PROPOSED, [each.id for each in arrivals if each.fate == "new"], channel="import")
        return document

    desk.change(change)


def _facts(path: Path) -> tuple[Foreign, ...]:
    if is_denied(path.name):
        raise UsageProblem(f"{path} may hold credentials, so it is never read", "import another file")
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageProblem(f"{path} is larger than {_MOST_BYTES} bytes", "import a part of it")
        return read_foreign(str(path.resolve()), path.read_bytes())
    except OSError as exc:
        raise UsageProblem(f"cannot read {path}: {exc.strerror}", "name a file that is there") from exc
    except ValueError as exc:
        raise UsageProblem(f"{path} is not UTF-8 text", "convert it: iconv") from exc


def _arrival(fact: Foreign, path: Path, known: Sequence[str], closed: Mapping[str, Line]) -> Arrival:
    entry = entry_id(fact.text)
    source = "".join(char if char.isalnum() or char in "._-" else "-" for char in path.name)
    fate, why = "new", ""
    try:
        require_fit(fact.text)
    except (MemoryProblem, MemoryFault) as exc:
        fate, why = "refused", exc.message
    if fate == "new" and entry in closed:
        fate, why = "refused", f"it was {closed[entry].act.value} before"
    elif fate == "new" and any(same_fact(fact.text, text) for text in known):
        fate, why = "known", "the memory says so already"
    return Arrival(id=entry, text=fact.text, section=fact.section, source=source, line=fact.line, fate=fate, why=why)
