"""The memory as it counts today: its entries judged by channel, age, ground and content."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property

from memory.document import MOST_BYTES, Document, Unclosed, parse
from memory.entry import Entry, Trust, wording, wording_id
from memory.errors import MemoryFault
from memory.similar import Facts
from memory.trust import Judged, committed_trust, judge
from orchestrator.config_schema import Config
from orchestrator.errors import MemoryProblem
from orchestrator.grounding import Grounds
from orchestrator.holding import held_heading, held_text
from orchestrator.ledger import Act, Ledger
from orchestrator.memory_file import dangling, require_inside
from orchestrator.plain_file import read_plain
from orchestrator.project import Project
from orchestrator.records import Records

MEMORY_FILE = ".orch/memory.md"
_HINT = "mend it, then run this again"
# So many of the most valuable entries are checked in one walk of the history; no budget holds more of them.
_MOST_GROUNDED = 400


@dataclass(frozen=True, kw_only=True)
class Beliefs:
    """A document and what its entries count for.

    `confirmed` are the days on which an agent last claimed an entry, `closed` what became of those that a person (or a
    newer claim) took out, by the entry's id; `withdrawn` are those whose only source was discarded; `rejected` are the
    texts that a person turned down; `committed` is the document in the last commit.
    """

    project: Project
    config: Config
    document: Document
    judged: tuple[Judged, ...]
    today: date
    confirmed: Mapping[str, str] = field(default_factory=dict)
    closed: Mapping[str, str] = field(default_factory=dict)
    withdrawn: frozenset[str] = frozenset()
    rejected: tuple[str, ...] = ()
    committed: Document | None = None
    writes: bool = True
    notes: tuple[str, ...] = ()

    def objection(self, item: Judged) -> str | None:
        """Why an entry that would fit is not to be rendered; None when nothing speaks against it."""
        held = self.held(item)
        if held is not None:
            return f"held back: {held}"
        stale = self.stale(item)
        return None if stale is None else f"stale: {stale}"

    def held(self, item: Judged) -> str | None:
        """Why an entry waits for a person: it was taken out before, or it steers the agent."""
        closed = self.closed.get(item.entry.id)
        if closed is not None:
            return f"it was {closed} before"
        if item.trust is Trust.HUMAN:
            return held_heading(item.entry, claimed=self._new_heading(item.entry))
        return (self._turned_down(item.entry) if item.trust is Trust.UNVERIFIED else None) or self._held_text(item)

    def was_believed(self, item: Judged) -> bool:
        """Whether what is superseded may be told as what was: not what was withdrawn, nor what would be held back."""
        return item.entry.id not in self.withdrawn and self._held_text(item) is None

    def _held_text(self, item: Judged) -> str | None:
        claimed = item.trust is Trust.UNVERIFIED
        return held_text(item.entry, claimed=claimed, heading_claimed=claimed or self._new_heading(item.entry))

    def _new_heading(self, entry: Entry) -> bool:
        """Whether no commit vouches for the name of an entry's section."""
        return entry.section not in self._headings

    def _turned_down(self, entry: Entry) -> str | None:
        """What became before of a fact that nobody vouches for now, told in whatever words."""
        if entry.superseded:
            return None
        if entry.id in self.withdrawn:
            return "it was withdrawn before"
        for said, texts in self._closed_texts.items():
            if texts.says(entry.text):
                return f"it was {said} before, in other words"
        return None

    @cached_property
    def _headings(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.committed.headings) if self.committed is not None else frozenset()

    @cached_property
    def _closed_texts(self) -> dict[str, Facts]:
        struck = [each for each in self.document.entries if each.superseded and each.id not in self.withdrawn]
        found = {"rejected": list(self.rejected), "superseded": [each.text for each in struck]}
        facts = {said: Facts(texts) for said, texts in found.items() if texts}
        for said, each in facts.items():
            for text in found[said]:
                each.add(text)
        return facts

    def stale(self, item: Judged) -> str | None:
        """Why an entry is out of date: not confirmed for too long, or a path that it names has gone."""
        if item.trust is Trust.UNVERIFIED and self._age(item.entry) > self.config.memory.ttl_days > 0:
            return f"not confirmed for more than {self.config.memory.ttl_days} days"
        if not self.config.memory.ground:
            return None
        gone = self._grounds.missing(item.entry.text)
        return None if gone is None else f"{gone} is there no more"

    def checked(self) -> tuple[Judged, ...]:
        """Every entry with its `stale` and `held` reasons filled in; for lists and reviews, which show all of them."""
        found = []
        for item in self.judged:
            if item.entry.superseded:
                found.append(item)
                continue
            found.append(replace(item, held=self.held(item), stale=self.stale(item)))
        return tuple(found)

    def _age(self, entry: Entry) -> int:
        """Days since the entry was last confirmed; 0 where no day is known, or it is in the future."""
        days = [day for day in (entry.provenance.date, self.confirmed.get(entry.id)) if day]
        known = [found for found in map(_day, days) if found is not None and found <= self.today]
        return (self.today - max(known)).days if known else 0

    @cached_property
    def _grounds(self) -> Grounds:
        best = sorted(self.judged, key=lambda item: -item.value)[:_MOST_GROUNDED]
        return Grounds(
            project=self.project,
            texts=[item.entry.text for item in best if not item.entry.superseded],
            keep=self.writes,
        )


