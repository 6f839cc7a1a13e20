"""Gemini CLI (measured on 0.61.0)."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapters.adapter import Adapter, Command, Ending, FileSeam, Launch, Outcome, Redirect, Report, Usage
from adapters.options import has_option
from adapters.output import count, json_lines, last_text, report_failure, table, text

# A person's own choice of what the agent may do; given beside ours, it ends the run with an error.
_APPROVAL = ("--approval-mode", "-y", "--yolo")
_RETRY = re.compile(rb"^Attempt \d+ failed.*$", re.MULTILINE)


def _command(launch: Launch) -> Command:
    # Without --skip-trust a new worktree is untrusted, and the run ends with 55.
    words = [launch.executable, "--skip-trust"]
    if not has_option(launch.extra_args, *_APPROVAL):
        words += ["--approval-mode", "yolo"]
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
            session = text(line.get("session_id")) or None
        elif kind == "message" and line.get("role") == "assistant":
            said = text(line.get("content"))
            parts = [*parts, said] if line.get("delta") else [said]
        elif kind == "tool_use":
            parts = []
        elif kind == "error":
            error = text(line.get("message")) or error
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
    said = text(failure.get("message")) or error or _retried(ending.output) or last_text(ending.output)
    wrong = report_failure(ending, said)
    return replace(done, outcome=wrong.outcome, reason=wrong.reason)


def _retried(output: bytes) -> str:
    """What it was retrying when it ended, "" for nothing; a stack trace follows that line."""
    found = _RETRY.findall(output)
    return found[-1].decode("utf-8", "replace") if found else ""


def _usage(stats: dict[str, Any]) -> Usage | None:
    if not stats:
        return None
    cached = count(stats.get("cached"))
    total = count(stats.get("input_tokens"))
    return Usage(input=max(0, total - cached), cached=cached, output=count(stats.get("output_tokens")))


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
