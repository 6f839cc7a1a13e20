"""Unexpected errors: their tracebacks, kept in a file that a person can send."""

import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.config import environment


def write_fault(exc: BaseException) -> Path:
    """Write the traceback to a log in the user's state directory, else in a temporary file; return its path."""
    text = "".join(traceback.format_exception(exc))
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    environ = environment()
    base = Path(environ.get("XDG_STATE_HOME") or Path(environ.get("HOME", "/nonexistent")) / ".local" / "state")
    try:
        folder = base / "orch" / "faults"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = folder / f"{stamp}.log"
        log.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError:
        with tempfile.NamedTemporaryFile("w", suffix=".log", prefix="orch-fault-", delete=False) as stream:
            stream.write(text.encode("utf-8", "backslashreplace").decode())
            log = Path(stream.name)
    return log
