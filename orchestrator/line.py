"""A line of the ledger, as it is read."""

from dataclasses import dataclass
from typing import Any

from orchestrator.ledger import Act


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the ledger. `channel` is `command`, `edit`, `agent`, `import` or `orch`; `detail` a JSON object."""

    number: int
    at: str
    entry: str
    act: Act
    channel: str
    agent: str | None
    detail: dict[str, Any]
