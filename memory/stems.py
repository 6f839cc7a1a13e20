"""Stems of words: Snowball's English stemmer (Porter 2), each word stemmed once."""

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Protocol

from memory.tokeniser import words


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of one word, in lower case."""
    return _stemmer().stemWord(word.casefold())


def stems_of(text: str) -> frozenset[str]:
    """The stems of a text; a camelCase name counts as a whole and by its humps."""
    return stems_in(words(text, whole=True))


def stems_in(found: Iterable[str]) -> frozenset[str]:
    """The stems of words."""
    return frozenset(stem(word) for word in found)


@cache
def _stemmer() -> _Stemmer:
    import snowballstemmer

    found: _Stemmer = snowballstemmer.stemmer("english")
    return found
