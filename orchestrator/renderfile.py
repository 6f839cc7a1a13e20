"""The file of a render: one for all the agents that carry the same text."""

import hashlib
import os
import time
from pathlib import Path

FOLDER = "renders"
# A spawn writes the file a moment before its agent is recorded as started.
_FRESH_SECONDS = 60.0


def render_path(state: Path, text: str) -> Path:
    """Where the text is, below the project's state directory.

    Some backends tell the model the path. One with the agent's id in it would end the prefix that another agent's
    request can share (aider: 12 % of a second worktree's request instead of all of it).
    """
    return state / FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.md"


def write_render(path: Path, data: bytes) -> None:
    """Write the file unless it is there; never half of it, since another agent may be reading it."""
    if path.is_file() and path.read_bytes() == data:
        os.utime(path)  # in use again: `forget_renders` leaves it
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_bytes(data)
    draft.rename(path)


def forget_renders(state: Path) -> None:
    """Remove the files; each is written again when it is needed.

    To be called only while no agent is running, since a backend may read its file at any time. One that is younger than
    a minute stays: a spawn may be about to use it.
    """
    for path in (state / FOLDER).glob("*"):
        if time.time() - path.stat().st_mtime >= _FRESH_SECONDS:
            path.unlink(missing_ok=True)
