"""The file of a render: one for all the agents that carry the same text."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.liveness import observed
from orchestrator.locks import held
from orchestrator.records import Records

FOLDER = "renders"


def render_path(state: Path, text: str) -> Path:
    """Where the text is, below the project's state directory.

    Some backends tell the model the path. One with the agent's id in it would end the prefix that another agent's
    request can share (aider: 12 % of a second worktree's request instead of all of it).
    """
    return state / FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.md"


@contextmanager
def renders_held(state: Path, records: Records) -> Iterator[None]:
    """Let nobody clear the files from before a launch writes its own until its agent is recorded as starting."""
    with held(state / "renders.lock"):
        _clear(state, records)
        yield


def write_render(path: Path, data: bytes) -> None:
    """Write the file unless it is there; never half of it, since another agent may be reading it."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_bytes(data)
    draft.rename(path)


def clear_renders(state: Path, records: Records) -> bool:
    """Remove the files, unless an agent is running: a backend may read its file at any time. Whether they are gone.

    They may hold what was taken out of the memory since; each is written again when it is needed.
    """
    if not (state / FOLDER).exists():
        return True
    with held(state / "renders.lock"):
        return _clear(state, records)


def _clear(state: Path, records: Records) -> bool:
    files = list((state / FOLDER).glob("*"))
    if files and any(observed(records, agent).live for agent in records.agents()):
        return False
    for path in files:
        path.unlink(missing_ok=True)
    return True
