"""Words of one meaning to a developer: `data/synonyms.txt`."""

from functools import cache
from pathlib import Path

from memory.stems import stem
from memory.vocabulary import STOP

_FILE = Path(__file__).resolve().parent / "data" / "synonyms.txt"


def wordings_of(word: str) -> frozenset[str]:
    """The words that mean the same as a word in any of its forms, its own forms among them."""
    root = stem(word)
    return _wordings(root[:1]).get(root, frozenset())


@cache
def _wordings(initial: str) -> dict[str, frozenset[str]]:
    """The words by what they mean the same as: the stems that begin with a letter, as whatever is stemmed to them does.

    A question needs a few letters, and to stem the whole file would take longer than to search a large memory.
    """
    found: dict[str, set[str]] = {}
    for members in _groups():
        for name in {stem(word) for word in members if word[:1].casefold() == initial}:
            found.setdefault(name, set()).update(members)
    return {name: frozenset(members) for name, members in found.items()}


@cache
def _groups() -> tuple[tuple[str, ...], ...]:
    lines = (line for line in _FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return tuple(tuple(word for word in line.split() if word not in STOP) for line in lines)
