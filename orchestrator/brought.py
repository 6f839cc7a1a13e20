"""What a branch's own edits of the memory would make of it, once they are merged: a commit is believed."""

from collections.abc import Callable
from dataclasses import dataclass

from memory.document import Document, parse
from memory.entry import Trust, entry_id, wording, wording_id
from memory.errors import MemoryFault
from orchestrator.adding import section_fault
from orchestrator.beliefs import MEMORY_FILE, from_tree
from orchestrator.errors import MemoryProblem
from orchestrator.ledger import Ledger
from orchestrator.project import Project
from orchestrator.records import Records
from projection.portable import portable_line

_NAMED = 3
_LONGEST = 60


@dataclass(frozen=True, kw_only=True)
class _Place:
    """An entry as people read it: its words, and the section that they stand in."""

    section: str
    text: str


def require_same_memory(project: Project, records: Records, before: str, result: str, *, agent: str) -> None:
    """Raise MemoryProblem where the commit `result` makes entries a person's, or takes such out, unlike `before`.

    Whoever merges by orch has not read the diff of the memory as whoever commits to it; an agent may write there what
    it likes. What stays unverified is let through, and so is what a person or a corroboration vouched for.
    """
    old, new = from_tree(project, before), from_tree(project, result)
    if old == new:
        return
    try:
        was, will = parse(old or b""), parse(new or b"")
    except MemoryFault as exc:
        raise _refusal(agent, f"orch could not read it then: {exc.message}") from exc
    counted, counts = _standing(was), _standing(will)
    vouched = _vouched(Ledger(records=records))
    more = [
        each
        for each, trust in counts.items()
        if trust > counted.get(each, Trust.UNVERIFIED) and not vouched(each, trust)
    ]
    less = [each for each, trust in counted.items() if trust > counts.get(each, Trust.UNVERIFIED)]
    told = [f"{what} {_named(places)}" for what, places in (("+", more), ("-", less)) if places]
    if told:
        raise _refusal(agent, "; ".join(told))


def _refusal(agent: str, what: str) -> MemoryProblem:
    return MemoryProblem(
        f"the branch of agent {agent} changes what {MEMORY_FILE} says as your own word ({what}); nothing was merged",
        f"read it (orch diff {agent}), then: orch merge {agent} --with-memory",
    )


def _standing(document: Document) -> dict[_Place, Trust]:
    """What stands where in a committed memory, and as what; what is struck through stands nowhere."""
    found: dict[_Place, Trust] = {}
    for entry in document.entries:
        if not entry.superseded:
            place = _Place(section=entry.section, text=wording(entry.text))
            found[place] = max(entry.claimed, found.get(place, Trust.UNVERIFIED))
    return found


def _vouched(ledger: Ledger) -> Callable[[_Place, Trust], bool]:
    """Whether somebody vouched for a text as so much, and the name of its section is none that steers."""
    lines = ledger.lines()
    granted, wordings = ledger.grants(lines), ledger.wordings(lines)

    def vouched(place: _Place, trust: Trust) -> bool:
        name = entry_id(place.text)
        if granted.get(name, Trust.UNVERIFIED) < trust or section_fault(place.section, claimed=True) is not None:
            return False
        return name not in wordings or wording_id(place.text) in wordings[name]

    return vouched


def _named(places: list[_Place]) -> str:
    shown = ", ".join(repr(portable_line(each.text)[:_LONGEST]) for each in places[:_NAMED])
    return shown + (f" and {len(places) - _NAMED} more" if len(places) > _NAMED else "")
