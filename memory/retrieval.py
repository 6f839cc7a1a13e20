"""Finding the entries that answer a question, and knowing when none does.

SQLite's FTS5 indexes and ranks (BM25, Porter stems); what it ranks highest is then judged by how much of the question
an entry covers, and an entry that covers too little is no answer. No network, no state on disk; no model, unless one of
words is asked for, and that one only orders what is near.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest

from memory.acronyms import abbreviate, acronyms_in, spell_out
from memory.coverage import WEIGHTS, Asked, Unit, cover
from memory.meaning import Meaning
from memory.question import Part, Question, fold_all, fold_phrases, read_question
from memory.stems import stem, stems_in, stems_of
from memory.synonyms import wordings_of
from memory.tokeniser import searchable
from memory.vocabulary import CONTRASTS
from memory.wanted import Wanted

# The lowest threshold, in steps of 0.02, at which at most 3 % of the unanswerable questions of tests/data/ask.txt are
# answered (a test holds it to that); the weights of memory/coverage.py were set on the same questions.
THRESHOLD = 0.6
# Of the questions that get no answer though there is one, two in three find it among the near ones; those that there is
# none for are shown one entry on average (tests/data/ask-fresh.txt).
NEAR = 0.2
_CANDIDATES = 60
_SMALL = 200
_SUCCESSOR = 0.15
_ALIKE = 0.25
_ASKING = (Part.ACTION, Part.HEAD, Part.KIND, Part.CATEGORY)
_TOKENISER = "porter unicode61 remove_diacritics 2"


@dataclass(frozen=True, kw_only=True)
class Passage:
    """What can be found: an entry's text with what it counts for. `rank` orders equals: human 3, trusted 2, else 1."""

    id: str
    text: str
    section: str = ""
    rank: int = 3
    superseded: bool = False
    stale: bool = False


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A passage, and how much of the question it covers (0 to 1)."""

    passage: Passage
    coverage: float


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the memory says: live entries that answer, what was so once, and (where nothing answers) what is near."""

    answers: tuple[Hit, ...] = ()
    was: tuple[Hit, ...] = ()
    near: tuple[Hit, ...] = ()


class Index:
    """The passages of one memory, in an index in memory; nothing is written to disk."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        import sqlite3

        self.passages = tuple(passages)
        self._acronyms = acronyms_in(passage.text for passage in self.passages)
        self._base = sqlite3.connect(":memory:", isolation_level=None)
        self._base.executescript(
            f"""CREATE VIRTUAL TABLE passages USING fts5(body, content='', tokenize='{_TOKENISER}');"""
        )
        bodies = fold_all([searchable(passage.text) for passage in self.passages])
        self._base.execute("BEGIN")
        self._base.executemany("INSERT INTO passages(rowid, body) VALUES (?, ?)", enumerate(bodies))
        self._base.execute("COMMIT")

    def search(self, text: str, *, about: bool = False) -> list[Hit]:
        """The passages nearest to a question, best first: coverage decides, then what is not stale, then trust, then
        BM25. With `about`, the text is no question, and any passage about the same things is near.
        """
        question = read_question(text)
        if about:
            plain = tuple(replace(word, part=Part.PLAIN) if word.part in _ASKING else word for word in question.words)
            question = replace(question, words=plain, names=(), wanted=Wanted.ANYTHING, denies=False)
        found = self._covered(question)
        if not about:
            for other in self._otherwise(text):
                again = self._covered(read_question(other))
                found = {at: max(found.get(at, 0.0), again.get(at, 0.0)) for at in found | again}
        hits = [Hit(passage=self.passages[at], coverage=coverage) for at, coverage in found.items()]
        # A stable sort: among equals the order of BM25 stays.
        hits.sort(key=lambda hit: (-round(hit.coverage, 3), hit.passage.stale, -hit.passage.rank))
        return hits

    def _otherwise(self, text: str) -> list[str]:
        """The question with acronyms in place of words that they stand for, and the other way round."""
        short = abbreviate(text, self._acronyms)
        long = spell_out(text, (passage.text for passage in self.passages), self._acronyms)
        return [each for each in dict.fromkeys((short, long)) if each != text]

    def _covered(self, question: Question) -> dict[int, float]:
        """How much of a question the passages cover that may be about it, in the order of BM25."""
        asked = self._asked(question)
        if not asked.units and not asked.names:
            return {}
        texts = ((at, self.passages[at].text) for at in self._candidates(asked))
        return {at: cover(asked, text, stems_of(fold_phrases(text)), WEIGHTS) for at, text in texts}

    def _candidates(self, asked: Asked) -> list[int]:
        """The passages that BM25 ranks highest for the question's words and what means the same; of few, all."""
        exact = {unit.text for unit in asked.units}
        exact |= {part for name in asked.names for part in _plain(name)}
        wide = {word for unit in asked.units if unit.part is not Part.WEAK for word in unit.wordings}
        found: dict[int, None] = {}
        for terms in (exact, wide):
            if not terms:
                continue
            query = " OR ".join('"' + term.replace('"', '""') + '"' for term in sorted(terms))
            rows = self._base.execute(
                "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank, rowid LIMIT ?", (query, _CANDIDATES)
            )
            found.update((int(row[0]), None) for row in rows)
        if len(self.passages) <= _SMALL:
            found.update(dict.fromkeys(range(len(self.passages))))
        return list(found)

    def _asked(self, question: Question) -> Asked:
        units = []
        for word in question.words:
            wordings = wordings_of(word.text)
            units.append(
                Unit(
                    text=word.text,
                    stem=stem(word.text),
                    others=stems_in(wordings) - {stem(word.text)},
                    wordings=wordings,
                    rarity=self._rarity(word.text),
                    part=word.part,
                    instances=word.instances,
                )
            )
        own = frozenset(unit.stem for unit in units)
        sides = []
        for contrast in _contrasts():
            mine = [side for side in contrast if side & own]
            if len(mine) == 1:
                sides.append((mine[0], frozenset().union(*(side for side in contrast if side is not mine[0]))))
        return Asked(
            units=tuple(units),
            names=question.names,
            wanted=question.wanted,
            denies=question.denies,
            measure=question.measure,
            action=question.action,
            sides=tuple(sides),
        )

    def _rarity(self, word: str) -> float:
        """Between 0.5 (in every passage) and 1 (in hardly any): in a small memory rarity says little."""
        query = '"' + word.replace('"', '""') + '"'
        row = self._base.execute("SELECT count(*) FROM passages WHERE passages MATCH ?", (query,)).fetchone()
        share = int(row[0]) / max(len(self.passages), 1)
        return 0.5 + 0.5 * (1.0 - math.sqrt(share))


