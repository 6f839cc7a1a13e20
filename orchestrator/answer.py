"""An answer from the memory: cited entries in one fixed form, whatever stands in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memory.entry import Entry
from memory.meaning import Meaning
from memory.retrieval import Found, Hit, Index, Passage, find
from memory.trust import Judged
from projection.portable import portable_line

UNKNOWN = "not in project memory"
_RULE = "---"


class Beliefs(Protocol):
    """The memory as it counts: judged entries, why one is held back or out of date (None: it is not), and whether one
    that is superseded was ever more than a claim."""

    @property
    def judged(self) -> tuple[Judged, ...]: ...
    def held(self, item: Judged) -> str | None: ...
    def was_believed(self, item: Judged) -> bool: ...
    def stale(self, item: Judged) -> str | None: ...


@dataclass(frozen=True, kw_only=True)
class Cited:
    """An entry as it is cited. `note` is its trust, provenance and staleness in one line; `lines` are safe to print."""

    id: str
    section: str
    note: str
    lines: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The citation as a JSON object."""
        return {"id": self.id, "section": self.section, "note": self.note, "text": "\n".join(self.lines)}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the memory says to a question.

    `current` answers it; `was` no longer holds; `near` is told where nothing answers. `composed` is a local model's
    wording of `current`, only where every sentence of it is supported.
    """

    question: str
    current: tuple[Cited, ...] = ()
    was: tuple[Cited, ...] = ()
    near: tuple[Cited, ...] = ()
    composed: str | None = None

    @property
    def known(self) -> bool:
        """Whether the memory knows."""
        return bool(self.current)

    @property
    def told(self) -> tuple[str, ...]:
        """The ids of the entries in it."""
        return tuple(each.id for each in (*self.current, *self.was, *self.near))

    def to_json(self) -> dict[str, Any]:
        """The answer as a JSON object."""
        return {
            "question": self.question,
            "known": self.known,
            "composed": self.composed,
            "current": [each.to_json() for each in self.current],
            "was": [each.to_json() for each in self.was],
            "near": [each.to_json() for each in self.near],
            "text": render_answer(self),
        }


class Memory:
    """The memory, ready to be asked; `beliefs` None: it is not there.

    `meaning` has a say in what comes close; `remark` is one line on why it has none, to be told where nothing answers.
    """

    def __init__(self, beliefs: Beliefs | None, meaning: Meaning | None = None, *, remark: str | None = None) -> None:
        self.remark = remark
        self._beliefs = beliefs
        self._meaning = meaning
        self._judged: dict[str, Judged] = {}
        passages = []
        for at, item in enumerate(beliefs.judged if beliefs is not None else ()):
            if beliefs is not None and item.entry.superseded and not beliefs.was_believed(item):
                continue
            self._judged[str(at)] = item
            passages.append(_passage(str(at), item))
        self._index = Index(passages)

    def ask(self, question: str, *, limit: int = 3) -> Answer:
        """Answer from the entries alone."""
        found = find(self._index, question, limit=limit + 2, meaning=self._meaning)
        return Answer(
            question=question,
            current=self._cited(found, "answers")[:limit],
            was=self._cited(found, "was")[:limit],
            near=self._cited(found, "near")[:limit],
        )

    def _cited(self, found: Found, which: str) -> tuple[Cited, ...]:
        hits: Sequence[Hit] = getattr(found, which)
        cited = (self._cite(self._judged[hit.passage.id]) for hit in hits)
        return tuple(each for each in cited if each is not None)

    def _cite(self, item: Judged) -> Cited | None:
        assert self._beliefs is not None
        if item.entry.superseded:
            return _cited(item.entry, "superseded", None)
        if self._beliefs.held(item) is not None:
            # Held back from agents until a person has looked at it; the same holds for an answer.
            return None
        return _cited(item.entry, item.trust.word, self._beliefs.stale(item))


def _passage(key: str, item: Judged) -> Passage:
    entry = item.entry
    return Passage(id=key, text=entry.text, section=entry.section, rank=int(item.trust), superseded=entry.superseded)


def _cited(entry: Entry, trust: str, stale: str | None) -> Cited | None:
    lines = tuple(line for line in (portable_line(raw) for raw in entry.text.split("\n")) if line.strip())
    if not lines:
        return None
    origin = entry.provenance
    parts = [trust]
    if origin.date:
        parts.append(origin.date)
    if origin.agents:
        parts.append(("agent " if len(origin.agents) == 1 else "agents ") + ", ".join(origin.agents))
    parts += [part for part in _from(origin.backend, origin.branch, origin.sha) if part]
    if stale is not None:
        parts.append(f"stale: {stale}")
    note = " · ".join(portable_line(part).replace("[", "(").replace("]", ")") for part in parts)
    return Cited(id=entry.id, section=portable_line(entry.section), note=note, lines=lines)


def _from(backend: str | None, branch: str | None, sha: str | None) -> tuple[str | None, ...]:
    return backend, f"branch {branch}" if branch else None, f"sha {sha}" if sha else None


def render_answer(answer: Answer) -> str:
    """The answer as text: a citation stands at the start of a line, what an entry says never does."""
    blocks: list[str] = []
    if answer.composed is not None:
        # Indented as every text that is not ours: a citation alone stands at the start of a line.
        blocks.append("\n".join(f"  {portable_line(line)}" for line in answer.composed.splitlines()))
        blocks.append("\n".join(f"[{each.id} · {each.note}]" for each in answer.current))
    elif answer.current:
        blocks.append("\n".join(_block(each) for each in answer.current))
    else:
        blocks.append(UNKNOWN)
        if answer.near:
            blocks.append("\n".join([_RULE, *(_block(each) for each in answer.near)]))
    if answer.was:
        blocks.append("\n".join(["was:", *(_block(each) for each in answer.was)]))
    return "\n".join(blocks)


def _block(cited: Cited) -> str:
    return "\n".join([f"[{cited.id} · {cited.note}]", *(f"  {line}" for line in cited.lines)])
