"""Words of one meaning to a developer: `data/synonyms.txt`."""

from functools import cache
from pathlib import Path

from memory.stems import stem, stems_in
from memory.vocabulary import STOP

_FILE = Path(__file__).resolve().parent / "data" / "synonyms.txt"


def wordings_of(word: str) -> frozenset[str]:
    """The words that mean the same as a word in any of its forms, its own forms among them."""
    return _wordings().get(stem(word), frozenset())


@cache
def _wordings() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        members = [word for word in line.split() if word not in STOP] if not line.startswith("#") else []
        for name in stems_in(members):
            found.setdefault(name, set()).update(members)
    return {name: frozenset(members) for name, members in found.items()}
