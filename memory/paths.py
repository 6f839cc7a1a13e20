"""The paths that an entry names, in code spans and in plain text."""

import re

_SPAN = re.compile(r"`([^`\n]+)`")
_WORD = re.compile(r"[^\s`'\"()<>\[\]{},;]+")
_SHAPE = re.compile(r"\.{0,2}/?(?:[\w.@+*?-]+/)*[\w.@+*?-]*[\w*?]/?\Z")
_EXTENSION = re.compile(r"[\w*?-]\.[a-z][a-z0-9]{0,9}\Z", re.I)
_POSITION = re.compile(r"(?::\d+){1,2}(?:-\d+)?\Z|#L\d+(?:-L?\d+)?\Z")


def named_paths(text: str) -> tuple[str, ...]:
    """Relative paths that `text` names, without line numbers, each once, in order; globs as they are.

    Only what looks like a path: with a slash inside or a file's extension; URLs, flags, absolute and home paths are
    none, nor what climbs out of the repository.
    """
    words = _WORD.findall(_SPAN.sub(lambda span: f" {span[1]} ", text))
    found = (_path(word) for word in words)
    return tuple(dict.fromkeys(path for path in found if path is not None))


def _path(word: str) -> str | None:
    if "://" in word or word.startswith(("-", "/", "~", "$", "@", "#")) or "=" in word:
        return None
    path = _POSITION.sub("", word.rstrip(".,:!?"))
    path = path.removeprefix("./")
    if not path or not _SHAPE.match(path) or ".." in path.split("/"):
        return None
    inner = path.rstrip("/")
    if "/" in inner or path.endswith("/"):
        return path if re.search(r"\w", inner) else None
    return path if _EXTENSION.search(path) and not re.match(r"[\d.]+\Z", path) else None
