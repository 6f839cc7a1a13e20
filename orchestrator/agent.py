"""An agent as the records know it: one spawned run of a backend."""

from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Self

from adapters.adapter import Outcome


class Status(StrEnum):
    """Where an agent stands in its life."""

    STARTING = "starting"
    RUNNING = "running"
    ENDED = "ended"
    REMOVED = "removed"  # its worktree is gone; the record stays


@dataclass(frozen=True, kw_only=True)
class Agent:
    """One agent. Times are ISO 8601 in UTC; paths are absolute.

    `base` is the commit that its branch started from, `base_name` what the person called it. `argv` is the backend's
    command line; the environment is not kept, only the names that orch set (`environ_names`), since values may
    be secrets. `begun` is when its latest run was started (None: at `created`); `extra["runs"]` are the runs before it,
    of an agent that was resumed or handed over. A process is named by its pid and its start time (seconds since the
    epoch), so that a reused pid is not taken for it. `outcome`, `reason`, `message` and `usage` are the adapter's
    report of the end.
    """

    id: str
    backend: str
    task: str
    worktree: str
    base: str
    created: str
    begun: str | None = None
    branch: str | None = None
    base_name: str = "HEAD"
    branch_made: bool = True
    executable: str = ""
    version: str | None = None
    model: str | None = None
    argv: tuple[str, ...] = ()
    environ_names: tuple[str, ...] = ()
    render_digest: str | None = None
    render_bytes: int = 0
    seam: str = "none"
    seam_reason: str = ""
    seam_file: str | None = None
    session: str | None = None
    status: Status = Status.STARTING
    supervisor_pid: int | None = None
    supervisor_started: float | None = None
    pid: int | None = None
    pid_started: float | None = None
    started: str | None = None
    ended: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    outcome: Outcome | None = None
    reason: str = ""
    message: str | None = None
    usage: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A JSON object with every field."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read what `to_json` wrote; fields that this version does not know are left out."""
        known = {entry.name for entry in fields(cls)}
        values = {name: value for name, value in data.items() if name in known}
        for name in ("argv", "environ_names", "notes"):
            values[name] = tuple(values.get(name) or ())
        values["status"] = Status(values.get("status", Status.STARTING))
        if values.get("outcome") is not None:
            values["outcome"] = Outcome(values["outcome"])
        return cls(**values)

    def changed(self, **changes: Any) -> "Agent":
        """A copy with some fields changed."""
        return replace(self, **changes)

    @property
    def live(self) -> bool:
        """Whether the record says that it is still going on."""
        return self.status in (Status.STARTING, Status.RUNNING)
