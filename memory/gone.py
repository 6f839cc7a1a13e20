"""Whether a text says of something that it is there no more: told by its words."""

import re
from collections.abc import Sequence

# `replaced by X`: X is what is there now.
_CLAUSE = re.compile(r"[.;:,](?=\s|\Z)|\b(?:and|but|so|because|since|by)\b")
_GONE = re.compile(
    r"\b(?:is|are|was|were|been|has|have|got) (?:\w+ )?(?:removed|dropped|retired|replaced|gone|abandoned|unused|"
    r"deleted|discontinued|shut down|switched off|decommissioned|superseded)\b|"
    r"\b(?:no longer|any ?more|instead of|in place of|replace[sd]?)\b",
    re.IGNORECASE,
)


def says_gone(names: Sequence[str], text: str) -> bool:
    """Whether a text says that one of the names (in lower case) is gone: that answers whatever is asked about it."""
    if not names or _GONE.search(text) is None:
        return False
    clauses = [clause.casefold() for clause in _CLAUSE.split(text) if _GONE.search(clause)]
    return any(re.search(rf"\b{re.escape(name)}\b", clause) for name in names for clause in clauses)
