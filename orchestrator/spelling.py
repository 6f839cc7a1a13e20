"""The name that was probably meant, for every refusal of a name."""

from collections.abc import Iterable

# The share of letters in common, in order. At 0.6, difflib's own, `mine` would be near to `gemini`.
_LEAST_LIKENESS = 0.7


def nearest(name: str, choices: Iterable[str]) -> str | None:
    """The choice that was probably meant; None when nothing is near. Upper and lower case are the same."""
    import difflib

    folded = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=_LEAST_LIKENESS)
    return folded[found[0]] if found else None
