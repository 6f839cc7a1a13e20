"""Whether an agent has changed files of the main checkout, by their absolute paths, past its own worktree.

Several backends do that when a path of the main checkout comes up in what they read. A change there may as well be the
person's own, so only files that the agent's output names by their full path count.
"""

import os
from pathlib import Path

from orchestrator.process import ProcessFault
from orchestrator.project import Project

_OUTPUT_BYTES = 32 * 1024 * 1024
_NAMED = 5


def trespass_notes(project: Project, since: float, output: Path) -> tuple[str, ...]:
    """A note that names the files of the main checkout which changed after `since` (seconds since the epoch) and which
    the agent's output names; none when there are none, or git cannot tell.
    """
    if project.main is None:
        return ()
    try:
        listed = project.git().status()
    except ProcessFault:
        return ()
    names = [os.fsdecode(entry[3:]) for entry in listed.split(b"\0") if len(entry) > 3 and entry[2:3] == b" "]
    recent = [name for name in names if _changed_since(project.main / name, since)]
    if not recent:
        return ()
    said = _tail(output)
    found = [name for name in recent if os.fsencode(project.main / name) in said]
    if not found:
        return ()
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return (f"it seems to have changed files of the main checkout: {', '.join(found[:_NAMED])}{more}",)


def _changed_since(path: Path, since: float) -> bool:
    try:
        # File systems keep times with less precision than the clock has.
        return path.lstat().st_mtime >= since - 0.01
    except OSError:
        return False


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - _OUTPUT_BYTES))
            return stream.read()
    except OSError:
        return b""
