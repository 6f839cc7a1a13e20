"""Taking facts over from other memories: as unverified, with their source, after a look at what would come."""

import errno
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.denylist import is_denied
from memory.document import MOST_BYTES, Document
from memory.edit import insert_sections, require_entry
from memory.entry import Provenance, entry_id
from memory.errors import MemoryFault
from memory.foreign import Foreign, read_foreign
from memory.secrets import find_secret
from memory.similar import Facts
from memory.tag import render_tag
from orchestrator.adding import require_fit, safe_section
from orchestrator.desk import Desk
from orchestrator.errors import MemoryProblem, UsageProblem
from orchestrator.ledger import Act
from orchestrator.line import Line
from orchestrator.plain_file import read_plain

_STDIN = Path("-")


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """One fact of an import: `fate` is `new`, `known` or `refused`, `why` says more; `tagged` is that it had a tag of
    ours there, which counts for nothing here, `closed` that it was turned down or taken out here before.
    """

    id: str
    text: str
    section: str
    source: str
    line: int
    fate: str
    why: str = ""
    tagged: bool = False
    closed: bool = False

    def to_json(self) -> dict[str, Any]:
        """The arrival as a JSON object; the text of a refused one is left out, since it may be a secret."""
        shown = {"id": self.id, "section": self.section, "source": self.source, "line": self.line, "fate": self.fate}
        return {**shown, "tagged": self.tagged, "why": self.why, "text": "" if self.fate == "refused" else self.text}


def plan_import(desk: Desk, document: Document | None, paths: Sequence[Path]) -> tuple[Arrival, ...]:
    """What an import would bring; changes nothing. The path `-` is standard input.

    Raises UsageProblem, which names each of them, where sources cannot be read or hold no text: an import is of all
    that is named, or of nothing.
    """
    faults: list[tuple[str, MemoryFault]] = []
    facts: list[tuple[Path, Foreign]] = []
    for path in paths:
        try:
            facts += [(path, fact) for fact in read_foreign(_kind_path(path), _read(path))]
        except MemoryFault as exc:
            faults.append((_name(path), exc))
    if faults:
        named = "; ".join(f"{name}: {exc.message}" for name, exc in faults)
        raise UsageProblem(f"nothing is taken over: {named}", faults[0][1].hint)
    return _arrivals(desk, document, facts)


def _arrivals(desk: Desk, document: Document | None, facts: Sequence[tuple[Path, Foreign]]) -> tuple[Arrival, ...]:
    there = [entry.text for entry in document.entries] if document is not None else []
    known = Facts([*there, *(fact.text for _, fact in facts)])
    for text in there:
        known.add(text)
    closed = desk.ledger.closed()
    found: list[Arrival] = []
    for path, fact in facts:
        found.append(_arrival(fact, path, known, closed))
        if found[-1].fate == "new":
            known.add(fact.text)
    return tuple(found)


def carry_import(desk: Desk, arrivals: Sequence[Arrival]) -> None:
    """Put the new ones into the memory as unverified; where there are none, nothing is touched."""
    new = [each for each in arrivals if each.fate == "new"]
    if not new:
        return
    today = datetime.now(UTC).date().isoformat()

    def change(document: Document) -> Document:
        there = {entry.id for entry in document.entries}
        sections: dict[str, list[tuple[str, str | None]]] = {}
        for each in new:
            if each.id in there:
                continue
            there.add(each.id)
            tag = render_tag("unverified", Provenance(date=today, source=each.source))
            sections.setdefault(safe_section(each.section), []).append((each.text, tag))
        document = insert_sections(document, sections)
        desk.ledger.write(Act.PROPOSED, [each.id for each in new], channel="import")
        return document

    desk.change(change)


def _name(path: Path) -> str:
    return "standard input" if path == _STDIN else str(path)


def _kind_path(path: Path) -> str:
    return "" if path == _STDIN else str(path.resolve())


def _read(path: Path) -> bytes:
    """The bytes of a source. Raises MemoryFault, whose text goes on after its name, for what cannot be read."""
    if path == _STDIN:
        return _read_stdin()
    if is_denied(path.name):
        raise MemoryFault("it may hold credentials, so it is never read", "import another file")
    try:
        return read_plain(path, MOST_BYTES)
    except OSError as exc:
        if exc.errno == errno.EFBIG:
            raise MemoryFault(str(exc.strerror), "import a part of it") from exc
        raise MemoryFault(f"cannot be read: {exc.strerror}", "name files that are there and can be read") from exc


def _read_stdin() -> bytes:
    # A closed stream is None here.
    if sys.stdin is None or sys.stdin.isatty():
        raise MemoryFault("nothing is piped into it", "orch memory import - < FILE, or name the file")
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise MemoryFault(f"it is too large: {MOST_BYTES} bytes at most", "import a part of it")
    return data


def _arrival(fact: Foreign, path: Path, known: Facts, closed: Mapping[str, Line]) -> Arrival:
    entry = entry_id(fact.text)
    named = "stdin" if path == _STDIN else path.name
    source = "".join(char if char.isalnum() or char in "._-" else "-" for char in named)
    if find_secret(source) is not None:
        source = "a-file"
    fate, why = "new", ""
    try:
        require_entry(require_fit(fact.text))
    except (MemoryProblem, MemoryFault) as exc:
        fate, why = "refused", exc.message
    if fact.struck:
        fate, why = "refused", "it is struck through there"
    turned_down = fate == "new" and entry in closed
    if turned_down:
        fate, why = "refused", f"it was {closed[entry].act.value} before"
    elif fate == "new" and known.says(fact.text):
        fate, why = "known", "the memory says so already"
    return Arrival(
        id=entry,
        text=fact.text,
        section=fact.section,
        source=source,
        line=fact.line,
        fate=fate,
        why=why,
        tagged=fact.tagged,
        closed=turned_down,
    )
