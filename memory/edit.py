"""Changing the document: each edit touches the lines that it must and no other."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from memory.document import Document, parse, says_something
from memory.entry import Entry, Provenance, Trust
from memory.errors import MemoryFault
from memory.hidden import has_hidden
from memory.tag import parse_tag, render_tag

DEFAULT_SECTION = "Notes"
LONGEST_SECTION = 80


def is_sound_section(name: str) -> bool:
    """Whether a name makes one heading of just that name: one line that people can see, of no more than
    `LONGEST_SECTION` characters.
    """
    if not 0 < len(name) <= LONGEST_SECTION or name[0] == "#" or name != name.strip():
        return False
    if not name.isprintable() or has_hidden(name):
        return False
    try:
        return parse(f"## {name}\n".encode()).headings == ((name, 0),)
    except (UnicodeEncodeError, MemoryFault):
        return False


def insert_entry(document: Document, text: str, *, section: str, tag: str | None) -> Document:
    """Add a bullet at the end of a section; a section that is not there is made at the end."""
    return insert_entries(document, [(text, tag)], section=section)


def require_entry(text: str) -> None:
    """Raise MemoryFault for a text that would not be one entry of the file."""
    if not says_something(text):
        raise MemoryFault("an entry needs a text", "say one fact in words")
    if "\0" in text or "\r" in text.replace("\r\n", "\n"):
        raise MemoryFault("an entry cannot hold NUL or a bare carriage return")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise MemoryFault("an entry has to be UTF-8 text") from exc
    if not _is_one_entry(text):
        raise MemoryFault(
            "that text would not be one entry", "give one fact; leave out headings and bullets of its own"
        )


def insert_entries(document: Document, entries: Sequence[tuple[str, str | None]], *, section: str) -> Document:
    """Add bullets, each a text with its tag, at the end of a section, as `insert_entry` does with one."""
    return insert_sections(document, {section: entries})


def insert_sections(document: Document, sections: Mapping[str, Sequence[tuple[str, str | None]]]) -> Document:
    """Add bullets to many sections, as `insert_entries` does to one after the other, with the document read once."""
    eol = _eol(document)
    ends = _ends(document)
    inserted: dict[int, list[str]] = {}
    made: dict[str, list[str]] = {}
    for section, entries in sections.items():
        key = section.strip().casefold()
        at = ends.get(key)
        if at is None and key not in made:
            made[key] = [_heading(section) + eol]
        place = made[key] if at is None else inserted.setdefault(at, [])
        for text, tag in entries:
            place += _bullet_lines(text, tag, eol)
    lines = list(document.lines)
    if made:
        # What a code block or a comment that never ends would hide goes above it.
        end = len(lines) if document.unclosed is None else document.unclosed.line
        inserted[end] = inserted.get(end, []) + _made_lines(lines, end, list(made.values()), end in inserted, eol)
    return _rebuilt(_woven(lines, inserted, eol))


def _heading(section: str) -> str:
    if not is_sound_section(section):
        raise MemoryFault(
            "that is no name for a section",
            f"one plain line of at most {LONGEST_SECTION} characters, without marks",
        )
    return f"## {section}"


def _bullet_lines(text: str, tag: str | None, eol: str) -> list[str]:
    require_entry(text)
    body = [part.rstrip() for part in text.strip().split("\n")]
    first = f"- {tag} {body[0]}" if tag else f"- {body[0]}"
    return [first + eol, *(f"  {part}{eol}" if part else eol for part in body[1:])]


def _made_lines(lines: list[str], at: int, made: list[list[str]], follows: bool, eol: str) -> list[str]:
    """The lines of new sections that go in at `at`, parted by blank lines from what is around them."""
    new: list[str] = []
    for section in made:
        if new or follows or (at > 0 and lines[at - 1].strip("\r\n\ufeff")):
            new.append(eol)
        new += section
    if at < len(lines):
        new.append(eol)
    if at == 0 and lines and lines[0].startswith("\ufeff"):
        new[0], lines[0] = "\ufeff" + new[0], lines[0].removeprefix("\ufeff")
    return new


def _woven(lines: list[str], inserted: Mapping[int, list[str]], eol: str) -> list[str]:
    """The lines with others put in before the lines of those indices."""
    woven: list[str] = []
    done = 0
    for at in sorted(inserted):
        woven += lines[done:at]
        if woven and not woven[-1].endswith("\n"):
            woven[-1] += eol
        woven += inserted[at]
        done = at
    return woven + lines[done:]


def retag_entry(document: Document, entry: Entry, tag: str | None) -> Document:
    """Give an entry another tag (None: take it away); its text and every other line stay."""
    return retag_entries(document, [(entry, tag)])


def retag_entries(document: Document, tagged: Iterable[tuple[Entry, str | None]]) -> Document:
    """Give entries other tags, as `retag_entry` does with one."""
    lines = list(document.lines)
    for entry, tag in tagged:
        _retag(lines, entry, tag)
    return _rebuilt(lines)


def _retag(lines: list[str], entry: Entry, tag: str | None) -> None:
    start, rest = _bullet(lines[entry.first_line])
    old = parse_tag(rest)
    body = rest if old is None else rest[old.length :]
    # Without this a text such as "[trusted · …] x" would become the tag of what was untagged.
    if tag is None and parse_tag(body) is not None:
        tag = render_tag("human", Provenance())
    lines[entry.first_line] = f"{start}{tag} {body}" if tag else f"{start}{body}"


def strike_entry(document: Document, entry: Entry, provenance: Provenance) -> Document:
    """Strike an entry through as superseded; it stays in the file, for the reviewer."""
    return strike_entries(document, [(entry, provenance)])


def strike_entries(document: Document, struck: Iterable[tuple[Entry, Provenance]]) -> Document:
    """Strike entries through, as `strike_entry` does with one."""
    lines = list(document.lines)
    for entry, provenance in struck:
        _retag(lines, entry, render_tag("superseded", provenance))
        if entry.superseded:
            continue
        start, rest = _bullet(lines[entry.first_line])
        lines[entry.first_line] = f"{start}~~{rest}"
        last = lines[entry.last_line]
        body = last.rstrip("\r\n")
        lines[entry.last_line] = f"{body.rstrip()}~~{last[len(body) :]}"
    return _rebuilt(lines)


def unstrike_entry(document: Document, entry: Entry, tag: str | None) -> Document:
    """Take the strike-through of an entry away, and give it this tag: the reverse of `strike_entry`."""
    if not entry.superseded:
        return document
    lines = list(document.lines)
    start, rest = _bullet(lines[entry.first_line])
    lines[entry.first_line] = start + rest.removeprefix("~~")
    last = lines[entry.last_line]
    body = last.rstrip()
    lines[entry.last_line] = body.removesuffix("~~") + last[len(body) :]
    _retag(lines, entry, tag)
    return _rebuilt(lines)


def remove_entry(document: Document, entry: Entry) -> Document:
    """Take an entry's lines out."""
    return _without(document, [entry])


