"""Whether two wordings say the same fact, or contradict each other: deterministic, from their words alone."""

import re
from dataclasses import dataclass
from functools import lru_cache

from memory.entry import normalise

_TOKEN = re.compile(r"`([^`]+)`|([^\s`\"'(),;!?]+)")
_NEGATIONS = frozenset(
    re.split(
        r"\s+",
        "not never no don't dont doesn't doesnt cannot can't cant without avoid isn't isnt aren't arent won't wont "
        "nothing neither nor nowhere mustn't shouldn't",
    )
)
_EMPTY = frozenset(
    re.split(
        r"\s+",
        "a an the is are be been to of in on at for with by from and or it its this that these those there here do "
        "does as so then we you i they has have will can must should please always only",
    )
)
_ALIKE = 0.8
_LEAST_WORDS = 2


@dataclass(frozen=True, kw_only=True)
class Gist:
    """What is left of a text: its content words, its exact values (code, paths, numbers), and whether it denies."""

    words: frozenset[str]
    values: frozenset[str]
    denies: bool


@lru_cache(maxsize=20_000)
def gist(text: str) -> Gist:
    """Take the gist of a text."""
    words, values, denials = set(), set(), 0
    for code, word in _TOKEN.findall(normalise(text)):
        if code:
            values.add(code.strip())
            continue
        bare = word.strip(".:")
        if bare in _NEGATIONS:
            denials += 1
        elif re.search(r"[\d/_=]|\w\.\w", bare):
            values.add(bare)
        elif bare and bare not in _EMPTY:
            words.add(_stem(bare))
    return Gist(words=frozenset(words), values=frozenset(values), denies=denials % 2 == 1)


def same_fact(one: str, other: str) -> bool:
    """Whether two texts say the same: equal values, equal denial, and nearly the same words."""
    a, b = gist(one), gist(other)
    if normalise(one) == normalise(other):
        return True
    return a.values == b.values and a.denies == b.denies and _alike(a, b)


def contradicts(new: str, old: str) -> bool:
    """Whether `new` says something else about what `old` is about: the same words with another value, or denied."""
    a, b = gist(new), gist(old)
    if a.words != b.words or len(a.words) < _LEAST_WORDS:
        return False
    if a.denies != b.denies:
        return a.values == b.values
    return a.values != b.values and len(a.values) == len(b.values) and bool(a.values)


def _alike(a: Gist, b: Gist) -> bool:
    together = a.words | b.words
    if len(a.words & b.words) < _LEAST_WORDS:
        return a.words == b.words and bool(a.values)
    return len(a.words & b.words) / len(together) >= _ALIKE


def _stem(word: str) -> str:
    """The singular of a plural, near enough."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
