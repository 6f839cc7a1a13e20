"""A question taken apart: the words that carry it with their parts in it, the names, and what is asked for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from memory.kinds import instances_in
from memory.tokeniser import identifiers, words
from memory.vocabulary import CATEGORIES, DETERMINERS, LINKING, MEASURES, PHRASES, STOP, WEAK
from memory.wanted import Wanted, wanted_of
from memory.words import denies

LONGEST = 2_000


class Part(Enum):
    """What a word does in its question.

    WEAK words say little. The ACTION is what is to be done (`how do I deploy …`), the HEAD what it is done to, or what
    is asked about (`where is the crash handler`). The KIND is what is asked for (`which queue …`); a CATEGORY is a kind
    that answers do not repeat (`which tool …`).
    """

    PLAIN = "plain"
    WEAK = "weak"
    PROPER = "proper"
    ACTION = "action"
    HEAD = "head"
    KIND = "kind"
    CATEGORY = "category"


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word of a question as written in lower case, its part, and names of what it is the kind of."""

    text: str
    part: Part = Part.PLAIN
    instances: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Question:
    """The words that carry a question, its identifiers, what it asks for, and whether it is about a denial.

    `measure`: it asks for a quantity, which a number answers. `action` is the verb of `how do I VERB`.
    """

    words: tuple[Word, ...]
    names: tuple[str, ...]
    wanted: Wanted
    denies: bool = False
    measure: bool = False
    action: str | None = None


# `how do I VERB`; of `how are the docs VERBed` the verb is a plain word.
_ACTION = re.compile(
    r"\bhow (?:do|can|should|would|could|must|to|does)\s+(?:(?:I|we|you|one|somebody|someone|people|they)\s+)?"
    r"(?:(?:best|quickly|manually|locally|only|just|actually|safely)\s+)?([a-z][\w-]*)|"
    r"\b(?:command|way|steps?) (?:to|that|for|which)\s+([a-z][\w-]*)",
    re.IGNORECASE,
)
# `why not X` asks for the reason of a choice, and what tells it need not deny anything.
_WHY_NOT = re.compile(r"\bwhy not\b", re.IGNORECASE)
_KIND = re.compile(r"\b(?:which|what|whose|how many)\s+((?:[\w-]+\s*){1,4})", re.IGNORECASE)
# What is asked for by its kind: `which NOUN`, `what do we use for NOUN`, `what is our NOUN`.
_ASKED_FOR = re.compile(
    r"\b(?:what|which)\b.*?\b(?:use|uses|used|using)\b.*?\b(?:for|as)\s+((?:[\w-]+\s*){1,4})|"
    r"\bwhat(?:'s|\s+(?:is|are))\s+((?:[\w-]+\s*){1,4})|"
    r"\b(?:which|what|whose)\s+((?:[\w-]+\s*){1,4})",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"\b(?:where|what|who|when)(?:'s|\s+(?:is|are|was|do|does|can|should))\s+((?:[\w-]+\s*){1,5})", re.IGNORECASE
)
_VERSION = ("version", "versions")
_BELONGINGS = frozenset({"repository", "repo", "repositories", "project", "projects"})


def read_question(text: str) -> Question:
    """Take a question apart; what is longer than `LONGEST` characters is cut."""
    text = text[:LONGEST]
    names = tuple(identifiers(text))
    plain = text
    for name in names:
        plain = plain.replace(name, " ")
    plain = fold_phrases(plain)
    action, kind = _action(plain), _kind(plain)
    head = None if kind else _head(plain, action)
    about = _about(text, names)
    asked = _ASKED_FOR.search(plain)
    instances = instances_in(next(filter(None, asked.groups()))) if asked else {}
    wanted = wanted_of(text, kind)
    found: dict[str, Word] = {}
    for index, word in enumerate(words(plain)):
        low = word.casefold()
        if low in STOP or (len(low) == 1 and not low.isdigit()):
            continue
        part = Part.PLAIN
        if low == about:
            part = Part.WEAK
        elif low == action:
            part = Part.WEAK if low in WEAK else Part.ACTION
        elif low == kind or (wanted is Wanted.VERSION and low in _VERSION):
            part = Part.CATEGORY if low in CATEGORIES else Part.KIND
        elif low == head:
            part = Part.WEAK if low in WEAK and low not in _BELONGINGS else Part.HEAD
        elif index > 0 and word[0].isupper():
            part = Part.PROPER
        elif low in WEAK:
            part = Part.WEAK
        found.setdefault(low, Word(text=low, part=part, instances=instances.get(low, frozenset())))
    return Question(
        words=tuple(found.values()),
        names=names,
        wanted=wanted,
        denies=denies(_WHY_NOT.sub("", text)),
        measure=kind in MEASURES,
        action=action,
    )


def fold_all(texts: Sequence[str]) -> Sequence[str]:
    """As `fold_phrases`, of many texts."""
    low = "\n".join(texts).casefold()
    there = [phrase for phrase, _ in PHRASES if phrase in low]
    if not there:
        return texts
    return [fold_phrases(text) if any(phrase in text.casefold() for phrase in there) else text for text in texts]


def fold_phrases(text: str) -> str:
    """Wordings of several words as the one word that they mean."""
    low = text.casefold()
    for phrase, word in PHRASES:
        if phrase in low:
            text = re.sub(rf"\b{re.escape(phrase)}\b", word, text, flags=re.IGNORECASE)
    return text


def _action(text: str) -> str | None:
    match = _ACTION.search(text)
    return (match[1] or match[2]).casefold() if match else None


def _kind(text: str) -> str | None:
    """The noun that `which` or `what` asks for."""
    match = _KIND.search(text)
    if match is None:
        return None
    before: str | None = None
    noun: str | None = None
    for word in match[1].casefold().split():
        if word in DETERMINERS:
            # `what triggers a release`: what stood before was the verb.
            return before
        if word in LINKING or word in STOP or (noun is not None and word.endswith("ed")):
            break
        before, noun = noun, word
    return noun


def _head(text: str, action: str | None) -> str | None:
    """The noun that the question is about: after `where is`, or the object of the action."""
    if action is not None:
        after = re.split(rf"\b{re.escape(action)}\b", text, maxsplit=1, flags=re.IGNORECASE)
        phrase = after[1] if len(after) == 2 else ""
    else:
        match = _SUBJECT.search(text)
        phrase = match[1] if match else ""
    noun: str | None = None
    for word in re.findall(r"[\w-]+|[^\w\s]", phrase.casefold()):
        if word in DETERMINERS and noun is None:
            continue
        if not word[0].isalpha() or word in LINKING or word in STOP or word in DETERMINERS:
            break
        if noun is not None and word.endswith(("ed", "ing")):
            break
        noun = word
    return noun


def _about(text: str, names: tuple[str, ...]) -> str | None:
    """The verb of `what does NAME do`: an entry that has the name says it in words of its own."""
    for name in names:
        match = re.match(
            rf"\W*what (?:does|do|is|are|did) (?:the )?\W*{re.escape(name)}\W+(\w+)\W*\Z", text, re.IGNORECASE
        )
        if match is not None:
            return match[1].casefold()
    return None
