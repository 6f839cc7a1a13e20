"""Launches and endings for the adapters' own tests."""

import json
from pathlib import Path
from typing import Any

from adapters.adapter import Carry, Ending, Launch

TEXT = 'line one — 数据 🙂 "q" \\ \x7f\n- line two'


def launch(tmp_path: Path, **changes: Any) -> Launch:
    """A launch below `tmp_path`."""
    values: dict[str, Any] = {
        "executable": "/bin/agent",
        "task": "-x do\nit",
        "worktree": tmp_path / "tree",
        "state": tmp_path / "state",
        "environ": {"HOME": str(tmp_path / "home")},
    }
    return Launch(**{**values, **changes})


def carry(tmp_path: Path, **changes: Any) -> Carry:
    """The text to carry, and where its file is."""
    return Carry(**{"text": TEXT, "path": tmp_path / "render.md", **changes})


def ended(of: Launch, output: object, code: int | None = 0, signal: int | None = None) -> Ending:
    """An ending with this output: bytes, a text, or a list of JSON lines."""
    if isinstance(output, list):
        output = "noise before\r\n" + "".join(json.dumps(line) + "\r\n" for line in output) + "{broken\n[1]\n"
    data = output.encode() if isinstance(output, str) else output
    assert isinstance(data, bytes)
    return Ending(exit_code=code, signal=signal, output=data, launch=of)