def remove_entries(document: Document, ids: Collection[str]) -> Document:
    """Take every bullet of these entries out."""
    while gone := [entry for entry in document.entries if entry.id in ids]:
        document = _without(document, gone)
    return document


def _without(document: Document, gone: Sequence[Entry]) -> Document:
    """The document without these entries' lines; blank ones stay there where what is around would else be read anew."""
    out = {number for entry in gone for number in range(entry.first_line, entry.last_line + 1)}
    found = _rebuilt([line for number, line in enumerate(document.lines) if number not in out])
    taken = {entry.first_line for entry in gone}
    left = [entry.text for entry in document.entries if entry.first_line not in taken]
    if [entry.text for entry in found.entries] == left:
        return found
    eol = _eol(document)
    parted = (
        eol if number in taken else line for number, line in enumerate(document.lines) if number not in out - taken
    )
    return _rebuilt(list(parted))


def tag_of(trust: Trust, provenance: Provenance) -> str | None:
    """The tag for an entry of that trust; a person's has none."""
    return None if trust is Trust.HUMAN else render_tag(trust.word, provenance)


def _rebuilt(lines: list[str]) -> Document:
    return parse("".join(lines).encode("utf-8"))


def _bullet(line: str) -> tuple[str, str]:
    """Split a bullet's first line into what stands before its text, and the text with the line's end."""
    mark = next(i for i, char in enumerate(line) if char in "-*+")
    start = mark + 1
    while start < len(line) and line[start] in " \t":
        start += 1
    # The text of a bullet may begin below it.
    return line[:start] if start > mark + 1 else f"{line[:start]} ", line[start:]


def _eol(document: Document) -> str:
    return "\r\n" if document.lines and document.lines[0].endswith("\r\n") else "\n"


def _ends(document: Document) -> dict[str, int]:
    """For each section, in lower case, the index of the line after its last bullet, or else after its heading."""
    ends: dict[str, int] = {}
    for name, at in document.headings:
        ends.setdefault(name.casefold(), at + 1)
    return ends | {entry.section.casefold(): entry.last_line + 1 for entry in document.entries}


def _is_one_entry(text: str) -> bool:
    """Whether the text, written as a bullet, is read back as that one bullet."""
    body = [part.rstrip() for part in text.strip().split("\n")]
    alone = "\n".join([f"- {body[0]}", *(f"  {part}" if part else "" for part in body[1:])])
    found = parse(alone.encode()).entries
    return len(found) == 1 and found[0].last_line == len(body) - 1
