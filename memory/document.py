"""The memory file: read without loss, its bullets found, everything else a person's and left alone."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from memory.entry import Entry, Provenance, Trust, beginning_with, entry_id
from memory.errors import MemoryFault
from memory.tag import parse_tag

# A memory is read by people as a diff; what is larger than this is not one, and would stall every spawn.
MOST_BYTES = 16 * 1024 * 1024

_BULLET = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+])(?P<gap>[ \t]+|\Z)(?P<text>.*)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})(?:[ \t]+(?P<text>.*?))?[ \t]*#*[ \t]*\Z")
_BREAK = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_OPENING = "#-*+_`~<"  # the characters that a heading, a bullet, a break, a fence or a comment begins with
_CONFLICT = re.compile(r"(?:<{7}|>{7}) ")


@dataclass(frozen=True, kw_only=True)
class Unclosed:
    """A code block or comment that opens at `line` (0-based) and never ends; it hides so many `entries` below it."""

    line: int
    what: str
    entries: int


@dataclass(frozen=True, kw_only=True)
class Document:
    """A parsed memory file. `lines` are its lines with their endings; joined they are the file's text."""

    lines: tuple[str, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The bullets, in document order."""
        return self._read[0]

    @property
    def headings(self) -> tuple[tuple[str, int], ...]:
        """The sections' names with their line numbers (0-based)."""
        return self._read[1]

    @property
    def unclosed(self) -> Unclosed | None:
        """What hides the rest of the file; None when every code block and comment ends."""
        return self._read[2]

    @property
    def empty(self) -> tuple[int, ...]:
        """The lines (0-based) of bullets that say nothing, which are no entries."""
        return self._read[3]

    @cached_property
    def _read(self) -> tuple[tuple[Entry, ...], tuple[tuple[str, int], ...], Unclosed | None, tuple[int, ...]]:
        # Read when asked for: the last step of a change only writes, and a memory may have thousands of entries.
        headings: list[tuple[str, int]] = []
        lines = [line.rstrip("\r\n") for line in self.lines]
        found, opened = _entries(lines, headings, set())
        entries, empty = [], []
        for entry in found:
            if says_something(entry.text):
                entries.append(entry)
            else:
                empty.append(entry.first_line)
        unclosed = None if opened is None else _unclosed(lines, opened)
        return tuple(entries), tuple(headings), unclosed, tuple(empty)

    def serialise(self) -> bytes:
        """The file's bytes: exactly those that were parsed."""
        return "".join(self.lines).encode("utf-8")

    def entry(self, prefix: str) -> Entry | None:
        """The entry whose id starts with `prefix`; None when there is none, MemoryFault when it is not unique."""
        by_id, ids = self._named
        found = beginning_with(prefix, ids)
        if len(found) > 1:
            raise MemoryFault(f"{prefix!r} is the beginning of several entries: {', '.join(found)}", "give more of it")
        return by_id[found[0]] if found else None

    @cached_property
    def _named(self) -> tuple[dict[str, Entry], list[str]]:
        # Of two with the same text the one that is not struck through is meant.
        by_id = {entry.id: entry for entry in sorted(self.entries, key=lambda each: not each.superseded)}
        return by_id, sorted(by_id)


# The file and its last commit are mostly the same bytes, and both are read for every answer and every render.
@lru_cache(maxsize=2)
def parse(data: bytes) -> Document:
    """Read a memory file; `serialise` gives the same bytes back.

    Raises MemoryFault for what is no text (not UTF-8, NUL bytes), is too large, or holds merge-conflict markers.
    """
    if len(data) > MOST_BYTES:
        raise MemoryFault(
            f"the memory file is too large: {len(data)} bytes, {MOST_BYTES} at most",
            "keep what agents need in it, and move the rest elsewhere",
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise MemoryFault(f"the memory file is not UTF-8: line {line}, byte {exc.start}", "convert it: iconv") from exc
    if "\0" in text:
        raise MemoryFault(f"the memory file holds a NUL byte in line {text[: text.index(chr(0))].count(chr(10)) + 1}")
    lines = tuple(text.splitlines(keepends=True)) if _plain(text) else _split(text)
    _refuse_conflicts([line.rstrip("\r\n") for line in lines])
    return Document(lines=lines)


def says_something(text: str) -> bool:
    """Whether there is anything but space, marks and remarks in a text: a letter, a digit or a symbol."""
    if any(char.isalnum() for char in (_without_remarks(text) if "<!--" in text else text)):
        return True
    if text.isascii():
        return False
    from unicodedata import category

    return any(char > "\x7f" and category(char)[0] == "S" for char in text)


def _without_remarks(text: str) -> str:
    return re.sub(r"<!--.*?(?:-->|\Z)", "", text, flags=re.DOTALL)


def _plain(text: str) -> bool:
    """Whether str.splitlines cuts at newlines only (it also cuts at form feeds, U+2028 and others)."""
    return text.isascii() and not any(char in text for char in "\r\v\f\x1c\x1d\x1e")


def _split(text: str) -> tuple[str, ...]:
    parts = text.split("\n")
    return tuple(part + "\n" for part in parts[:-1]) + ((parts[-1],) if parts[-1] else ())


def _refuse_conflicts(lines: list[str]) -> None:
    marked = [number for number, line in enumerate(lines) if line[:1] in "<>" and _CONFLICT.match(line)]
    if not marked:
        return
    hidden: set[int] = set()
    _entries(lines, [], hidden)  # a code block may well show what a conflict looks like
    left = [number for number in marked if number not in hidden]
    if left:
        raise MemoryFault(
            f"the memory file holds an unresolved merge conflict at line {left[0] + 1}", "resolve it first"
        )


@dataclass(kw_only=True, eq=False, repr=False)
class _Open:
    """A bullet that is being read. `offset` is the column where its text starts."""

    first: int
    last: int
    offset: int
    text: list[str]
    section: str
    blank: bool = False


def _unclosed(lines: list[str], opened: int) -> Unclosed:
    # What looks like the beginning of another one is hidden too, so it hides nothing by itself.
    hidden, _ = _entries(["" if _skipped(line) else line for line in lines[opened + 1 :]], [], set())
    what = "comment" if lines[opened].lstrip("\ufeff \t").startswith("<!--") else "code block"
    return Unclosed(line=opened, what=what, entries=sum(says_something(entry.text) for entry in hidden))


def _entries(lines: list[str], headings: list[tuple[str, int]], inner: set[int]) -> tuple[list[Entry], int | None]:
    """The bullets; and the line of a code block or comment that never ends.

    `headings` takes the sections' names with their lines, `inner` the lines that are inside of a code block or comment.
    """
    found: list[Entry] = []
    section = ""
    current: _Open | None = None
    skip: re.Pattern[str] | None = None
    opened = 0
    prose = -2
    for number, raw in enumerate(lines):
        line = raw.removeprefix("\ufeff") if number == 0 else raw
        if skip is not None:
            inner.add(number)
            if skip.search(line):
                skip = None
            continue
        if current is not None and _continues(current, line):
            _extend(current, line, number)
            continue
        if not line.strip():
            if current is not None:
                current.blank = True
            continue
        if current is not None:
            found.append(_close(current))
            current = None
        heading = _HEADING.match(line)
        bullet = None if _BREAK.match(line) else _BULLET.match(line)
        if bullet is not None and not bullet["text"] and prose == number - 1:
            bullet = None  # a dash below prose underlines it
        if heading is not None:
            # The first-level heading is the document's title, not a section.
            section = (heading["text"] or "").strip() if len(heading["level"]) > 1 else ""
            if section:
                headings.append((section, number))
        elif bullet is not None and _width(bullet["indent"]) < 4:
            current = _begin(bullet, number, section)
        else:
            skip, opened, prose = _skipped(line), number, number
    if current is not None:
        found.append(_close(current))
    return found, None if skip is None else opened


def _begin(bullet: re.Match[str], number: int, section: str) -> _Open:
    gap = _width(bullet["gap"])
    offset = _width(bullet["indent"]) + 1 + (gap if 1 <= gap <= 4 else 1)
    return _Open(first=number, last=number, offset=offset, text=[bullet["text"].strip()], section=section)


def _continues(current: _Open, line: str) -> bool:
    """Whether a line belongs to the bullet above it: indented below it, or (right below its text) plain text."""
    if not line.strip():
        return False
    indent = _width(line[: len(line) - len(line.lstrip(" \t"))])
    if indent >= current.offset:
        return True
    if current.blank or current.text == [""]:
        return False
    if line.lstrip()[0] not in _OPENING:
        return True
    if _BULLET.match(line) or _HEADING.match(line) or _BREAK.match(line) or _FENCE.match(line):
        return False
    return not line.lstrip().startswith("<!--")


def _extend(current: _Open, line: str, number: int) -> None:
    expanded = line.expandtabs(4)
    inner = expanded[current.offset :] if not expanded[: current.offset].strip() else expanded.lstrip()
    if current.blank:
        current.text.append("")
        current.blank = False
    current.text.append(inner.rstrip())
    current.last = number


def _close(current: _Open) -> Entry:
    text = "\n".join(current.text).strip()
    struck = len(text) > 4 and text.startswith("~~") and text.endswith("~~")
    if struck:
        text = text[2:-2].strip()
    tag = parse_tag(text)
    said = text if tag is None else text[tag.length :].strip()
    return Entry(
        id=entry_id(said),
        text=said,
        section=current.section,
        claimed=Trust.HUMAN if tag is None else tag.claimed,
        superseded=struck or (tag is not None and tag.word == "superseded"),
        provenance=Provenance() if tag is None else tag.provenance,
        tag=None if tag is None else tag.written,
        unknown_tag=tag is not None and not tag.known,
        first_line=current.first,
        last_line=current.last,
    )


def _skipped(line: str) -> re.Pattern[str] | None:
    """The end of a code block or a comment that `line` opens at the top level: what is inside holds no entries."""
    fence = _FENCE.match(line)
    if fence is not None:
        mark = fence["fence"]
        return re.compile(rf"^ {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
    if line.lstrip().startswith("<!--") and "-->" not in line:
        return re.compile("-->")
    return None


def _width(space: str) -> int:
    return len(space.expandtabs(4)) if "\t" in space else len(space)
