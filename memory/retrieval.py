"""Finding the entries that answer a question, and knowing when none does.

SQLite's FTS5 indexes and ranks (BM25, Porter stems); what it ranks highest is then judged by how much of the question
an entry covers, and an entry that covers too little is no answer. No model, no network, no state on disk.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory.question import Question, Wanted, Word, fold_phrases, holds, read_question
from memory.tokeniser import contains_identifier, searchable
from memory.vocabulary import CONTRASTS, SYNONYMS
from memory.words import denies, word_groups

# The lowest threshold at which at most 3 % of the unanswerable questions of the calibration half of tests/data/ask.txt
# are answered; the weights below were chosen on the same half, by how much is then answered.
THRESHOLD = 0.56
NEAR = 0.3
_CANDIDATES = 60
_WEAK = 0.15
_SYNONYM = 0.9
_PROPER = 1.2
_NAME = 2.5
_MISSED_KIND = 0.35
_CONTRAST = 0.3
_SUCCESSOR = 0.15
_DENIAL = 0.4
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


@dataclass(frozen=True, kw_only=True)
class _Unit:
    """A word of the question with its stems: its own, and those that mean the same."""

    stem: str
    others: frozenset[str]
    weight: float
    word: Word


@dataclass(frozen=True, kw_only=True)
class _Read:
    """A question in stems. `sides` are, for each contrast that it takes a side in, (its side, the other sides)."""

    units: tuple[_Unit, ...]
    names: tuple[str, ...]
    wanted: Wanted
    denies: bool
    sides: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()


class Index:
    """The passages of one memory, in an index in memory; nothing is written to disk."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        import sqlite3

        self._passages = tuple(passages)
        self._base = sqlite3.connect(":memory:", isolation_level=None)
        self._base.executescript(
            f"""CREATE VIRTUAL TABLE passages USING fts5(body, content='', tokenize='{_TOKENISER}');
            CREATE VIRTUAL TABLE terms USING fts5vocab(passages, 'row');
            CREATE VIRTUAL TABLE bench USING fts5(body, tokenize='{_TOKENISER}');
            CREATE VIRTUAL TABLE stems USING fts5vocab(bench, 'instance');"""
        )
        rows = ((at, _body(passage)) for at, passage in enumerate(self._passages))
        self._base.execute("BEGIN")
        self._base.executemany("INSERT INTO passages(rowid, body) VALUES (?, ?)", rows)
        self._base.execute("COMMIT")
        self._groups = [
            frozenset(each) for each in self._stems([" ".join(group) for group in (*SYNONYMS, *word_groups())])
        ]
        self._contrasts = [self._stems([" ".join(side) for side in sides]) for sides in CONTRASTS]

    def search(self, text: str, *, about: bool = False) -> list[Hit]:
        """The passages nearest to a question, best first: coverage decides, then what is not stale, then trust, then
        BM25. With `about`, the text is no question, and any passage about the same things is near.
        """
        question = read_question(text)
        if about:
            question = replace(question, names=(), wanted=Wanted.ANYTHING, denies=False)
        read = self._read(question)
        if not read.units and not read.names:
            return []
        return self._ranked(read)

    def _ranked(self, question: _Read) -> list[Hit]:
        candidates = self._candidates(question)
        stems = self._stems([_body(self._passages[at]) for at in candidates])
        hits = [
            Hit(passage=self._passages[at], coverage=self._cover(question, self._passages[at], found))
            for at, found in zip(candidates, stems, strict=True)
        ]
        # A stable sort: among equals the order of BM25 stays.
        hits.sort(key=lambda hit: (-round(hit.coverage, 3), hit.passage.stale, -hit.passage.rank))
        return hits

    def _candidates(self, question: _Read) -> list[int]:
        """The passages that BM25 ranks highest for the question's words and what means the same."""
        exact = {unit.word.text for unit in question.units}
        exact |= {part for name in question.names for part in _plain(name)}
        wide = {stem for unit in question.units if not unit.word.weak for stem in unit.others}
        found: dict[int, None] = {}
        for terms in (exact, wide):
            if not terms:
                continue
            query = " OR ".join('"' + term.replace('"', '""') + '"' for term in sorted(terms))
            rows = self._base.execute(
                "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank, rowid LIMIT ?", (query, _CANDIDATES)
            )
            found.update((int(row[0]), None) for row in rows)
        return list(found)

    def _cover(self, question: _Read, passage: Passage, stems: frozenset[str]) -> float:
        """How much of the question's weight stands in a passage, lowered where it cannot be what is asked for."""
        total = got = 0.0
        if question.denies:
            total = _DENIAL
            got = _DENIAL if denies(passage.text) else 0.0
        for unit in question.units:
            total += unit.weight
            if unit.stem in stems:
                got += unit.weight
            elif unit.others & stems:
                got += unit.weight * _SYNONYM
        for name in question.names:
            total += _NAME
            if contains_identifier(passage.text, name):
                got += _NAME
        cover = got / total if total else 0.0
        if not holds(question.wanted, passage.text):
            cover *= _MISSED_KIND
        for side, others in question.sides:
            if others & stems and not side & stems:
                cover *= _CONTRAST
        return cover

    def _read(self, question: Question) -> _Read:
        stemmed = self._stems([word.text for word in question.words])
        every = len(self._passages)
        units = []
        for word, found in zip(question.words, stemmed, strict=True):
            for stem in found:
                others = frozenset().union(*(group for group in self._groups if stem in group)) - {stem}
                weight = _WEAK if word.weak else self._weight(stem, every) * (_PROPER if word.proper else 1.0)
                units.append(_Unit(stem=stem, others=others, weight=weight, word=word))
        own = frozenset(unit.stem for unit in units)
        sides = []
        for contrast in self._contrasts:
            mine = [side for side in contrast if side & own]
            if len(mine) == 1:
                sides.append((mine[0], frozenset().union(*(side for side in contrast if side is not mine[0]))))
        return _Read(
            units=tuple(units),
            names=question.names,
            wanted=question.wanted,
            denies=question.denies,
            sides=tuple(sides),
        )

    def _weight(self, stem: str, every: int) -> float:
        """Between 0.5 (in every passage) and 1 (in hardly any): in a small memory rarity says little."""
        row = self._base.execute("SELECT doc FROM terms WHERE term = ?", (stem,)).fetchone()
        share = (int(row[0]) if row else 0) / max(every, 1)
        return 0.5 + 0.5 * (1.0 - math.sqrt(share))

    def _stems(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """The stems of each text, by the tokeniser that the index uses."""
        found: list[set[str]] = [set() for _ in texts]
        self._base.execute("BEGIN")
        self._base.execute("DELETE FROM bench")
        self._base.executemany("INSERT INTO bench(rowid, body) VALUES (?, ?)", enumerate(texts, 1))
        self._base.execute("COMMIT")
        for term, row in self._base.execute("SELECT term, doc FROM stems"):
            found[int(row) - 1].add(term)
        return [frozenset(each) for each in found]


def find(index: Index, question: str, *, limit: int = 3, threshold: float = THRESHOLD) -> Found:
    """Answer a question from the index, or say that it cannot be answered.

    A superseded entry is never an answer; it is told as what was, beside or without one.
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
        near = tuple(hit for hit in hits if not hit.passage.superseded and hit.coverage >= NEAR)[:limit]
    return Found(answers=answers, was=was, near=near)


def _successors(index: Index, was: Hit) -> list[Hit]:
    """What holds now where the question meets what was: the live entry that is most about the same things."""
    nearest = [hit for hit in index.search(was.passage.text, about=True) if not hit.passage.superseded]
    return [hit for hit in nearest if hit.coverage >= _SUCCESSOR][:1]


def _body(passage: Passage) -> str:
    return fold_phrases(searchable(passage.text))


def _plain(name: str) -> list[str]:
    return [part for part in "".join(char if char.isalnum() else " " for char in name).split() if part]
