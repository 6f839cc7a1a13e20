"""The tag of an entry: `[unverified · 2026-06-30 · agent a1b2 · codex · sha 04e2aed]`, read and written."""

import re
from dataclasses import dataclass
from functools import cache

from memory.entry import SEPARATOR, Provenance, Trust
from memory.hidden import has_hidden

WORDS = ("human", "trusted", "unverified", "superseded")
# A tag is a bracket at the very start that holds one of our words alone, or any word followed by our separator.
_TAG = re.compile(r"\[(?P<word>[A-Za-z-]+)(?P<fields>(?:\s*·\s*[^\[\]·\n]+)*)\](?!\()\s*")
# A bracket with one of our words that is no tag as we write it: a slip of the pen must not make a person's entry of it.
_SLIP = (
    r"\[\s*(?:un-?verified|verified|trusted|human|superseded)\s*(?:\]|(?:[,;|·:]|\s[-–—/]|\s\d)[^\[\]\n]*\])(?!\()\s*"
)


_MEANT = (*WORDS, "verified", "trust", "untrusted")
_LABELS = ("human ", "trust ")  # "human error", "trust store": labels of a person's own
_BRACKET = re.compile(
    r"[*_\[]{0,3}(?P<open>[\[{(【])(?P<inside>[^\[\](){}【】\n]{1,120})(?:[\]})】](?![(\[])[\]*_]{0,3}|(?=\[)|$)",
    re.MULTILINE,
)
_FIELD = re.compile(r"\bagents?\s+[0-9a-f]{2,6}\b|\bsha\s+[0-9a-f]{7,}\b|^\w+\W+\d{4}-\d{2}-\d{2}\b(?:\W|$)")


@dataclass(frozen=True, kw_only=True)
class Tag:
    """A tag as read. `word` is lower case and may be none of ours; `length` is how much of the text it takes."""

    word: str
    provenance: Provenance
    written: str
    length: int

    @property
    def known(self) -> bool:
        """Whether its word is one of ours."""
        return self.word in WORDS

    @property
    def claimed(self) -> Trust:
        """The trust that it claims; a word that is none of ours claims nothing."""
        return {"human": Trust.HUMAN, "trusted": Trust.TRUSTED}.get(self.word, Trust.UNVERIFIED)


def parse_tag(text: str) -> Tag | None:
    """Read the tag that `text` starts with; None when it starts with none (a link or a check box is no tag)."""
    if not text.startswith("["):
        return None
    found = _TAG.match(text)
    if found is None:
        return _slip(text)
    word = found["word"].lower()
    fields = [field.strip() for field in found["fields"].split("·")[1:]]
    if word not in WORDS and not fields:
        return _slip(text)
    return Tag(word=word, provenance=_provenance(fields), written=found[0].rstrip(), length=found.end())


def likely_slip(text: str) -> str | None:
    """The beginning of a text that `parse_tag` takes for no tag, but that was probably meant as one.

    That is a bracket whose first word is nearly one of ours (`[unverifed]`, `[trusted a1b2]`), that holds a field as a
    tag does (`[WIP 2026-01-01]`, `[agent a1b2]`), or that is put in marks of Markdown. A link, a check box, and a label
    such as `[WIP]` are none.
    """
    found = _BRACKET.match(text)
    if found is None:
        return None
    inside = found["inside"].strip().lower()
    words = re.findall(r"[a-z0-9-]+", inside)
    if _FIELD.search(inside):
        return found[0].strip()
    if not words or (len(words) > 1 and (found["open"] == "(" or inside.startswith(_LABELS))):
        return None
    # "un verified" is one word to whoever wrote it.
    return found[0].strip() if _is_near(words[0]) or _is_near("".join(words[:2])) else None


def _is_near(word: str) -> bool:
    from difflib import get_close_matches

    return bool(get_close_matches(word, _MEANT, n=1, cutoff=0.8))


def _slip(text: str) -> Tag | None:
    found = re.match(_SLIP, text, re.IGNORECASE)
    if found is None:
        return None
    written = found[0].rstrip()
    return Tag(word=written.strip("[]").lower(), provenance=Provenance(), written=written, length=found.end())


def render_tag(word: str, provenance: Provenance) -> str:
    """Write a tag on one line; `parse_tag` reads it back.

    Names come from outside (git allows nearly anything in that of a branch): what would end the tag or one of its
    fields, or cannot be seen, becomes `-`.
    """
    fields = [word]
    if provenance.date:
        fields.append(provenance.date)
    if provenance.agents:
        agents = (each.replace(",", "-") for each in provenance.agents)
        fields.append(("agent " if len(provenance.agents) == 1 else "agents ") + ", ".join(agents))
    if provenance.backend:
        fields.append(provenance.backend)
    if provenance.branch:
        fields.append(f"branch {provenance.branch}")
    if provenance.source:
        fields.append(f"source {provenance.source}")
    if provenance.sha:
        fields.append(f"sha {provenance.sha}")
    return f"[{SEPARATOR.join(_plain(field) for field in [*fields, *provenance.other])}]"


def _plain(field: str) -> str:
    if field.isascii() and field.isprintable() and "[" not in field and "]" not in field:
        return field
    return "".join("-" if char in "[]·" or not char.isprintable() or has_hidden(char) else char for char in field)


@cache
def _kinds() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What a date, a field with a word before it, and a name look like; most files hold no tags."""
    return (
        re.compile(r"\d{4}-\d{2}-\d{2}\Z"),
        re.compile(r"(agents?|sha|branch|source)\s+(.+)\Z"),
        re.compile(r"[a-z][a-z0-9_-]*\Z"),
    )


def _provenance(fields: list[str]) -> Provenance:
    date, field_of, name = _kinds()
    values: dict[str, str] = {}
    agents: tuple[str, ...] = ()
    other = []
    for field in fields:
        named = field_of.match(field)
        if date.match(field) and "date" not in values:
            values["date"] = field
        elif named and named[1].startswith("agent"):
            agents = tuple(name.strip() for name in named[2].split(",") if name.strip())
        elif named and named[1] not in values:
            values[named[1]] = named[2]
        elif name.match(field) and "backend" not in values:
            values["backend"] = field
        else:
            other.append(field)
    return Provenance(agents=agents, other=tuple(other), **values)
