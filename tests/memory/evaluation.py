"""The evaluation of answers from memory: tests/data/ask.txt and ask-fresh.txt, asked and scored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.retrieval import Index, Passage, find

_DATA = Path(__file__).resolve().parent.parent / "data"
DATA, FRESH = _DATA / "ask.txt", _DATA / "ask-fresh.txt"
# Of the fresh memories those that were read when the search was made better; the others were not.
READ = 21
_RANKS = {"human": 3, "trusted": 2, "unverified": 1, "conflict": 1, "was": 3}


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question; `answers` are the keys of entries that answer it, none for what the memory does not know."""

    kind: str
    text: str
    answers: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One memory with its questions."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a method answered: keys, best first; and keys that it stated as current."""

    keys: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Score:
    """Counts over a set of questions; shares are of the answerable or the unanswerable ones."""

    answerable: int
    unanswerable: int
    first: int
    third: int
    false_answers: int
    false_abstentions: int
    forbidden: int

    @property
    def correct_1(self) -> float:
        """Share of answerable questions whose first answer is right."""
        return self.first / self.answerable

    @property
    def correct_3(self) -> float:
        """Share of answerable questions with a right answer among the first three."""
        return self.third / self.answerable

    @property
    def answered_anyway(self) -> float:
        """Share of unanswerable questions that got an answer."""
        return self.false_answers / self.unanswerable

    @property
    def line(self) -> str:
        """All figures in one line."""
        return (
            f"correct@1 {self.correct_1:.3f}, correct@3 {self.correct_3:.3f} of {self.answerable}; false abstentions "
            f"{self.false_abstentions / self.answerable:.3f}; answered though unanswerable {self.answered_anyway:.3f} "
            f"of {self.unanswerable}; forbidden hits {self.forbidden}"
        )


Method = Callable[[Case, str], Answer]


def load_cases(path: Path = DATA) -> tuple[Case, ...]:
    """Read a file of the evaluation. Raises ValueError for a line of no known shape."""
    cases: list[tuple[str, list[Passage], list[Question]]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        head, _, text = line.partition(": ")
        if line.startswith("memory "):
            cases.append((line.removeprefix("memory "), [], []))
        elif line.startswith("? "):
            _, kind, keys = head.split(" ")
            answers = frozenset() if keys == "-" else frozenset(keys.split(","))
            cases[-1][2].append(Question(kind=kind, text=text, answers=answers))
        else:
            key, trust = head.split(" ")
            cases[-1][1].append(Passage(id=key, text=text, rank=_RANKS[trust], superseded=trust == "was"))
    return tuple(Case(name=name, passages=tuple(p), questions=tuple(q)) for name, p, q in cases)


def ours(case: Case, question: str, *, threshold: float | None = None) -> Answer:
    """The product's own way."""
    index = _index(case)
    found = find(index, question) if threshold is None else find(index, question, threshold=threshold)
    return Answer(keys=tuple(hit.passage.id for hit in found.answers))


def substring(case: Case, question: str) -> Answer:
    """A baseline: entries that hold the longest word of the question, as a search in an editor would."""
    words = sorted((word.strip("?.,").lower() for word in question.split()), key=len, reverse=True)
    return Answer(keys=tuple(p.id for p in case.passages if words[0] in p.text.lower())[:3])


def plain_bm25(case: Case, question: str) -> Answer:
    """A baseline: FTS5's BM25 over the question's words as they are; whatever is found is answered."""
    import re
    import sqlite3

    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE entries USING fts5(body, tokenize='porter unicode61')")
    base.executemany("INSERT INTO entries VALUES (?)", [(p.text,) for p in case.passages])
    words = re.findall(r"\w+", question)
    query = " OR ".join(f'"{word}"' for word in words)
    rows = base.execute("SELECT rowid FROM entries WHERE entries MATCH ? ORDER BY rank LIMIT 3", (query,)).fetchall()
    base.close()
    return Answer(keys=tuple(case.passages[row[0] - 1].id for row in rows))


def score(cases: Sequence[Case], method: Method) -> Score:
    """Ask every question of the cases and count."""
    counts = dict.fromkeys(
        ("answerable", "unanswerable", "first", "third", "false_answers", "false_abstentions", "forbidden"), 0
    )
    for case in cases:
        superseded = {p.id for p in case.passages if p.superseded}
        for question in case.questions:
            keys = method(case, question.text).keys
            counts["forbidden"] += bool(superseded & set(keys))
            if question.answers:
                counts["answerable"] += 1
                counts["first"] += bool(keys) and keys[0] in question.answers
                counts["third"] += _is_right(question, keys[:3])
                counts["false_abstentions"] += not keys
            else:
                counts["unanswerable"] += 1
                counts["false_answers"] += bool(keys)
    return Score(**counts)


def _is_right(question: Question, keys: Sequence[str]) -> bool:
    """Whether a right entry is among them; of a conflict, both sides have to be."""
    return question.answers <= set(keys) if question.kind == "conflict" else bool(question.answers & set(keys))


_INDEXES: dict[tuple[Passage, ...], Index] = {}


def _index(case: Case) -> Index:
    if case.passages not in _INDEXES:
        _INDEXES[case.passages] = Index(case.passages)
    return _INDEXES[case.passages]
