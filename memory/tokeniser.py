"""Words of a text as a search needs them: identifiers whole and in their parts, everything else as plain words."""

import re

from memory.vocabulary import PRODUCTS

# A path, a dotted or coloned name, snake_case, a flag, a file with a suffix: one thing to the person who asks for it.
_COMPOUND = re.compile(
    r"(?:--?|_)?[^\W_][\w]*(?:(?:[./_\-+@]|::)+[\w*]+)+|--[\w][\w\-]*|\b[A-Z]{2,}_[A-Z_]+\b|\bC\+\+|\b[CF]#"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_HUMPED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")  # what every text has that has a hump
_WORD = re.compile(r"[^\W_]+")
_PROSE_HYPHEN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+\Z")


def words(text: str, *, whole: bool = False) -> list[str]:
    """The plain words, humps of camelCase apart: `FeatureFlagCache` is three; with `whole`, the name itself as well."""
    plain = _WORD.findall(text)
    if _HUMPED.search(text) is None:
        return plain
    found: list[str] = []
    for word in plain:
        if not _is_camel(word):
            found.append(word)
            continue
        found.extend(_HUMP.split(word))
        if whole:
            found.append(word)
    return found


def searchable(text: str) -> str:
    """The text as it is indexed: as it stands, and again with the humps of its camelCase names apart."""
    if _HUMPED.search(text) is None:
        return text
    humped = [word for word in _WORD.findall(text) if _is_camel(word)]
    return text if not humped else text + " " + " ".join(part for word in humped for part in _HUMP.split(word))


def identifiers(text: str) -> list[str]:
    """The names in a text that mean one thing as a whole: `openapi.yaml`, `--flag`, `snake_case`, `camelCase`, a/path.

    Words joined by hyphens only (`end-to-end`) are prose, except as a flag.
    """
    found = [name for name in _COMPOUND.findall(text) if not _PROSE_HYPHEN.match(name)]
    covered = " ".join(found)
    found += [word for word in _WORD.findall(text) if word not in covered and _is_camel(word)]
    return list(dict.fromkeys(name.rstrip(".,:;?!") for name in found))


def contains_identifier(text: str, name: str) -> bool:
    """Whether a name stands in a text as a whole, in any case; more may be joined to it by punctuation, not letters."""
    start = r"(?<!\w)" if name[:1].isalnum() else ""
    end = r"(?!\w)" if name[-1:].isalnum() else ""
    return re.search(start + re.escape(name) + end, text, re.IGNORECASE) is not None


def _is_camel(word: str) -> bool:
    """Whether humps make a name of it (`useApi`, `FakeStripe`), and not a product's spelling (`GraphQL`, `iPhone`)."""
    parts = _HUMP.split(word)
    if word.casefold() in PRODUCTS:
        return False
    return len(parts) > 1 and len(parts[0]) > 1 and all(len(part) > 1 and part[1:].islower() for part in parts[1:])
