"""The launch file: what the supervisor is told by the spawn, beside the environment that it inherits."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

NAME = "launch.json"


@dataclass(frozen=True, kw_only=True)
class LaunchFile:
    """How the supervisor starts the backend.

    No environment stands in it: the supervisor inherits the agent's own, so no secret is written to disk.
    `stdin` is a path or None (/dev/null). `minutes` and `requests` are limits, None for no limit. `seam_file` is the
    context file with our block in it, relative to the worktree, and `seam_made` says that orch created that file.
    """

    agent_id: str
    backend: str
    common_dir: str
    argv: tuple[str, ...]
    cwd: str
    stdin: str | None = None
    minutes: float | None = None
    requests: int | None = None
    seam_file: str | None = None
    seam_made: bool = False

    def write(self, folder: Path) -> None:
        """Write it into the agent's directory, readable by its owner alone."""
        path = folder / NAME
        path.touch(mode=0o600)
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


def load_launch_file(folder: Path) -> LaunchFile:
    """Read what `LaunchFile.write` wrote. Raises OSError or ValueError when it is not there or not whole."""
    data = json.loads((folder / NAME).read_text(encoding="utf-8"))
    return LaunchFile(**{**data, "argv": tuple(data["argv"])})
