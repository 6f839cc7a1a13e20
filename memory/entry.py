"""An entry of the memory: one bullet, with what its tag claims about it."""

import sys
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

# The interpreter's own SHA-256, as the standard library's `random` takes its own: `hashlib` loads OpenSSL first, which
# takes as long as adding an entry does.
try:
    if sys.version_info >= (3, 12):
        from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]
    else:
        from _sha256 import sha256  # type: ignore[import-not-found,unused-ignore]
except ImportError:  # another implementation of Python
    from hashlib import sha256

SEPARATOR = " · "
_ID_LENGTH = 10


class Trust(IntEnum):
    """How far an entry is to be believed; higher is more."""

    UNVERIFIED = 1
    TRUSTED = 2
    HUMAN = 3

    @property
    def word(self) -> str:
        """The name as it stands in a tag."""
        return self.name.lower()


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What a tag says about the origin of an entry. `date` is ISO (YYYY-MM-DD); `other` are fields of no known kind."""

    date: str | None = None
    agents: tuple[str, ...] = ()
    backend: str | None = None
    sha: str | None = None
    branch: str | None = None
    source: str | None = None
    other: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One bullet.

    `text` is what it says: without bullet, tag and strike-through, inner lines joined by newlines with their
    indentation below the bullet kept. `claimed` is what the tag says (no tag: human); what it counts for is
    `memory.trust`'s to say. `tag` is the tag as written, None for none, `unknown_tag` that its word is none of ours.
    `first_line` to `last_line` (0-based, inclusive) are its lines in the file.
    """

    id: str
    text: str
    section: str
    claimed: Trust
    superseded: bool
    provenance: Provenance
    tag: str | None
    unknown_tag: bool
    first_line: int
    last_line: int


def normalise(text: str) -> str:
    """What two wordings of the same entry have in common: case, spacing and a final full stop do not count."""
    if text.isascii():
        folded = text.lower()  # what the general way comes to, for most of what is written
    else:
        import unicodedata

        folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).rstrip(".").rstrip()


def entry_id(text: str) -> str:
    """The id of an entry: a short hash of its normalised text, so the file needs to carry none."""
    digest: str = sha256(normalise(text).encode("utf-8", "surrogatepass")).hexdigest()
    return digest[:_ID_LENGTH]


def wording(text: str) -> str:
    """The exact wording of a text, which is what people vouch for, where the id says what it is about: only its spacing
    does not count.
    """
    return " ".join(text.split())


def wording_id(text: str) -> str:
    """A short hash of the wording."""
    digest: str = sha256(wording(text).encode("utf-8", "surrogatepass")).hexdigest()
    return digest[:_ID_LENGTH]


def beginning_with(prefix: str, ids: Sequence[str]) -> list[str]:
    """Those of the ids, which are sorted, that begin so; the empty prefix begins none."""
    found: list[str] = []
    at = bisect_left(ids, prefix) if prefix else len(ids)
    while at < len(ids) and ids[at].startswith(prefix):
        found.append(ids[at])
        at += 1
    return found
