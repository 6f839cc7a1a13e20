"""Repositories with a memory, for the tests that drive real backends."""

from collections.abc import Mapping

_FACT = "- The {n} part reads conf/part-{n}.toml and nothing else; `make part-{n}` tests it, and needs a free port.\n"

MEMORY = """\
# Project memory

## Where things live

- The daemon's API is spec-first: edit openapi.yaml, then run `make generate`.
- Fixtures live in testdata/ — "never by hand": Äpfel, 数据库, 🙂, back\\slash, $(not run), <b>bold</b>, 100 %.
- Tests need `docker compose up db` first; without it they hang instead of failing.

## Do not repeat

- Never edit the files below gen/: the next build removes every change.
"""

FILES: Mapping[str, bytes] = {
    ".orch/memory.md": MEMORY.encode(),
    "README.md": b"# Parcels\n\nIt tracks parcels.\n",
    "NOTES.txt": b"This is a line that only this file has.\n",
}


def long_memory(size: int) -> bytes:
    """A memory of about `size` bytes, every entry of it different."""
    text = "# Project memory\n\n## Where things live\n\n"
    number = 1
    while len(text) < size:
        text += _FACT.format(n=number)
        number += 1
    return text.encode()
