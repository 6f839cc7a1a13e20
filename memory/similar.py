"""Whether two wordings say the same fact, or contradict each other: deterministic, from their words alone."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from memory.entry import normalise

_TOKEN = re.compile(r"`([^`]+)`|(!(?=[\w(=])|[^\s`\"'(),;!?]+)")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_EMPHASIS = "*_~"
_NEGATIONS = frozenset(
    re.split(
        r"\s+",
        "not never no dont doesnt didnt cannot cant couldnt without avoid isnt arent aint wasnt werent wont wouldnt "
        "hasnt havent hadnt nothing neither nor nowhere mustnt shouldnt neednt !",
    )
)
_EMPTY = frozenset(
    re.split(
        r"\s+",
        "a an the is are be been to of in on at for with by from and or it its this that these those there here do "
        "does as so then we you i they has have will can must should please always only longer",
    )
)
_NUMBER = re.compile(r"[v:]?\d+(?:[.:]\d+)*\Z")
_ALIKE = 0.8
_SHARE = 5  # one word of so many may differ: 1 / (1 - _ALIKE)
_LEAST_WORDS = 2


@dataclass(frozen=True, kw_only=True)
class Gist:
    """What is left of a text: its content words, its exact values (code, paths, numbers), and whether it denies.

    `said` are the words, those of the values among them: what is left of the text without its marks.
    """

    words: frozenset[str]
    values: frozenset[str]
    denies: bool
    said: frozenset[str]


@lru_cache(maxsize=20_000)
def gist(text: str) -> Gist:
    """Take the gist of a text."""
    words: set[str] = set()
    values: set[str] = set()
    codes: set[str] = set()
    inner: set[str] = set()
    denials = 0
    for code, word in _TOKEN.findall(_APOSTROPHE.sub("", normalise(text))):
        if code:
            codes.add(code.strip())
            for _, part in _TOKEN.findall(code):
                if part == "!":
                    inner.add(part)
                _sort(part, inner, inner)
        elif word.strip(".:" + _EMPHASIS) in _NEGATIONS:
            denials += 1
        else:
            _sort(word, words, values)
    said = frozenset(words | values | inner)
    return Gist(words=frozenset(words), values=frozenset(values | codes), denies=denials % 2 == 1, said=said)


def _sort(word: str, words: set[str], values: set[str]) -> None:
    """Add a word of a text to its values, or (if it says anything) to its words."""
    bare = word.strip(".:" + _EMPHASIS) if re.fullmatch(r"([*_~]+)[^*_~]+\1[.:]?", word) else word.strip(".:")
    if not re.search(r"\w", bare) or bare in _EMPTY:
        return
    if re.search(r"[\d/_=]|\w\.\w", bare):
        values.add(bare)
    else:
        words.add(_stem(bare))


def same_fact(one: str, other: str) -> bool:
    """Whether two texts say the same: equal values, equal denial, and nearly the same words; or the same words, with
    other marks around them.
    """
    a, b = gist(one), gist(other)
    if normalise(one) == normalise(other) or _same_words(a, b):
        return True
    return a.values == b.values and a.denies == b.denies and _alike(a, b)


def same_letters(one: str, other: str) -> bool:
    """Whether two texts write their names alike: `-v` and `-V`, `FOO` and `foo` are not the same to a program."""
    return _names(one) == _names(other)


def _names(text: str) -> frozenset[str]:
    """What is not written as plain words are, with the marks around it left out."""
    found = (word.strip(".:" + _EMPHASIS) for pair in _TOKEN.findall(text) for part in pair for word in part.split())
    return frozenset(word for word in found if not (word.islower() or (word.istitle() and word[0].isalpha())))


def contradicts(new: str, old: str) -> bool:
    """Whether `new` says something else about what `old` is about: the same words with another value, or denied."""
    a, b = gist(new), gist(old)
    if a.said == b.said:
        return a.denies != b.denies and len(a.said) >= _LEAST_WORDS
    if a.words != b.words or len(a.words) < _LEAST_WORDS:
        return False
    if a.denies != b.denies:
        return False
    return a.values != b.values and len(a.values) == len(b.values) and bool(a.values)


def may_contradict(new: str, old: str) -> bool:
    """As `contradicts`, and also where one text says more than the other and their numbers differ: worth a look."""
    if contradicts(new, old):
        return True
    a, b = gist(new), gist(old)
    few, many = sorted((a.words, b.words), key=len)
    if a.denies != b.denies or len(few) <= _LEAST_WORDS or not few <= many or 2 * len(few) < len(many):
        return False
    ours, theirs = ({value for value in each.values if _NUMBER.match(value)} for each in (a, b))
    return bool(ours and theirs) and ours.isdisjoint(theirs)


def _same_words(a: Gist, b: Gist) -> bool:
    return a.said == b.said and a.denies == b.denies and bool(a.said)


def _alike(a: Gist, b: Gist) -> bool:
    together = a.words | b.words
    if len(a.words & b.words) < _LEAST_WORDS:
        return a.words == b.words and bool(a.values)
    return len(a.words & b.words) / len(together) >= _ALIKE


class Facts:
    """Texts, and whether one of them says the same as another: what `same_fact` finds, without asking it of each.

    Of two sets of n words that have 4/5 in common, the n/5 + 1 first ones share a word, in whatever order they are
    taken as long as it is the same one. The rarest go first, so few are compared.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Facts that hold nothing yet. `texts` are those to come, for what is rare among them; others may come too."""
        self._often = Counter(word for text in texts for word in gist(text).words)
        self._gists: set[Gist] = set()
        self._said: set[tuple[frozenset[str], bool]] = set()
        self._texts: set[str] = set()
        self._first: dict[tuple[frozenset[str], bool, str], list[Gist]] = {}

    def add(self, text: str) -> None:
        """Take a text in."""
        self._texts.add(normalise(text))
        new = gist(text)
        if new in self._gists:
            return
        self._gists.add(new)
        if new.said:
            self._said.add((new.said, new.denies))
        for word in self._rarest(new.words):
            self._first.setdefault((new.values, new.denies, word), []).append(new)

    def says(self, text: str) -> bool:
        """Whether one of the texts is the same fact as this one."""
        asked = gist(text)
        if normalise(text) in self._texts or (asked.said, asked.denies) in self._said:
            return True
        return any(
            _alike(asked, each)
            for word in self._rarest(asked.words)
            for each in self._first.get((asked.values, asked.denies, word), ())
        )

    def _rarest(self, words: frozenset[str]) -> list[str]:
        return sorted(words, key=lambda word: (self._often[word], word))[: len(words) // _SHARE + 1]


def _stem(word: str) -> str:
    """The singular of a plural, near enough."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
