"""A question taken apart: the words that carry it, the names in it, and what kind of answer would answer it."""

import re
from dataclasses import dataclass
from enum import Enum

from memory.tokeniser import identifiers, words
from memory.vocabulary import PHRASES, STOP, WEAK
from memory.words import denies

LONGEST = 2_000


class Wanted(Enum):
    """The kind of thing that an answer has to hold."""

    ANYTHING = "anything"
    NUMBER = "number"
    TIME = "time"
    PERSON = "person"


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word of a question: as written in lower case, whether it says little, whether it is a proper name."""

    text: str
    weak: bool
    proper: bool


@dataclass(frozen=True, kw_only=True)
class Question:
    """The words that carry a question, its identifiers, the kind of answer wanted, and whether it is about a denial."""

    words: tuple[Word, ...]
    names: tuple[str, ...]
    wanted: Wanted
    denies: bool = False


_NUMBER = re.compile(
    r"\b(how many|how much|how wide|how large|how big|how fast|at (?:which|what) rate|(?:which|what) port|"
    r"(?:which|what)(?: \w+)? version|(?:minimum|maximum)|size of|rate limit)\b",
    re.IGNORECASE,
)
_TIME = re.compile(r"\b(when|how often|how long|(?:by )?(?:what|which) time|at what time)\b", re.IGNORECASE)
# A number of its own, and not the digit in a name such as `eu-1`.
_HOLDS_NUMBER = re.compile(r"(?<![\w-])v?\d")
_HOLDS_TIME = re.compile(
    r"\d|\b(?:hourly|daily|weekly|nightly|monthly|minutes?|hours?|days?|weeks?|seconds?|night|always|after|every)\b",
    re.IGNORECASE,
)
_HOLDS_PERSON = re.compile(
    r"@\w|\b(?:team|owners?|people|person|on-?call|maintainers?|by [A-Z][a-z]+)\b", re.IGNORECASE
)


def read_question(text: str) -> Question:
    """Take a question apart; what is longer than `LONGEST` characters is cut."""
    text = text[:LONGEST]
    names = tuple(identifiers(text))
    plain = text
    for name in names:
        plain = plain.replace(name, " ")
    plain = fold_phrases(plain)
    found: dict[str, Word] = {}
    for index, word in enumerate(words(plain)):
        low = word.casefold()
        if low in STOP or (len(low) == 1 and not low.isdigit()):
            continue
        proper = index > 0 and word[0].isupper()
        found.setdefault(low, Word(text=low, weak=low in WEAK and not proper, proper=proper))
    return Question(words=tuple(found.values()), names=names, wanted=_wanted(text), denies=denies(text))


def fold_phrases(text: str) -> str:
    """Wordings of several words as the one word that they mean."""
    low = text.casefold()
    for phrase, word in PHRASES:
        if phrase in low:
            text = re.sub(re.escape(phrase), word, text, flags=re.IGNORECASE)
    return text


def holds(wanted: Wanted, text: str) -> bool:
    """Whether a text can hold that kind of answer at all."""
    if wanted is Wanted.NUMBER:
        return _HOLDS_NUMBER.search(text) is not None
    if wanted is Wanted.TIME:
        return _HOLDS_TIME.search(text) is not None
    if wanted is Wanted.PERSON:
        return _HOLDS_PERSON.search(text) is not None
    return True


def _wanted(text: str) -> Wanted:
    if re.match(r"\W*who\b", text, re.IGNORECASE) and not re.match(r"\W*who\b.*\bprovider\b", text, re.IGNORECASE):
        return Wanted.PERSON
    if _TIME.match(text.lstrip()):
        return Wanted.TIME
    if _NUMBER.search(text):
        return Wanted.NUMBER
    return Wanted.ANYTHING
