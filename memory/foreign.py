"""Facts in other tools' memories: a warden memory, an OpenWolf cerebrum, Claude's auto-memory, plain lists."""

import re
from dataclasses import dataclass, replace

from memory.errors import MemoryFault
from memory.tag import Tag, parse_tag

_BULLET = re.compile(r"^(?P<indent>\s{0,3})[-*+]\s+(?P<text>\S.*)$")
_NUMBERED = re.compile(r"^(?P<indent>\s{0,3})\d+[.)]\s+(?P<text>\S.*)$")
_LINK = re.compile(r"\[(?P<label>[^\]]*)\]\((?!\w+://)[^)]*\)(?:\s*[—–-]\s*(?P<rest>.*))?")
_HEADING = re.compile(r"^#{1,6}\s+(?P<text>.*?)\s*#*$")
_STAMP = re.compile(r"^(?:\[\d{4}-\d{2}-\d{2}[^\]]*\]|\*\*\d{4}-\d{2}-\d{2}\*\*|\d{4}-\d{2}-\d{2})\s*[:—–-]?\s*")
_WARDEN_TAG = re.compile(r"^\[[^\]]*\]\s*|\s*<!--.*?-->\s*$")
_SECTIONS = {"do-not-repeat": "Do not repeat", "do not repeat": "Do not repeat", "dnr": "Do not repeat"}
_CONFLICT = re.compile(r"(?:<{7}|>{7}) ")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """One fact from elsewhere, with the section that it should go into and the line (from 1) that it stands on.

    `tagged` is that it has a tag of ours there, `superseded` that this tag says so.
    """

    text: str
    section: str
    line: int
    tagged: bool = False
    superseded: bool = False

    @property
    def struck(self) -> bool:
        """Whether it counts no more there: by its tag, or struck through from its beginning to its end."""
        said = self.text.rstrip(" .")
        wholly = len(said) > 4 and said.startswith("~~") and said.endswith("~~") and "~~" not in said[2:-2]
        return self.superseded or wholly


def kind_of(path: str, text: str) -> str:
    """What a file is: `warden`, `openwolf`, `claude` or `list`, by its name and its look."""
    lowered = path.replace("\\", "/").lower()
    if ".warden/" in lowered:
        return "warden"
    if lowered.endswith("cerebrum.md") or ".wolf/" in lowered:
        return "openwolf"
    if "/memory/" in lowered and (".claude" in lowered or text.startswith("---\n")):
        return "claude"
    return "list"


def read_foreign(path: str, data: bytes) -> tuple[Foreign, ...]:
    """Every bullet of a file as a fact, with the bullets that are indented below it, since they may say nothing or the
    contrary alone; dates and tags of the other tool are taken off, code blocks passed over.

    Raises MemoryFault for what is no UTF-8 text or holds an unresolved merge conflict.
    """
    text = _text(data)
    kind = kind_of(path, text)
    skipped = 0
    if kind == "claude" and (front := _FRONT.match(text)):
        skipped = front[0].count("\n")
        text = text[front.end() :]
    found: list[Foreign] = []
    section = ""
    fenced = False
    top = last = 0  # the indent of the last fact's bullet, and the line that the fact ends on
    for number, line in enumerate(text.split("\n"), skipped + 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if fenced:
            continue
        if _CONFLICT.match(line):
            raise MemoryFault(f"it holds an unresolved merge conflict at line {number}", "resolve it first")
        heading = _HEADING.match(line)
        bullet = _BULLET.match(line) or _NUMBERED.match(line)
        below = bool(found) and number == last + 1 and line.strip() and _indent(line) >= top + 2
        if heading is not None:
            section = heading["text"].strip()
        elif below:
            nested = line.lstrip()[0] in "-*+" or _NUMBERED.match(line.strip()) is not None
            inner = "\n" + " " * (_indent(line) - top - 2) if nested else " "
            found[-1] = replace(found[-1], text=f"{found[-1].text}{inner}{line.strip()}")
            last = number
        elif bullet is not None:
            fact, tag = _fact(kind, bullet["text"])
            if fact:
                top, last = len(bullet["indent"].expandtabs(4)), number
                superseded = tag is not None and tag.word == "superseded"
                found.append(
                    Foreign(
                        text=fact,
                        section=_section(section),
                        line=number,
                        tagged=tag is not None,
                        superseded=superseded,
                    )
                )
    return tuple(found)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise MemoryFault(f"it is not UTF-8 text (line {line})", "convert it: iconv") from exc


def _fact(kind: str, text: str) -> tuple[str, Tag | None]:
    """What a bullet says, "" for no fact, and the tag of ours that it has there."""
    said = text.strip()
    tag = parse_tag(said)
    if kind == "warden":
        said = _WARDEN_TAG.sub("", said).strip()
        inner = parse_tag(said)
        said, tag = (said, tag) if inner is None else (said[inner.length :], inner)
    elif tag is not None:
        said = said[tag.length :]  # what it claims there counts for nothing here
    said = _STAMP.sub("", said).strip()
    if said.startswith(("[ ] ", "[x] ")):
        said = said[4:]
    # A link to another file of that memory (Claude's index) is no fact; what is said beside it is one.
    link = _LINK.fullmatch(said)
    if link is not None:
        said = f"{link['label']}: {link['rest']}" if link["rest"] else ""
    return "" if len(said) < 4 else said, tag


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


def _section(name: str) -> str:
    return _SECTIONS.get(name.casefold(), name)
