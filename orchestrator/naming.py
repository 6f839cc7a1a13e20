"""Naming an entry or a proposal by the beginning of its id."""

from collections.abc import Iterable

from memory.document import Document
from memory.entry import Entry, beginning_with
from memory.errors import MemoryFault
from orchestrator.errors import UsageProblem
from orchestrator.proposals import Proposal


def require_name(prefix: str) -> str:
    """The beginning of an id. Raises UsageProblem for nothing, which would be the beginning of every id."""
    if not prefix.strip():
        raise UsageProblem("an id cannot be empty", "orch memory list shows the ids")
    return prefix


def entry_named(document: Document, prefix: str) -> Entry | None:
    """The entry whose id begins so; None when there is none. Raises UsageProblem where there is more than one."""
    try:
        return document.entry(prefix)
    except MemoryFault as exc:
        raise UsageProblem(exc.message, exc.hint) from exc


def replaced(document: Document, named: str | None) -> Entry | None:
    """The entry whose place a proposal takes, by what that says itself; None where it names none, or not just one."""
    living = {entry.id: entry for entry in document.entries if not entry.superseded}
    found = beginning_with(named or "", sorted(living))
    return living[found[0]] if len(found) == 1 else None


def nothing_named(prefix: str) -> UsageProblem:
    """What is raised where nothing has an id that begins so."""
    return UsageProblem(f"there is no entry {prefix!r} in the memory", "orch memory list shows the ids")


class Names:
    """What the entries of one document and the open proposals are called."""

    def __init__(self, document: Document, proposals: Iterable[Proposal]) -> None:
        """The names of the entries of `document` and of `proposals`, of which the last one about a fact counts."""
        self._document = document
        self._proposals = {each.entry: each for each in proposals}
        self._ids = sorted(self._proposals)

    def named(self, prefix: str) -> Entry | Proposal:
        """The entry whose id begins so, else the proposal. Raises UsageProblem where there is none or more than one."""
        found = entry_named(self._document, prefix) or self._proposal(prefix)
        if found is None:
            raise nothing_named(prefix)
        return found

    def open_to_approval(self, prefix: str) -> Entry | Proposal:
        """As `named`, but where the entry is superseded it is a proposal to have the same again, if there is one."""
        entry = entry_named(self._document, prefix)
        if entry is None or not entry.superseded:
            return self.named(prefix)
        proposal = self._proposal(prefix)
        if proposal is None:
            raise UsageProblem(f"{entry.id} is superseded", "orch memory add it again, in today's words")
        return proposal

    def _proposal(self, prefix: str) -> Proposal | None:
        found = beginning_with(prefix, self._ids)
        if len(found) > 1:
            raise UsageProblem(f"{prefix!r} is the beginning of several entries: {', '.join(found)}", "give more of it")
        return self._proposals[found[0]] if found else None
