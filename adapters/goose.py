"""Goose (contract-tested against a stand-in built from its source; never run here)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapters.adapter import (
    Adapter,
    Carry,
    Command,
    Ending,
    FileSeam,
    Launch,
    LaunchSeam,
    Outcome,
    Redirect,
    Report,
    Usage,
)
from adapters.options import take_options
from adapters.output import count, json_lines, last_text, money, report_failure, rows, table, text

_ARGUMENT_BYTES = 128 * 1024 - 1


def _command(launch: Launch) -> Command:
    name = _name(launch)
    environ, notes = _environ(launch)
    words = [launch.executable, "run", "-q", "--output-format", "json"]
    # A session's id cannot be chosen, but its name can, and is resumed by.
    words += ["-r", "-n", name] if launch.resume else ["-n", name]
    if launch.model:
        words += ["--model", launch.model]
    if launch.interactive:
        words = [word for word in words if word not in ("-q", "--output-format", "json")] + ["-s"]
        if len(launch.task.encode()) > _ARGUMENT_BYTES:
            raise ValueError("the task is too long for an argument (128 KiB is the most): put it into a file")
        return Command(argv=(*words, *launch.extra_args, f"-t={launch.task}"), environ=environ, notes=notes)
    # `-i -` takes the prompt from stdin; with `-i FILE` the option --system would be ignored silently.
    return Command(
        argv=(*words, *launch.extra_args, "-i", "-"), environ=environ, stdin=launch.task.encode(), notes=notes
    )


def _environ(launch: Launch) -> tuple[dict[str, str], tuple[str, ...]]:
    """What lets it run unattended; a mode that the person has set stays, with a word about it."""
    quiet = {"GOOSE_TELEMETRY_ENABLED": "false"}
    mode = launch.environ.get("GOOSE_MODE")
    if mode in (None, "", "auto"):
        return {**quiet, "GOOSE_MODE": "auto"}, ()
    return quiet, (f"GOOSE_MODE is {mode}, so goose may refuse tools: backends.goose.env can set auto for orch alone",)


def _name(launch: Launch) -> str:
    """What the session is called: by that it is resumed."""
    return launch.session or launch.state.name


def _apply(launch: Launch, command: Command, carry: Carry) -> Command:
    """`--system`: the end of the system prompt, after a text that the person gives in the configured arguments."""
    words, own = take_options(command.argv, "--system")
    whole = "\n\n".join([*(value for _, value in own[-1:]), carry.text])
    if len(whole.encode()) > _ARGUMENT_BYTES:
        raise ValueError("the memory is too long for an argument (128 KiB is the most): projection.seam file takes it")
    at = words.index("run") + 1
    return replace(command, argv=(*words[:at], "--system", whole, *words[at:]))


def _report(ending: Ending) -> Report:
    whole = _whole(ending.output)
    if whole is None:
        if ending.exit_code == 0 and ending.signal is None:
            return Report(outcome=Outcome.COMPLETED, message=last_text(ending.output) or None)
        return report_failure(ending, last_text(ending.output))
    metadata = table(whole.get("metadata"))
    done = Report(
        outcome=Outcome.COMPLETED, session=_name(ending.launch), message=_message(whole), usage=_usage(metadata)
    )
    if ending.exit_code != 0 or ending.signal is not None or metadata.get("status") in ("error", "failed"):
        wrong = report_failure(ending, last_text(ending.output) or done.message or "")
        return replace(done, outcome=wrong.outcome, reason=wrong.reason)
    return done


def _whole(output: bytes) -> dict[str, Any] | None:
    """The JSON object at the end of the output, which may span lines."""
    for line in json_lines(output):
        if "messages" in line:
            return line
    said = output.decode("utf-8", "replace")
    at = said.find("{\n")
    try:
        value, _ = json.JSONDecoder().raw_decode(said, at) if at >= 0 else (None, 0)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _message(whole: dict[str, Any]) -> str | None:
    for message in reversed(rows(whole.get("messages"))):
        if table(message).get("role") == "assistant":
            content = table(message).get("content")
            parts = content if isinstance(content, list) else [{"text": content}]
            said = "".join(text(table(part).get("text")) for part in parts).strip()
            return said or None
    return None


def _usage(metadata: dict[str, Any]) -> Usage | None:
    if not isinstance(metadata.get("total_tokens"), int):
        return None
    return Usage(
        input=count(metadata.get("input_tokens")),
        cached=count(metadata.get("cache_read_input_tokens")),
        output=count(metadata.get("output_tokens")),
        cost_usd=money(metadata.get("cost_usd")),
    )


def _redirect(url: str, home: Path) -> Redirect:
    return Redirect(
        environ={
            "GOOSE_PATH_ROOT": str(home / "goose"),
            "GOOSE_PROVIDER": "openai",
            "OPENAI_HOST": url,
            "OPENAI_BASE_PATH": "v1/chat/completions",
            "OPENAI_API_KEY": "loopback",
            "GOOSE_MODEL": "m",
            "GOOSE_DISABLE_KEYRING": "1",
            "GOOSE_DISABLE_SESSION_NAMING": "true",
            "GOOSE_DISABLE_TOOL_CALL_SUMMARY": "true",
        },
        model="m",
    )


ADAPTER = Adapter(
    name="goose",
    title="Goose",
    executables=("goose",),
    install="get it from its releases: block.github.io/goose",
    tested=("1.34.0", "1.53.0"),
    proof="contract",
    command=_command,
    # A file over the budget that all hint files share (about 1 MiB) is dropped whole.
    file_seam=FileSeam(name=".goosehints", cap=1_000_000),
    launch_seam=LaunchSeam(describe="--system, at the end of the system prompt", apply=_apply),
    default_seam="file",
    report=_report,
    redirect=_redirect,
    reads=(".goosehints", "AGENTS.md"),
)