def find(
    index: Index, question: str, *, limit: int = 3, threshold: float = THRESHOLD, meaning: Meaning | None = None
) -> Found:
    """Answer a question from the index, or say that it cannot be answered.

    A superseded entry is never an answer; it is told as what was, beside or without one. `meaning` has a say in what
    comes close, and none in what answers.
    """
    hits = index.search(question)
    covering = [hit for hit in hits if hit.coverage >= threshold]
    live = [hit for hit in covering if not hit.passage.superseded]
    was = tuple(hit for hit in covering if hit.passage.superseded)[:limit]
    if was and (not live or live[0].coverage < was[0].coverage):
        after = _successors(index, was[0])
        live = [*after, *(hit for hit in live if all(hit.passage is not other.passage for other in after))]
    # What answers much worse than the best would only be noise below it.
    answers = tuple(hit for hit in live if hit.coverage >= 0.75 * live[0].coverage)[:limit]
    near: tuple[Hit, ...] = ()
    if not answers:
        close = [hit for hit in hits if not hit.passage.superseded and hit.coverage >= NEAR]
        alike = _alike(index, question, meaning) if meaning is not None else []
        near = tuple(_interleaved(close, alike))[:limit]
    return Found(answers=answers, was=was, near=near)


def _alike(index: Index, question: str, meaning: Meaning) -> list[Hit]:
    """The passages that are near in meaning, nearest first."""
    live = [passage for passage in index.passages if not passage.superseded]
    measured = zip(live, meaning.similar(question, [passage.text for passage in live]), strict=True)
    found = [Hit(passage=passage, coverage=value) for passage, value in measured if value >= _ALIKE]
    return sorted(found, key=lambda hit: -hit.coverage)


def _interleaved(first: Sequence[Hit], second: Sequence[Hit]) -> Iterator[Hit]:
    told: set[int] = set()
    for pair in zip_longest(first, second):
        for hit in pair:
            if hit is not None and id(hit.passage) not in told:
                told.add(id(hit.passage))
                yield hit


def _successors(index: Index, was: Hit) -> list[Hit]:
    """What holds now where the question meets what was: the live entry that is most about the same things."""
    nearest = [hit for hit in index.search(was.passage.text, about=True) if not hit.passage.superseded]
    return [hit for hit in nearest if hit.coverage >= _SUCCESSOR][:1]


@cache
def _contrasts() -> list[list[frozenset[str]]]:
    return [[stems_in(side) for side in sides] for sides in CONTRASTS]


def _plain(name: str) -> list[str]:
    return [part for part in "".join(char if char.isalnum() else " " for char in name).split() if part]
