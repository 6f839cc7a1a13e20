"""Reading the options that a person has put among a backend's configured arguments."""

from collections.abc import Sequence


def has_option(words: Sequence[str], *names: str) -> bool:
    """Whether one of the options is given, as a word or as `name=value`; what stands after `--` is none."""
    for word in words:
        if word == "--":
            return False
        if word.partition("=")[0] in names:
            return True
    return False


def take_options(words: Sequence[str], *names: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Take the options that have a value out of the words; return the words left, and each (name, value) in order."""
    kept: list[str] = []
    taken: list[tuple[str, str]] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            kept += [word, *rest]
        elif name in names:
            taken.append((name, value if equals else next(rest, "")))
        else:
            kept.append(word)
    return tuple(kept), tuple(taken)
