"""Characters that a reader cannot see: zero-width, bidirectional, tag and escape characters."""

import re
from functools import cache


def has_hidden(text: str) -> bool:
    """Whether the text holds characters that a reader cannot see or that reorder what is shown."""
    if text.isascii():
        return "\x1b" in text
    return _hidden().search(text) is not None


@cache
def _hidden() -> re.Pattern[str]:
    return re.compile(
        "[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad\U000e0000-\U000e007f\U000e0100-\U000e01ef\x1b]"
    )
