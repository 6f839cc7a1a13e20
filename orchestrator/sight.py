"""What agents have been shown of the memory, and when: of that they are no independent witnesses any more.

By the text that they were given, and by every command of ours that printed it for them. What an agent reads by itself
(the file in its worktree, another agent's output) is not seen here.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from orchestrator.agent import Agent
from orchestrator.lineage import family

if TYPE_CHECKING:
    from orchestrator.records import Records

_KEY = "shown"


def with_shown(extra: Mapping[str, object], entries: Iterable[str], at: str) -> dict[str, object]:
    """The further facts of an agent's record with entries that it is shown at a time; the first time is what counts."""
    new = dict.fromkeys(entries, at)
    known = extra.get(_KEY)
    old = known if isinstance(known, dict) else dict.fromkeys(known, "") if isinstance(known, list) else {}
    return {**extra, _KEY: {**new, **old}} if new or old else dict(extra)


def was_shown(agent_id: str, entry: str, agents: Mapping[str, Agent], *, before: str) -> bool:
    """Whether an agent may have had an entry from the memory before a time: by itself, or by one that it works with.

    These are the agents that led it, those that it led, and so on: a task, or an answer, can hold what was shown.
    """
    return any(_shown(agents.get(each)).get(entry, "~") <= before for each in family(agent_id, agents))


def note_shown(environ: Mapping[str, str], records: "Records", entries: Iterable[str]) -> None:
    """Keep what a command prints for an agent, if one runs it. Where nothing can be written, nothing is kept."""
    from orchestrator.channel import agent_behind

    note_shown_to(agent_behind(environ, records), records, entries)


def note_shown_to(agent_id: str | None, records: "Records", entries: Iterable[str]) -> None:
    """As `note_shown`, for an agent whose id is known already; None is a person."""
    from orchestrator.errors import OrchError
    from orchestrator.records import now

    printed = list(entries)
    if agent_id is None or not printed:
        return
    try:
        agent = records.agent(agent_id)
        if agent is None or _shown(agent).keys() >= set(printed):
            return
        at = now()
        records.change_agent(agent_id, lambda each: each.changed(extra=with_shown(each.extra, printed, at)))
    except (OrchError, OSError):
        # A sandbox that lets nothing be written does not let its agent propose anything either.
        return


def _shown(agent: Agent | None) -> dict[str, str]:
    found = with_shown(agent.extra, (), "").get(_KEY) if agent is not None else None
    return found if isinstance(found, dict) else {}
