"""What a branch's own edits of the memory would make of it, once they are merged: a commit is believed."""

from memory.document import Document, parse
from memory.entry import Trust
from memory.errors import MemoryFault
from memory.trust import committed_trust
from orchestrator.beliefs import MEMORY_FILE, from_tree
from orchestrator.errors import MemoryProblem
from orchestrator.ledger import Ledger
from orchestrator.project import Project
from orchestrator.records import Records
from projection.portable import portable_line

_NAMED = 3
_LONGEST = 60


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
    granted = Ledger(records=records).grants()
    counted, counts = committed_trust(was), committed_trust(will)
    more = [
        each
        for each in counts
        if counts[each] > max(counted.get(each, Trust.UNVERIFIED), granted.get(each, Trust.UNVERIFIED))
    ]
    less = [each for each in counted if counted[each] > Trust.UNVERIFIED and each not in counts]
    told = [f"{what} {_named(document, ids)}" for what, document, ids in (("+", will, more), ("-", was, less)) if ids]
    if told:
        raise _refusal(agent, "; ".join(told))


def _refusal(agent: str, what: str) -> MemoryProblem:
    return MemoryProblem(
        f"the branch of agent {agent} changes what {MEMORY_FILE} says as your own word ({what}); nothing was merged",
        f"read it (orch diff {agent}), then: orch merge {agent} --with-memory",
    )


def _named(document: Document, ids: list[str]) -> str:
    texts = {entry.id: entry.text for entry in document.entries}
    shown = ", ".join(repr(portable_line(texts[each].splitlines()[0])[:_LONGEST]) for each in ids[:_NAMED])
    return shown + (f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else "")
