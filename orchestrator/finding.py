"""What `orch doctor` finds: a thing that was looked at, and the repair that is safe."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from orchestrator.errors import OrchError

State = Literal["ok", "absent", "warning", "fault", "repaired"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was looked at.

    `absent` is what may be missing (a backend that is not installed), `warning` what works but deserves a look, `fault`
    what is broken. `repair`, where there is one, loses nothing; it returns what it did, or raises OrchError.
    """

    state: State
    area: str
    text: str
    hint: str = ""
    repair: Callable[[], str] | None = None


def repaired(finding: Finding) -> Finding:
    """Carry out the finding's repair, and return what became of it."""
    if finding.repair is None:
        return finding
    try:
        done = finding.repair()
    except (OrchError, OSError) as exc:
        return Finding(
            state="fault", area=finding.area, text=f"{finding.text}; the repair failed: {exc}", hint=finding.hint
        )
    return Finding(state="repaired", area=finding.area, text=f"{finding.text}: {done}")
