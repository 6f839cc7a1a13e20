"""Limits on time that mean the same on every machine: multiples of a fixed piece of plain work."""

import re
import time
from collections import Counter


def _plain_work() -> int:
    """Read 10,000 lines into their words and count them."""
    lines = [f"- Part {i} reads conf/part-{i}.toml; `make part-{i}` tests it." for i in range(10_000)]
    counts = [Counter(word.casefold() for word in re.findall(r"[a-zA-Z0-9]+", line)) for line in lines]
    return len(set().union(*counts))


def _measured() -> float:
    begun = time.process_time()
    assert _plain_work() > 10_000
    return time.process_time() - begun


class Floor:
    """Measures plain work at the beginning and at the end of what is limited, since a machine may slow down meanwhile.

    The work takes 0.04 s of the processor's time where the limits were set.
    """

    def __init__(self) -> None:
        self._before = min(_measured() for _ in range(3))

    def times(self, factor: float) -> float:
        """So many times as long as the plain work takes, in seconds."""
        return factor * max(self._before, min(_measured() for _ in range(3)))
