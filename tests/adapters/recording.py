"""A recording of a backend: the commands that its adapter builds, and outputs of the program with what they mean.

One JSON file per backend in `recordings/`. `launches` are inputs of `Adapter.command` (and, with `carry`, of the launch
seam) with the whole command that has to come out. `endings` are what the real program printed, or what its documents
say that it prints, with exit code and the report that has to come out.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.adapter import Adapter, Carry, Command, Ending, Launch, Report

FOLDER = Path(__file__).parent / "recordings"
STATE = Path("/scratch/repo/.git/orch/agents/a1b2")


@dataclass(frozen=True, kw_only=True)
class Recording:
    """One file."""

    launches: tuple[dict[str, Any], ...]
    endings: tuple[dict[str, Any], ...]


def load_recording(name: str) -> Recording:
    """Read the recording of a backend. Raises FileNotFoundError when there is none."""
    data = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Recording(launches=tuple(data["launches"]), endings=tuple(data["endings"]))


def launch_of(given: dict[str, Any]) -> Launch:
    """The launch that a recording describes; what it leaves out is the same for all."""
    return Launch(
        executable="/usr/bin/program",
        task=given.get("task", "Look into the notes."),
        worktree=Path("/scratch/worktrees/one"),
        state=STATE,
        model=given.get("model"),
        session=given.get("session"),
        resume=given.get("resume", False),
        interactive=given.get("interactive", False),
        root=given.get("root", False),
        environ=given.get("environ", {}),
        extra_args=tuple(given.get("extra_args", ())),
    )


def built(adapter: Adapter, given: dict[str, Any]) -> dict[str, Any]:
    """The command for a launch, as JSON has it."""
    launch = launch_of(given)
    command = adapter.command(launch)
    if "carry" in given:
        assert adapter.launch_seam is not None
        command = adapter.launch_seam.apply(launch, command, Carry(text=given["carry"], path=STATE / "render"))
    return as_json(command)


def as_json(command: Command) -> dict[str, Any]:
    """A command with everything that starts the program."""
    return {
        "argv": list(command.argv),
        "environ": dict(command.environ),
        "stdin": None if command.stdin is None else command.stdin.decode(),
        "files": {str(path): data.decode() for path, data in command.files.items()},
    }


def reported(adapter: Adapter, given: dict[str, Any]) -> Report:
    """What the adapter makes of a recorded ending."""
    return adapter.report(
        Ending(
            exit_code=given["exit_code"],
            signal=given.get("signal"),
            output=given["output"].encode(),
            launch=launch_of({}),
        )
    )
