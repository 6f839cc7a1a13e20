"""Facts in other tools' memories: a warden memory, an OpenWolf cerebrum, Claude's auto-memory, plain lists."""

import re
from dataclasses import dataclass

from memory.tag import parse_tag

_BULLET = re.compile(r"^\s{0,3}[-*+]\s+(?P<text>\S.*)$")
_NUMBERED = re.compile(r"^\s{0,3}\d+[.)]\s+(?P<text>\S.*)$")
_HEADING = re.compile(r"^#{1,6}\s+(?P<text>.*?)\s*#*$")
_STAMP = re.compile(r"^(?:\[\d{4}-\d{2}-\d{2}[^\]]*\]|\*\*\d{4}-\d{2}-\d{2}\*\*|\d{4}-\d{2}-\d{2})\s*[:—–-]?\s*")
_WARDEN_TAG = re.compile(r"^\[[^\]]*\]\s*|\s*<!--.*?-->\s*$")
_SECTIONS = {"do-not-repeat": "Do not repeat", "do not repeat": "Do not repeat", "dnr": "Do not repeat"}
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """One fact from elsewhere, with the section that it should go into and the line (from 1) that it stands on."""

    text: str
    section: str
    line: int


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
    """Every bullet of a file as a fact; dates and tags of the other tool are taken off, code blocks passed over.

    Raises ValueError for what is no UTF-8 text.
    """
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    kind = kind_of(path, text)
    skipped = 0
    if kind == "claude" and (front := _FRONT.match(text)):
        skipped = front[0].count("\n")
        text = text[front.end() :]
    found: list[Foreign] = []
    section = ""
    fenced = False
    for number, line in enumerate(text.split("\n"), skipped + 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if fenced:
            continue
        heading = _HEADING.match(line)
        bullet = _BULLET.match(line) or _NUMBERED.match(line)
        if heading is not None:
            section = heading["text"].strip()
        elif bullet is not None:
            fact = _fact(kind, bullet["text"])
            if fact:
                found.append(Foreign(text=fact, section=_section(section), line=number))
        elif found and line.startswith(("  ", "\t")) and line.strip() and number == found[-1].line + 1:
            found[-1] = Foreign(text=f"{found[-1].text} {line.strip()}", section=found[-1].section, line=number)
    return tuple(found)


def _fact(kind: str, text: str) -> str:
    said = text.strip()
    if kind == "warden":
        said = _WARDEN_TAG.sub("", said).strip()
    tag = parse_tag(said)
    if tag is not None:
        # What it claims there counts for nothing here; what is struck there stays so.
        said = ("~~" if tag.word == "superseded" else "") + said[tag.length :]
    said = _STAMP.sub("", said).strip()
    if said.startswith(("[ ] ", "[x] ")):
        said = said[4:]
    # A link to another file of that memory (Claude's index) is no fact.
    return "" if re.fullmatch(r"\[[^\]]*\]\([^)]*\)(\s*[—–-].*)?", said) or len(said) < 4 else said


def _section(name: str) -> str:
    return _SECTIONS.get(name.casefold(), name)
