"""Words of a person as the last arguments of a command."""

import sys
from collections.abc import Sequence

from orchestrator.errors import UsageProblem


def read_words(words: Sequence[str]) -> str:
    """The words as one text; a lone `-` stands for standard input. Raises UsageProblem where that is not UTF-8."""
    if tuple(words) != ("-",):
        return " ".join(words)
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as exc:
        raise UsageProblem(f"the text is not UTF-8 (byte {exc.start})", "convert it: iconv") from exc
