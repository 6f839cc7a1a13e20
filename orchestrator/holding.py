"""What keeps an entry back until a person has looked at it, from its words alone."""

from memory.entry import Entry
from memory.poison import held_reason
from memory.secrets import find_secret
from orchestrator.adding import section_fault


def held_text(entry: Entry, *, claimed: bool, heading_claimed: bool) -> str | None:
    """Why an entry is not to be given to agents: a secret in it, or that it steers them; None when nothing is wrong.

    `claimed` says that no person vouched for its text, `heading_claimed` that none did for the name of its section.
    """
    for text in (entry.text, entry.tag):
        secret = find_secret(text) if text else None
        if secret is not None:
            return f"it holds what looks like {secret[1]}"
    return held_heading(entry, claimed=heading_claimed) or (held_reason(entry.text) if claimed else None)


def held_heading(entry: Entry, *, claimed: bool) -> str | None:
    """Why the name of an entry's section is not to be given to agents."""
    fault = section_fault(entry.section, claimed=claimed)
    return None if fault is None else f"the name of its section: {fault}"
