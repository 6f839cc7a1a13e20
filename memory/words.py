"""Whether a text denies: told by its words."""

import re

_DENIAL = re.compile(
    r"\b(?:not|never|nothing|nobody|\w+n't|dont|cannot|avoid|forbid\w*|disallow\w*|prohibit\w*|without)\b",
    re.IGNORECASE,
)


def denies(text: str) -> bool:
    """Whether a text forbids or denies something: a question about what must not be is answered by such an entry."""
    return bool(_DENIAL.search(text.replace("’", "'")))
