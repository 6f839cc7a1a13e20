"""Antigravity's command line `agy` (contract-tested against a stand-in built from its documents; never run here)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapters.adapter import Adapter, Command, Ending, FileSeam, Launch, Outcome, Report
from adapters.output import json_lines, last_text, report_failure, table, text

_ARGUMENT_BYTES = 128 * 1024 - 16
# Its own limit on a run is five minutes; ours is the supervisor's, so its own is set out of the way.
_PRINT_TIMEOUT = "24h"


def _command(launch: Launch) -> Command:
    if len(launch.task.encode()) > _ARGUMENT_BYTES:
        raise ValueError("the task is too long for an argument (128 KiB is the most): put the material into a file")
    words = [launch.executable, "--dangerously-skip-permissions"]
    # Without it a headless run may take no workspace at all and work in a scratch directory.
    words += ["--add-dir", str(launch.worktree)]
    if launch.resume and launch.session:
        words += ["--conversation", launch.session]
    if launch.model:
        words += ["--model", launch.model]
    words += launch.extra_args
    environ = {"AGY_CLI_DISABLE_AUTO_UPDATE": "true"}
    if launch.interactive:
        return Command(argv=(*words, f"--prompt-interactive={launch.task}"), environ=environ)
    # `-p` takes the next word whatever it is, so the prompt is written into the same word.
    words += ["--output-format", "json", "--print-timeout", _PRINT_TIMEOUT]
    return Command(argv=(*words, f"-p={launch.task}"), environ=environ)


def _report(ending: Ending) -> Report:
    """Denied tools leave exit code 0 and no output, which is no completion."""
    result: dict[str, Any] = next(iter(reversed(list(json_lines(ending.output)))), {})
    session = _conversation(ending.launch)
    said = next((found for name in ("response", "result", "text") if (found := text(result.get(name)))), "")
    said = said or last_text(ending.output)
    error = text(result.get("error")) or text(table(result.get("error")).get("message"))
    if ending.exit_code != 0 or ending.signal is not None or result.get("error") or result.get("is_error"):
        return replace(report_failure(ending, error or said), session=session)
    if not said:
        return Report(outcome=Outcome.REFUSED, reason="it ended with no output: a tool was denied", session=session)
    return Report(outcome=Outcome.COMPLETED, message=said, session=session)


def _conversation(launch: Launch) -> str | None:
    """The conversation's id: it cannot be chosen, and stands in a cache file by the directory that it ran in."""
    cache = Path(launch.environ.get("HOME", "")) / ".gemini" / "antigravity-cli" / "cache" / "last_conversations.json"
    try:
        value = json.loads(cache.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return text(table(value).get(str(launch.worktree))) or None


ADAPTER = Adapter(
    name="antigravity",
    title="Antigravity CLI",
    executables=("agy",),
    install="get it from the vendor: antigravity.google",
    tested=("1.1.5", "1.5.14"),
    proof="contract",
    command=_command,
    # As the newest documents say (2026-10); older ones say 12,000 characters.
    file_seam=FileSeam(name="AGENTS.md", cap=24_000),
    default_seam="file",
    report=_report,
    reads=("AGENTS.md", "GEMINI.md", ".agents/rules"),
)
