"""Entries that are larger than the whole budget of the render: no agent would ever be given them."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from orchestrator.config import may_set
from orchestrator.project import Project

if TYPE_CHECKING:
    from memory.entry import Trust
    from memory.trust import Judged
    from orchestrator.config_schema import Config
    from orchestrator.injection import Injection

# The frame of a render, a heading and the mark of an entry take less, and a token is at least one byte.
_MOST_AROUND = 1000
_DEFAULT_TOKENS = 2000


def oversize_text(
    project: Project, environ: Mapping[str, str], text: str, *, section: str, trust: "Trust"
) -> str | None:
    """One line about a text that does not fit into the budget even alone; None when it fits, or nothing is injected.

    Loads the configuration only where it can matter: `orch memory add` has little time.
    """
    size = len(text.encode("utf-8", "surrogatepass")) + _MOST_AROUND
    if size <= _DEFAULT_TOKENS and not may_set(project.config_path, environ, "budget"):
        return None
    from memory.entry import Entry, Provenance, entry_id
    from memory.trust import Judged
    from orchestrator.errors import OrchError
    from orchestrator.settings import load_settings

    try:
        config = load_settings(project, environ)
    except OrchError:
        return None  # what is wrong there is for the commands that depend on it
    budget = config.memory.budget
    if not config.memory.inject or size <= min(budget.bytes, budget.tokens):
        return None
    entry = Entry(
        id=entry_id(text),
        text=text,
        section=section,
        claimed=trust,
        superseded=False,
        provenance=Provenance(),
        tag=None,
        unknown_tag=False,
        first_line=0,
        last_line=0,
    )
    return _alone(Judged(entry=entry, trust=trust), config)


def oversize_entries(injection: "Injection", config: "Config", ids: Collection[str]) -> dict[str, str]:
    """Of these entries of the memory, those that do not fit into the budget even alone: one line about each, by id."""
    found = {}
    for each in injection.render.dropped:
        if each.judged.entry.id in ids and each.why.startswith("over the budget"):
            said = _alone(each.judged, config)
            if said is not None:
                found[each.judged.entry.id] = said
    return found


def _alone(item: "Judged", config: "Config") -> str | None:
    from projection.budget import Budget
    from projection.render import render, render_lines
    from projection.tokens import count_tokens

    budget = Budget(bytes=config.memory.budget.bytes, tokens=config.memory.budget.tokens)
    lines = "\n".join(render_lines(item))
    if not lines or render((item,), budget).included:
        return None
    return (
        f"{item.entry.id} ({len(lines.encode())} bytes, {count_tokens(lines)} tokens) cannot be injected: memory.budget"
        f" is {budget.bytes} bytes, {budget.tokens} tokens; shorten it or split it"
    )
