"""Codex CLI (measured on 0.171.0)."""

import json
import tomllib
from collections.abc import Iterator
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
from adapters.options import has_option, take_options
from adapters.output import count, json_lines, last_text, report_failure, table, text

_KEY = "developer_instructions"
_ARGUMENT_BYTES = 128 * 1024 - 1
_BYPASS = "--dangerously-bypass-approvals-and-sandbox"
# With one of these the person has chosen what the agent may do; beside them the bypass would win without a word.
_SANDBOX = ("-s", "--sandbox", "-a", "--ask-for-approval", "--approve-for-me", "--full-auto", _BYPASS)
# Else a refused connection is tried again for ever; so it ends after half a minute. A version that does not know the
# setting says so and goes on, where --disable would end it.
_BOUNDED = ("-c", "features.unbounded_connection_retries=false")
_SANDBOX_KEYS = ("sandbox_mode", "approval_policy")


def _command(launch: Launch) -> Command:
    words = [launch.executable]
    if not launch.interactive:
        words += ["exec", "--json", *_BOUNDED]
    notes: tuple[str, ...] = ()
    if not _chooses_sandbox(launch.extra_args):
        # A linked worktree's git directory lies outside of it: the workspace sandbox has it read-only, and refuses
        # every commit.
        words.append(_BYPASS)
    elif _BYPASS not in launch.extra_args:
        notes = ("codex runs in the sandbox of the configured arguments: it may be unable to commit in its worktree",)
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
        return Command(argv=(*words, "--", launch.task), notes=notes)
    # `-` takes the prompt from stdin, whole and exact; beside a prompt argument an open stdin makes it wait for ever.
    return Command(argv=(*words, "-"), stdin=launch.task.encode(), notes=notes)


def _chooses_sandbox(words: tuple[str, ...]) -> bool:
    return has_option(words, *_SANDBOX) or any(key in _SANDBOX_KEYS for _, key, _ in _overrides(words))


def _overrides(words: tuple[str, ...]) -> Iterator[tuple[slice, str, str]]:
    """Every `-c key=value` among the words: where it stands, its key, its value as written."""
    index = 0
    while index < len(words) and words[index] != "--":
        word = words[index]
        size, setting = 1, ""
        if word in ("-c", "--config"):
            size, setting = 2, words[index + 1] if index + 1 < len(words) else ""
        elif word.startswith("--config="):
            setting = word.removeprefix("--config=")
        elif word.startswith("-c"):
            setting = word.removeprefix("-c").removeprefix("=")
        if setting:
            key, _, value = setting.partition("=")
            yield slice(index, index + size), key.strip(), value
        index += size


def _apply(launch: Launch, command: Command, carry: Carry) -> Command:
    """`developer_instructions`, after the person's own value, which the option would replace."""
    argv, given = _without_own(command.argv)
    own = given if given is not None else _configured(launch)
    whole = f"{own}\n\n{carry.text}" if own else carry.text
    value = f"{_KEY}={_toml(whole)}"
    if len(value.encode()) > _ARGUMENT_BYTES:
        raise ValueError("the memory is too long for an argument (128 KiB is the most): projection.seam file takes it")
    # Options stand before the subcommand `resume` and before the prompt.
    at = 1 if launch.interactive else argv.index("exec") + 2
    return replace(command, argv=(*argv[:at], "-c", value, *argv[at:]))


def _without_own(argv: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    """Take the person's own `-c developer_instructions=…` out of the arguments; of several, codex takes the last."""
    kept = list(argv)
    own: str | None = None
    for place, key, value in reversed(list(_overrides(argv))):
        if key == _KEY:
            own = _value(value) if own is None else own
            del kept[place]
    return tuple(kept), own


def _value(written: str) -> str:
    """A value of `-c`, as codex reads it: TOML, and whatever is no TOML is taken as it stands."""
    try:
        return str(tomllib.loads(f"v = {written}")["v"])
    except tomllib.TOMLDecodeError:
        return written.strip().strip("\"'")


def _configured(launch: Launch) -> str:
    """The value in the person's own configuration, "" for none: the last layer that has one, as codex layers them."""
    folder = Path(launch.environ.get("CODEX_HOME") or (launch.environ.get("HOME", "") + "/.codex"))
    base = _load(folder / "config.toml")
    _, profiles = take_options(launch.extra_args, "-p", "--profile")
    layers = [base, *(_load(folder / f"{name}.config.toml") for _, name in profiles[-1:])]
    trusted = table(base.get("projects"))
    if any(table(trusted.get(str(path))).get("trust_level") == "trusted" for path in _checkouts(launch.worktree)):
        layers.append(_load(launch.worktree / ".codex" / "config.toml"))
    return next((value for layer in reversed(layers) if (value := text(layer.get(_KEY)))), "")


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}  # codex itself will say what is wrong with it


def _checkouts(worktree: Path) -> tuple[Path, ...]:
    """The worktree and its main checkout: trust in either counts for both."""
    try:
        gitdir = Path((worktree / ".git").read_text(encoding="utf-8").removeprefix("gitdir:").strip())
    except (OSError, UnicodeDecodeError):
        return (worktree,)
    return (worktree, gitdir.parents[2]) if gitdir.is_absolute() and len(gitdir.parts) > 3 else (worktree,)


def _toml(written: str) -> str:
    """A TOML basic string. JSON's escapes are TOML's, except for surrogates (so no ASCII escapes) and DEL."""
    return json.dumps(written, ensure_ascii=False).replace("\x7f", "\\u007f")


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
            session = text(line.get("thread_id")) or None
        elif kind == "item.completed" and item.get("type") == "agent_message":
            message = text(item.get("text"))
        elif kind == "turn.completed":
            completed, usage = True, table(line.get("usage"))
        elif kind == "turn.failed":
            completed, error = False, text(table(line.get("error")).get("message")) or error
        elif kind == "error":
            error = text(line.get("message")) or error
    done = Report(outcome=Outcome.COMPLETED, session=session, message=message, usage=_usage(usage))
    if ending.exit_code == 0 and ending.signal is None and (completed or not error):
        return done
    wrong = report_failure(ending, error or last_text(ending.output))
    return replace(done, outcome=wrong.outcome, reason=wrong.reason)


def _usage(usage: dict[str, Any]) -> Usage | None:
    if not usage:
        return None
    cached = count(usage.get("cached_input_tokens"))
    # Codex counts the cached ones as part of its input.
    total = count(usage.get("input_tokens"))
    return Usage(input=max(0, total - cached), cached=cached, output=count(usage.get("output_tokens")))


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
