"""An agent's claim: kept as a proposal with where it comes from; nothing of it is believed yet."""

from memory.document import Document, parse
from memory.entry import entry_id
from orchestrator.adding import Decision, require_section, require_text
from orchestrator.beliefs import load_document
from orchestrator.desk import Desk
from orchestrator.errors import MemoryProblem
from orchestrator.landing import refused_before
from orchestrator.naming import entry_named, nothing_named, require_name


def propose(desk: Desk, agent_id: str, text: str, *, section: str | None, supersedes: str | None = None) -> Decision:
    """Keep a claim of an agent until it ends (or its branch merges).

    Raises MemoryProblem for a text that is refused, and for a fact that was rejected, superseded or removed before;
    UsageProblem for a section's name that is none, and where `supersedes` does not name one entry.
    """
    said, where = require_text(text), require_section(section, claimed=True)
    named = None if supersedes is None else _replaced(desk, supersedes)
    agent = desk.records.agent(agent_id)
    branch = agent.branch if agent is not None else None
    tip = desk.project.git().commit(f"refs/heads/{branch}") if branch else None
    entry = entry_id(said)
    refused = refused_before(desk, _document(desk), said)
    if refused is not None:
        raise MemoryProblem(f"this was {refused} before, and is not proposed again", "a person can: orch memory add")
    desk.proposals.add(
        said,
        section=where,
        agent=agent_id,
        backend=agent.backend if agent is not None else None,
        branch=branch,
        base=agent.base if agent is not None else None,
        sha=tip,
        supersedes=named,
    )
    return Decision(id=entry, text=said, done="proposed")


def _document(desk: Desk) -> Document:
    """The memory as it is; an empty one where it cannot be read now, since a claim waits until it can be."""
    try:
        document, _ = load_document(desk.project)
    except MemoryProblem:
        document = None
    return document or parse(b"")


def _replaced(desk: Desk, prefix: str) -> str:
    """The id of the one entry that `prefix` names; what an agent leaves open cannot be settled later."""
    entry = entry_named(_document(desk), require_name(prefix))
    if entry is None:
        raise nothing_named(prefix)
    return entry.id
