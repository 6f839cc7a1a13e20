"""Acronyms and what they stand for: `MSRV` is the minimum supported Rust version, told by the initials alone."""

import re
from collections.abc import Iterable

from memory.vocabulary import STOP

_ACRONYM = re.compile(r"\b[A-Z]{3,6}\b")
_ASKED = re.compile(r"\b([A-Z]{3,6})s?\b")
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_LONGEST = 6
_MOST_SPELLED = 3


def acronyms_in(texts: Iterable[str]) -> frozenset[str]:
    """The acronyms that texts use: three to six capital letters."""
    return frozenset(found for text in texts for found in _ACRONYM.findall(text))


def abbreviate(question: str, acronyms: frozenset[str]) -> str:
    """The question with words in a row that one of the acronyms stands for written as that acronym.

    Little words stand for no letter: `run the tests` is no RTT.
    """
    found = list(_WORD.finditer(question))
    initials = "".join(" " if match[0].casefold() in STOP else match[0][0].upper() for match in found)
    at, done, parts = 0, 0, []
    while at < len(found):
        longest = min(_LONGEST, len(found) - at)
        length = next((n for n in range(longest, 2, -1) if initials[at : at + n] in acronyms), 0)
        if length:
            parts += [question[done : found[at].start()], initials[at : at + length]]
            done = found[at + length - 1].end()
        at += max(length, 1)
    return "".join(parts) + question[done:]


def spell_out(question: str, texts: Iterable[str], acronyms: frozenset[str]) -> str:
    """The question with acronyms that no text uses written as the words that one of the texts has for them.

    Of a question that is written in capitals nothing is an acronym; of others the first few are.
    """
    asked = [match for match in _ASKED.finditer(question) if match[1] not in acronyms][:_MOST_SPELLED]
    if not asked or question.isupper():
        return question
    # A digit between two texts: no run of words goes across it.
    all_of_them = " 0 ".join(texts)
    for match in reversed(asked):
        words = _spelled(match[1], all_of_them)
        if words is not None:
            question = question[: match.start()] + words + question[match.end() :]
    return question


def _spelled(name: str, text: str) -> str | None:
    run = re.compile(r"\b" + r"\W+".join(rf"{letter}\w+" for letter in name) + r"\b", re.IGNORECASE)
    runs = (found[0] for found in run.finditer(text))
    return next((found for found in runs if not STOP.intersection(found.casefold().split())), None)
