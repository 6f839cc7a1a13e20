"""The budget of a render: hard caps, fence included."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Most bytes of UTF-8 and most tokens (see projection.tokens) of a whole render."""

    bytes: int = 8000
    tokens: int = 2000
