"""What of the memory needs a person: proposals, conflicts, what is unvouched, held back, stale or unverified."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory.document import Document, parse
from memory.edit import insert_entry, retag_entry, strike_entry
from memory.entry import Entry, Trust
from memory.paths import named_paths
from memory.secrets import find_secret
from memory.tag import render_tag
from memory.trust import Judged
from orchestrator.adding import safe_section
from orchestrator.beliefs import load_beliefs, load_document
from orchestrator.config_schema import Config
from orchestrator.deciding import provenance_of, struck_provenance
from orchestrator.grounding import renamed_to
from orchestrator.naming import replaced
from orchestrator.project import Project
from orchestrator.proposals import Proposal, Proposals, State
from orchestrator.records import Records
from projection.portable import portable_line

_EXCERPT_LINES = 3
_EXCERPT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing to decide. `kind` is `conflict`, `proposal`, `unvouched`, `held back`, `stale` or `unverified`.

    `against` is the text that a conflict contradicts, `source` one line on where it comes from, `digest` what is known
    of the agent's run, `excerpt` lines of its output that speak of it, `fix` a suggestion, `change` works out what
    approving would change.
    """

    id: str
    kind: str
    text: str
    why: str = ""
    against: str = ""
    source: str = ""
    digest: str = ""
    excerpt: tuple[str, ...] = ()
    fix: str = ""
    change: Callable[[], str] = field(default=str, repr=False, compare=False)

    @property
    def diff(self) -> str:
        """Worked out when asked for: a list shows none, and there may be thousands."""
        return self.change()

    def to_json(self) -> dict[str, Any]:
        """The item as a JSON object."""
        shown = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "change"}
        return {**shown, "diff": self.diff}


def load_items(project: Project, config: Config, records: Records) -> tuple[Item, ...]:
    """Everything that needs a person, what is most urgent first."""
    beliefs = load_beliefs(project, config)
    document = beliefs.document if beliefs is not None else parse(b"")
    items: list[Item] = []
    for state, kind in ((State.CONFLICT, "conflict"), (State.WAITING, "proposal")):
        # One for each text: what is decided holds for every agent's claim of it, and the last one is shown.
        claims = {each.entry: each for each in Proposals(records=records).all(state)}
        items += [_of_proposal(project, records, document, each, kind) for each in claims.values()]
    for item in beliefs.checked() if beliefs is not None else ():
        kind = _kind(item)
        if kind:
            items.append(_of_entry(project, records, document, item, kind))
    order = ("conflict", "unvouched", "held back", "proposal", "stale", "unverified")
    return tuple(sorted(items, key=lambda each: order.index(each.kind)))


def has_changed(project: Project, records: Records, item: Item) -> bool:
    """Whether what an item showed stands there no more: somebody else changed, decided or removed it meanwhile."""
    if item.kind in ("conflict", "proposal"):
        state = State.CONFLICT if item.kind == "conflict" else State.WAITING
        open_ = Proposals(records=records).all(state)
        return not any((each.entry, each.text) == (item.id, item.text) for each in open_)
    document, _ = load_document(project)
    entries = () if document is None else document.entries
    shown = (item.id, item.text, item.source)
    return not any((each.id, each.text, _written(each)) == shown and not each.superseded for each in entries)


def _written(entry: Entry) -> str:
    return entry.tag or "written into the file, without a tag"


def _kind(item: Judged) -> str:
    if item.entry.superseded:
        return ""
    if item.forged:
        return "unvouched"
    if item.held is not None:
        return "held back"
    if item.stale is not None:
        return "stale"
    return "unverified" if item.trust is Trust.UNVERIFIED else ""


def _of_proposal(project: Project, records: Records, document: Document, proposal: Proposal, kind: str) -> Item:
    tag = render_tag("trusted", provenance_of(proposal))
    after = document
    against = ""
    old = replaced(document, proposal.supersedes)
    if old is not None:
        against = old.text
        after = strike_entry(after, old, struck_provenance(old))
    after = insert_entry(after, proposal.text, section=safe_section(proposal.section), tag=tag)
    where = f"branch {proposal.branch}" if proposal.branch else "no branch"
    return Item(
        id=proposal.entry,
        kind=kind,
        text=proposal.text,
        why=proposal.why,
        against=against,
        source=f"agent {proposal.agent} ({proposal.backend or 'unknown'}), {proposal.at[:10]}, {where}",
        digest=_digest(records, proposal.agent),
        excerpt=_excerpt(project, proposal.agent, proposal.text),
        change=lambda: _diff(document, after),
    )


def _of_entry(project: Project, records: Records, document: Document, item: Judged, kind: str) -> Item:
    entry = item.entry

    def change() -> str:
        if entry.claimed is Trust.HUMAN:
            return ""
        return _diff(document, retag_entry(document, entry, render_tag("trusted", entry.provenance)))

    agent = entry.provenance.agents[0] if entry.provenance.agents else None
    return Item(
        id=entry.id,
        kind=kind,
        text=entry.text,
        why=item.held or item.stale or ("nobody vouched for it" if item.forged else ""),
        source=_written(entry),
        digest=_digest(records, agent) if agent else "",
        excerpt=_excerpt(project, agent, entry.text) if agent else (),
        fix=_fix(project, entry.text) if kind == "stale" else "",
        change=change,
    )


def _fix(project: Project, text: str) -> str:
    for path in named_paths(text):
        found = renamed_to(project, path)
        if found is not None:
            return f"{path} is called {found} now"
    return ""


def _digest(records: Records, agent_id: str) -> str:
    agent = records.agent(agent_id)
    if agent is None:
        return ""
    outcome = agent.outcome.value if agent.outcome is not None else agent.status.value
    task = agent.task.strip().splitlines()[0][:100] if agent.task.strip() else ""
    return portable_line(f"{agent.id} {agent.backend} {outcome}: {task}")


def _excerpt(project: Project, agent_id: str | None, text: str) -> tuple[str, ...]:
    """The lines of the agent's output that share most of the claim's words; what is in them is data."""
    path = project.agents / (agent_id or "-") / "output"
    try:
        if not path.is_file() or Path(path).stat().st_size > _EXCERPT_BYTES:
            return ()
        lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    except OSError:
        return ()
    words = {word for word in text.lower().split() if len(word) > 3}
    scored = [(sum(word in line.lower() for word in words), line) for line in lines]
    best = sorted((pair for pair in scored if pair[0] * 2 >= len(words) > 0), key=lambda pair: -pair[0])
    return tuple(
        "(a line with what looks like a secret)" if find_secret(line) else portable_line(line.strip())[:300]
        for _, line in best[:_EXCERPT_LINES]
    )


def _diff(before: Document, after: Document) -> str:
    lines = difflib.unified_diff(before.lines, after.lines, "memory.md", "memory.md", n=1)
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
