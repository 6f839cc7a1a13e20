"""How near two texts are in meaning, by a small model of words that comes with a package: the extra `embed`."""

import logging
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from memory.errors import MemoryFault

_INSTALL = "install orch with its extra `embed` (docs/ask.md), or set memory.embed: false"


class Meaning(Protocol):
    """Measures how near texts are to a question."""

    def similar(self, question: str, texts: Sequence[str]) -> list[float]:
        """The cosine of each text with the question, -1 to 1."""
        ...


class WordModel:
    """WordLlama's static vectors (256 dimensions, 16 MB), read from the installed package. Nothing is downloaded.

    Raises MemoryFault where the package or its files are missing.
    """

    def __init__(self) -> None:
        self._model = _load()

    def similar(self, question: str, texts: Sequence[str]) -> list[float]:
        """The cosine of each text with the question, -1 to 1."""
        if not texts:
            return []
        asked = self._model.embed([question], norm=True)[0]
        return [float(value) for value in self._model.embed(list(texts), norm=True) @ asked]


@cache
def _load() -> Any:
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        import wordllama
    except ImportError as exc:
        raise MemoryFault("memory.embed: the package wordllama is not installed", _INSTALL) from exc
    finally:
        # The package sets up logging for the whole program when it is imported.
        root.handlers[:] = handlers
        root.setLevel(level)
    try:
        # Its own folder as the cache: the tokeniser lies there under the name that only the cache is searched for.
        return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    except (OSError, ValueError) as exc:
        raise MemoryFault(f"memory.embed: {exc}", _INSTALL) from exc
