"""Codex CLI (measured on 0.171.0)."""

import json
import tomllib
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
    McpServer,
    Outcome,
    Redirect,
    Report,
    Usage,
)
from adapters.output import json_lines, last_text, report_failure, table

_KEY = "developer_instructions"
_ARGUMENT_BYTES = 128 * 1024 - 1


def _command(launch: Launch) -> Command:
    words = [launch.executable]
    if not launch.interactive:
        words += ["exec", "--json"]
    # A linked worktree's git directory lies outside of it, where the workspace sandbox would refuse every commit.
    words.append("--dangerously-bypass-approvals-and-sandbox")
    if launch.interactive:
        # Else it asks whether the new worktree is trusted, and sends nothing before the answer.
        trusted = f"{{{_toml(str(launch.worktree))}={{trust_level={_toml('trusted')}}}}}"
        words += ["-c", f"projects={trusted}"]
    if launch.model:
        words += ["-m", launch.model]
    words += launch.extra_args
    if launch.resume and launch.session:
        words += ["resume", launch.session]
    if launch.interactive:
        return Command(argv=(*words, "--", launch.task))
    # `-` takes the prompt from stdin, whole and exact; beside a prompt argument an open stdin makes it wait for ever.
    return Command(argv=(*words, "-"), stdin=launch.task.encode())


def _apply(launch: Launch, command: Command, carry: Carry) -> Command:
    """`developer_instructions`, after the person's own value, which the option would replace."""
    argv, given = _without_own(command.argv)
    own = given if given is not None else _configured(launch)
    text = f"{own}\n\n{carry.text}" if own else carry.text
    value = f"{_KEY}={_toml(text)}"
    if len(value.encode()) > _ARGUMENT_BYTES:
        raise ValueError("the memory is too long for an argument (128 KiB is the most): projection.seam file takes it")
    # Options stand before the subcommand `resume` and before the prompt.
    at = next(index for index, word in enumerate(argv) if word == "--dangerously-bypass-approvals-and-sandbox") + 1
    return replace(command, argv=(*argv[:at], "-c", value, *argv[at:]))


def _without_own(argv: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    """Take the person's own `-c developer_instructions=…` out of the arguments."""
    kept: list[str] = []
    own: str | None = None
    index = 0
    while index < len(argv):
        word = argv[index]
        value = argv[index + 1] if index + 1 < len(argv) else ""
        if word == "--":
            kept += argv[index:]
            break
        if word in ("-c", "--config") and value.partition("=")[0].strip() == _KEY:
            own = _value(value.partition("=")[2])
            index += 2
            continue
        kept.append(word)
        index += 1
    return tuple(kept), own


def _value(written: str) -> str:
    """A value of `-c`, as codex reads it: TOML, and whatever is no TOML is taken as it stands."""
    try:
        return str(tomllib.loads(f"v = {written}")["v"])
    except tomllib.TOMLDecodeError:
        return written.strip().strip("\"'")


def _configured(launch: Launch) -> str:
    """The value in the person's own configuration, "" for none."""
    folder = launch.environ.get("CODEX_HOME") or (launch.environ.get("HOME", "") + "/.codex")
    try:
        value = tomllib.loads((Path(folder) / "config.toml").read_text(encoding="utf-8")).get(_KEY)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return ""  # codex itself will say what is wrong with it
    return value if isinstance(value, str) else ""


def _toml(text: str) -> str:
    """A TOML basic string. JSON's escapes are TOML's, except for surrogates (so no ASCII escapes) and DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _report(ending: Ending) -> Report:
    session: str | None = None
    message: str | None = None
    error = ""
    usage: dict[str, Any] = {}
    completed = False
    for line in json_lines(ending.output):
        kind = line.get("type")
        item = table(line.get("item"))
        if kind == "thread.started":
            session = str(line.get("thread_id") or "") or None
        elif kind == "item.completed" and item.get("type") == "agent_message":
            message = str(item.get("text") or "")
        elif kind == "turn.completed":
            completed, usage = True, table(line.get("usage"))
        elif kind == "turn.failed":
            completed, error = False, str(table(line.get("error")).get("message") or error)
        elif kind == "error":
            error = str(line.get("message") or error)
    done = Report(outcome=Outcome.COMPLETED, session=session, message=message, usage=_usage(usage))
    if ending.exit_code == 0 and ending.signal is None and (completed or not error):
        return done
    wrong = report_failure(ending, error or last_text(ending.output))
    return replace(done, outcome=wrong.outcome, reason=wrong.reason)


def _usage(usage: dict[str, Any]) -> Usage | None:
    if not usage:
        return None
    cached = int(usage.get("cached_input_tokens") or 0)
    # Codex counts the cached ones as part of its input.
    total = int(usage.get("input_tokens") or 0)
    return Usage(input=max(0, total - cached), cached=cached, output=int(usage.get("output_tokens") or 0))


def _redirect(url: str, home: Path) -> Redirect:
    folder = home / ".codex"
    config = (
        'model_provider = "loopback"\n'
        "[model_providers.loopback]\n"
        'name = "loopback"\n'
        f'base_url = "{url}/v1"\n'
        'env_key = "ORCH_LOOPBACK_KEY"\n'
        'wire_api = "responses"\n'
    )
    return Redirect(
        environ={"CODEX_HOME": str(folder), "ORCH_LOOPBACK_KEY": "loopback"},
        files={folder / "config.toml": config.encode()},
        model="gpt-5.1-codex",
    )


def _mcp(launch: Launch, command: Command, server: McpServer) -> Command:
    """`-c mcp_servers.NAME=…`: one more server beside those of the person's configuration. Codex hands a server only a
    few variables of its own environment, so those of ours stand in the value.
    """
    environ = ", ".join(f"{name} = {_toml(value)}" for name, value in server.environ.items())
    arguments = ", ".join(_toml(word) for word in server.command[1:])
    value = f"{{command = {_toml(server.command[0])}, args = [{arguments}], env = {{{environ}}}}}"
    return replace(command, argv=(command.argv[0], "-c", f"mcp_servers.{server.name}={value}", *command.argv[1:]))


ADAPTER = Adapter(
    name="codex",
    title="Codex CLI",
    executables=("codex",),
    install="npm install -g @openai/codex",
    tested=("0.171.0", "0.171.0"),
    proof="recorded",
    command=_command,
    file_seam=FileSeam(name="AGENTS.md", cap=32_768, shadowed_by=("AGENTS.override.md",)),
    launch_seam=LaunchSeam(describe="-c developer_instructions=…", apply=_apply),
    default_seam="file",
    report=_report,
    redirect=_redirect,
    reads=("AGENTS.md", "AGENTS.override.md"),
    local_files=(".codex/config.toml",),
    mcp=_mcp,
)
