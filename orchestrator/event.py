"""An event: one line of what happened to the agents, as it is read from the records."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened. `detail` is a JSON object."""

    number: int
    at: str
    agent: str | None
    kind: str
    detail: dict[str, Any]