def load_beliefs(project: Project, config: Config, *, today: date | None = None, writes: bool = True) -> Beliefs | None:
    """Judge the memory; None when there is none. Raises MemoryProblem when it cannot be read.

    Without `writes`, not even a cache is written.
    """
    document, notes = load_document(project)
    if document is None:
        return None
    ledger = Ledger(records=Records(path=project.records))
    lines = ledger.lines()
    day = today or datetime.now(UTC).date()
    vouched = committed_document(project)
    grants = {} if vouched is None else committed_trust(vouched)
    exact = _exactly(document, vouched, grants, ledger.wordings(lines))
    judged = judge(document, committed=grants, ledger=ledger.grants(lines), today=day, exact=exact)
    closed = ledger.closed(lines)
    confirmed = {line.entry: line.at[:10] for line in lines if line.act in (Act.PROPOSED, Act.CORROBORATED)}
    return Beliefs(
        project=project,
        config=config,
        document=document,
        judged=judged,
        today=day,
        confirmed=confirmed,
        closed={entry: line.act.value for entry, line in closed.items()},
        withdrawn=ledger.withdrawn(lines),
        rejected=tuple(line.detail["text"] for line in closed.values() if isinstance(line.detail.get("text"), str)),
        committed=vouched,
        writes=writes,
        notes=notes,
    )


def load_document(project: Project) -> tuple[Document | None, tuple[str, ...]]:
    """The memory of the main checkout, or of the default branch's tree in a bare layout; None when there is none."""
    path = project.memory_path
    try:
        if path is None:
            data = from_tree(project, "HEAD")
            note = "no main checkout: the memory is that of the default branch's last commit"
            return (None, ()) if data is None else (parse(data), (note, *_remarks(parse(data))))
        require_inside(project, path)
        document = parse(read_plain(path, MOST_BYTES))
        return document, _remarks(document)
    except FileNotFoundError as exc:
        if path is not None and path.is_symlink():
            raise dangling(path) from exc
        return None, ()
    except OSError as exc:
        raise MemoryProblem(f"cannot read {path}: {exc.strerror}", _HINT) from exc
    except MemoryFault as exc:
        hint = f"{exc.hint}, then run this again" if exc.hint else _HINT
        raise MemoryProblem(f"{path or MEMORY_FILE}: {exc.message}", hint) from exc


def _remarks(document: Document) -> tuple[str, ...]:
    unclosed = document.unclosed
    # One that hides nothing does no harm: orch memory lint tells of it.
    return (f"{MEMORY_FILE}:{unclosed.line + 1}: {unclosed_text(unclosed)}",) if unclosed and unclosed.entries else ()


def unclosed_text(unclosed: Unclosed) -> str:
    """One line about what hides the rest of a memory file."""
    hides = f"{unclosed.entries} {'entry' if unclosed.entries == 1 else 'entries'}"
    return f"the {unclosed.what} that opens here is never closed, and hides {hides} below it"


def _exactly(
    document: Document, vouched: Document | None, grants: Mapping[str, Trust], wordings: Mapping[str, frozenset[str]]
) -> Callable[[Entry], bool]:
    """Whether an entry stands in the file in the very wording that was committed or that a command vouched for."""
    texts: set[str] | None = None

    def exact(entry: Entry) -> bool:
        nonlocal texts
        said = wordings.get(entry.id)
        if said is not None and wording_id(entry.text) in said:
            return True
        if vouched is document:
            return entry.id in grants or said is None
        if texts is None:
            texts = {
                wording(each.text) for each in (vouched.entries if vouched is not None else ()) if each.id in grants
            }
        return wording(entry.text) in texts if entry.id in grants else said is None

    return exact


def committed(project: Project) -> dict[str, Trust]:
    """What the last commit of the main checkout (in a bare layout: of the default branch) grants."""
    found = committed_document(project)
    return {} if found is None else committed_trust(found)


def committed_document(project: Project) -> Document | None:
    """The memory in that commit; None where it has none that can be read."""
    data = from_tree(project, "HEAD")
    try:
        return None if data is None else parse(data)
    except MemoryFault:
        return None


def from_tree(project: Project, rev: str) -> bytes | None:
    """The bytes of the memory in a commit; None where it has none."""
    found = project.git().run("cat-file", "blob", f"{rev}:{MEMORY_FILE}", check=False)
    return found.stdout if found.code == 0 else None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
