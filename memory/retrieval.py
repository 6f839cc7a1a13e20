"""Finding the entries that answer a question: BM25 by SQLite's FTS5, then the decision whether they answer it at all.

The ranking finds what is nearest; being nearest is no answer. So each hit is measured by coverage: how much of what the
question asks for (weighted by how telling each term is in this memory) the entry has. Below the threshold the memory
does not know, and says so. The threshold was calibrated on one half of the committed evaluation (tests/data) and is
reported on the other half.
"""

import math
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory.words import Terms, denies, is_soft, split_camel, terms_of, variants

THRESHOLD = 0.44
NEAR = 0.25
_CANDIDATES = 24
_SOFT_WEIGHT = 0.25
_MOST_TERMS = 64
_DENIAL_WEIGHT = 0.4
_SUCCESSOR = 0.12


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
    """A passage with its score (BM25, higher is nearer) and how much of the question it covers (0 to 1)."""

    passage: Passage
    score: float
    coverage: float


class Index:
    """The passages of one memory, in an index in memory; nothing is written to disk."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = tuple(passages)
        self._weights: dict[str, float] = {}
        self._base = sqlite3.connect(":memory:", isolation_level=None)
        self._base.execute("CREATE VIRTUAL TABLE entries USING fts5(body, section, tokenize='porter unicode61')")
        self._base.execute("BEGIN")
        self._base.executemany(
            "INSERT INTO entries (rowid, body, section) VALUES (?, ?, ?)",
            ((at, split_camel(each.text), split_camel(each.section)) for at, each in enumerate(self._passages)),
        )
        self._base.execute("COMMIT")

    def search(self, question: str, limit: int = 5, *, strict: bool = True) -> tuple[Hit, ...]:
        """The passages nearest to the question, best first; coverage decides, then trust, then BM25.

        With `strict`, an entry that lacks an identifier of the question answers another question.
        """
        asked = terms_of(question)
        wanted = dict(list(zip(asked.terms, asked.words, strict=True))[:_MOST_TERMS])
        if not wanted:
            return ()
        self._weigh(wanted)
        rows = self._base.execute(
            "SELECT rowid, bm25(entries, 1.0, 0.4) AS score FROM entries WHERE entries MATCH ? ORDER BY score LIMIT ?",
            (" OR ".join(_any_of(name, word) for name, word in wanted.items()), _CANDIDATES),
        ).fetchall()
        hits = [
            Hit(
                passage=self._passages[at],
                score=-score,
                coverage=self._coverage(question, asked, wanted, self._passages[at], strict),
            )
            for at, score in rows
        ]
        hits.sort(key=lambda hit: (-round(hit.coverage, 3), hit.passage.stale, -hit.passage.rank, -hit.score))
        return tuple(hits[:limit])

    def _coverage(self, question: str, asked: Terms, wanted: Iterable[str], passage: Passage, strict: bool) -> float:
        has = terms_of(passage.text)
        body = frozenset(has.terms)
        around = frozenset(terms_of(passage.section).terms)
        total = got = 0.0
        if denies(question):
            total = _DENIAL_WEIGHT
            got = _DENIAL_WEIGHT if denies(passage.text) else 0.0
        for name in wanted:
            weight = self._weights[name] * (_SOFT_WEIGHT if is_soft(name) else 1.0)
            total += weight
            if name in body:
                got += weight
            elif name in around:
                got += 0.6 * weight
        if asked.identifiers and strict:
            # A question that names an identifier is about that one: an entry that lacks it answers another question.
            missing = sum(not _named(name, has, body) for name in asked.identifiers)
            got *= 1.0 - 0.7 * missing / len(asked.identifiers)
        return got / total if total else 0.0

    def _weigh(self, wanted: Mapping[str, str]) -> None:
        """How telling each term is: its inverse document frequency in this memory; one that is nowhere
        tells most. From 0.5 to 1.5, so that no single word decides."""
        size = max(len(self._passages), 1)
        for name, word in wanted.items():
            if name not in self._weights:
                (count,) = self._base.execute(
                    "SELECT count(*) FROM entries WHERE entries MATCH ?", (f"body : ({_any_of(name, word)})",)
                ).fetchone()
                rarity = math.log(1 + (size - count + 0.5) / (count + 0.5)) / math.log(1 + (size + 0.5) / 0.5)
                self._weights[name] = 0.5 + rarity


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the memory says: live entries that answer, what was so once, and (where neither) what is near."""

    answers: tuple[Hit, ...] = ()
    was: tuple[Hit, ...] = ()
    near: tuple[Hit, ...] = ()


def find(index: Index, question: str, *, limit: int = 3, threshold: float = THRESHOLD) -> Found:
    """Answer a question from the index, or say that it cannot be answered.

    A superseded entry is never an answer; it is told as what was, beside or without one.
    """
    hits = index.search(question, limit=_CANDIDATES)
    covering = [hit for hit in hits if hit.coverage >= threshold]
    live = [hit for hit in covering if not hit.passage.superseded]
    was = tuple(hit for hit in covering if hit.passage.superseded)[:limit]
    if was and (not live or live[0].coverage < was[0].coverage):
        live = _successors(index, was[0], live)
    best = max((hit.coverage for hit in live), default=0.0)
    answers = tuple(hit for hit in live if hit.coverage >= 0.75 * best)[:limit]
    near: tuple[Hit, ...] = ()
    if not answers:
        near = tuple(hit for hit in hits if not hit.passage.superseded and NEAR <= hit.coverage < threshold)[:limit]
    return Found(answers=answers, was=was, near=near)


def _successors(index: Index, was: Hit, live: Sequence[Hit]) -> list[Hit]:
    """What holds now where the question meets what was: the live entries nearest to the superseded one, best first."""
    nearest = [
        hit for hit in index.search(was.passage.text, limit=_CANDIDATES, strict=False) if not hit.passage.superseded
    ]
    best = [hit for hit in nearest if hit.coverage >= max(_SUCCESSOR, 0.9 * nearest[0].coverage)]
    known = {hit.passage.id for hit in best}
    return [*best, *(hit for hit in live if hit.passage.id not in known)]


def _named(identifier: str, has: Terms, body: frozenset[str]) -> bool:
    """Whether a passage names an identifier: whole, as the end of a longer one, or by all of its parts."""
    if identifier in has.identifiers or any(each.endswith("_" + identifier) for each in has.identifiers):
        return True
    parts = [part for part in re.split(r"_+", identifier) if part]
    known = frozenset(part for each in has.identifiers for part in each.split("_")) | body
    return len(parts) > 1 and all(
        part in known or any(term in known for term in terms_of(part).terms) for part in parts
    )


def _any_of(name: str, word: str) -> str:
    """A query for one term: any of the words that it may stand as; parts of an identifier one after the other."""
    return " OR ".join(f'"{each}"' for each in variants(name, word))
