"""Gemini CLI (measured on 0.61.0)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapters.adapter import Adapter, Command, Ending, FileSeam, Launch, Outcome, Redirect, Report, Usage
from adapters.output import json_lines, last_text, report_failure, table


def _command(launch: Launch) -> Command:
    # Without --skip-trust a new worktree is untrusted, and the run ends with 55.
    words = [launch.executable, "--skip-trust", "--approval-mode", "yolo"]
    if not launch.interactive:
        words += ["-o", "stream-json"]
    if launch.session:
        words += ["-r" if launch.resume else "--session-id", launch.session]
    if launch.model:
        words += ["-m", launch.model]
    words += launch.extra_args
    if launch.interactive:
        return Command(argv=(*words, f"--prompt-interactive={launch.task}"))
    # A prompt on stdin has no limit of length and no trouble with dashes.
    return Command(argv=tuple(words), stdin=launch.task.encode())


def _report(ending: Ending) -> Report:
    session: str | None = None
    parts: list[str] = []
    result: dict[str, Any] = {}
    error = ""
    for line in json_lines(ending.output):
        kind = line.get("type")
        if kind == "init":
            session = str(line.get("session_id") or "") or None
        elif kind == "message" and line.get("role") == "assistant":
            parts = [*parts, str(line.get("content") or "")] if line.get("delta") else [str(line.get("content") or "")]
        elif kind == "tool_use":
            parts = []
        elif kind == "error":
            error = str(line.get("message") or error)
        elif kind == "result":
            result = line
    failure = table(result.get("error"))
    done = Report(
        outcome=Outcome.COMPLETED,
        session=session,
        message="".join(parts).strip() or None,
        usage=_usage(table(result.get("stats"))),
    )
    if ending.exit_code == 0 and ending.signal is None and result.get("status", "success") == "success":
        return done
    said = str(failure.get("message") or error or last_text(ending.output))
    wrong = report_failure(ending, said)
    return replace(done, outcome=wrong.outcome, reason=wrong.reason)


def _usage(stats: dict[str, Any]) -> Usage | None:
    if not stats:
        return None
    cached = int(stats.get("cached") or 0)
    total = int(stats.get("input_tokens") or 0)
    return Usage(input=max(0, total - cached), cached=cached, output=int(stats.get("output_tokens") or 0))


def _redirect(url: str, home: Path) -> Redirect:
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    return Redirect(
        environ={"GEMINI_CLI_HOME": str(home), "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "loopback"},
        files={home / ".gemini" / "settings.json": json.dumps(settings).encode()},
        model="gemini-2.5-pro",
    )


ADAPTER = Adapter(
    name="gemini",
    title="Gemini CLI",
    executables=("gemini",),
    install="npm install -g @google/gemini-cli",
    tested=("0.61.0", "0.61.0"),
    proof="recorded",
    command=_command,
    file_seam=FileSeam(name="GEMINI.md"),
    default_seam="file",
    report=_report,
    redirect=_redirect,
    reads=("GEMINI.md",),
    local_files=(".gemini/settings.json",),
    chooses_session=True,
)
