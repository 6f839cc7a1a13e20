"""The file of a render: one for all the agents that carry the same text."""

import hashlib
import os
from pathlib import Path

FOLDER = "renders"


def render_path(state: Path, text: str) -> Path:
    """Where the text is, below the project's state directory.

    Some backends tell the model the path. One with the agent's id in it would end the prefix that another agent's
    request can share (aider: 12 % of a second worktree's request instead of all of it).
    """
    return state / FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.md"


def write_render(path: Path, data: bytes) -> None:
    """Write the file unless it is there; never half of it, since another agent may be reading it."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_bytes(data)
    draft.rename(path)
