"""What is an instance of what, to a developer (`data/kinds.txt`): a text on Postgres answers `Which database …`."""

from functools import cache
from pathlib import Path

from memory.stems import stem
from memory.tokeniser import words

_FILE = Path(__file__).resolve().parent / "data" / "kinds.txt"


def instances_in(question: str) -> dict[str, frozenset[str]]:
    """For each word (in lower case) of the kinds that a question names, the names that are instances of its kind.

    A kind of several words is taken before the shorter ones that are in it.
    """
    said = [word.casefold() for word in words(question)]
    stems = [stem(word) for word in said]
    found: dict[str, frozenset[str]] = {}
    at = 0
    while at < len(said):
        kinds = _kinds(stems[at][:1])
        longest = max(map(len, kinds), default=0)
        length = next((n for n in range(longest, 0, -1) if tuple(stems[at : at + n]) in kinds), 0)
        for word in said[at : at + length]:
            found[word] = kinds[tuple(stems[at : at + length])]
        at += max(length, 1)
    return found


def has_instance(names: frozenset[str], text: str) -> bool:
    """Whether a text has one of the names; one that is written with a capital has to stand there so."""
    found = words(text, whole=True)
    return not names.isdisjoint(found) or not names.isdisjoint(word.casefold() for word in found)


@cache
def _kinds(initial: str) -> dict[tuple[str, ...], frozenset[str]]:
    """The names of each kind, by the stems of its words; of the kinds that begin with a letter, as their stems do."""
    found: dict[tuple[str, ...], frozenset[str]] = {}
    for kind, names in _lines():
        if kind[0][:1].casefold() == initial:
            key = tuple(stem(word) for word in kind)
            found[key] = found.get(key, frozenset()) | names
    return found


@cache
def _lines() -> tuple[tuple[tuple[str, ...], frozenset[str]], ...]:
    """The kinds, by the words of each, with their names."""
    found = []
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        kinds, colon, names = line.partition(":")
        if line.startswith("#") or not colon:
            continue
        found += [(tuple(words(kind)), frozenset(names.split())) for kind in kinds.split(",")]
    return tuple(found)
