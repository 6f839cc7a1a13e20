"""opencode (measured on 1.18.33)."""

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
    McpServer,
    Outcome,
    Redirect,
    Report,
    Usage,
)
from adapters.output import count, json_line, json_lines, last_text, money, one_line, report_failure, table, text

_VARIABLE = "OPENCODE_CONFIG_CONTENT"
_REFUSED = ("rejected permission", "permission rejected", "user rejected", "prevents you from using")


def _command(launch: Launch) -> Command:
    words = [launch.executable]
    if not launch.interactive:
        words += ["run", "--format", "json", "--auto"]
    if launch.resume and launch.session:
        words += ["-s", launch.session]
    if launch.model:
        words += ["-m", launch.model]
    words += launch.extra_args
    if launch.interactive:
        return Command(argv=(*words, f"--prompt={launch.task}"))
    # As an argument the prompt would get double quotes around it; on stdin it arrives as it is.
    return Command(argv=tuple(words), stdin=launch.task.encode())


def _apply(launch: Launch, command: Command, carry: Carry) -> Command:
    """One more file in `instructions`, in the configuration that the environment carries; all else in it is kept."""
    config = _carried(launch, command)
    if not isinstance(config.get("instructions", []), list):
        raise ValueError(f"{_VARIABLE} is no object with a list of instructions")
    config["instructions"] = [*config.get("instructions", []), str(carry.path)]
    return replace(command, environ={**command.environ, _VARIABLE: json.dumps(config, ensure_ascii=False)})


def _mcp(launch: Launch, command: Command, server: McpServer) -> Command:
    """One more server in `mcp`, in the same configuration."""
    config = _carried(launch, command)
    entry = {"type": "local", "command": server.command, "environment": dict(server.environ), "enabled": True}
    config["mcp"] = {**table(config.get("mcp")), server.name: entry}
    return replace(command, environ={**command.environ, _VARIABLE: json.dumps(config, ensure_ascii=False)})


def _carried(launch: Launch, command: Command) -> dict[str, Any]:
    """The configuration that the environment carries already: ours so far, else the person's."""
    written = command.environ.get(_VARIABLE) or launch.environ.get(_VARIABLE) or "{}"
    try:
        config = json.loads(written)
    except ValueError as exc:
        raise ValueError(f"{_VARIABLE} holds no JSON ({exc}), so nothing can be added to it") from exc
    if not isinstance(config, dict):
        raise ValueError(f"{_VARIABLE} is no object")
    return config


def _report(ending: Ending) -> Report:
    session: str | None = None
    message: str | None = None
    failed: tuple[str, int | None] | None = None
    refused = ""
    tokens: list[dict[str, Any]] = []
    cost = 0.0
    for line in json_lines(ending.output):
        part = table(line.get("part"))
        session = text(line.get("sessionID")) or session
        kind = line.get("type")
        if kind == "text":
            message, failed, refused = text(part.get("text")), None, ""
        elif kind == "step_finish":
            tokens.append(table(part.get("tokens")))
            cost += money(part.get("cost")) or 0
        elif kind == "tool_use":
            refused = _refusal(table(part.get("state")))
        elif kind == "error":
            failed = _error(table(line.get("error")))
    done = Report(outcome=Outcome.COMPLETED, session=session, message=message, usage=_usage(tokens, cost))
    if ending.signal is not None or failed is not None or ending.exit_code != 0:
        said, status = failed or (last_text(ending.output), None)
        wrong = report_failure(ending, said, status)
        return replace(done, outcome=wrong.outcome, reason=wrong.reason)
    if refused:
        # It ends with exit code 0 after a permission was refused, with nothing more said.
        return replace(done, outcome=Outcome.REFUSED, reason=refused)
    return done


def _refusal(state: dict[str, Any]) -> str:
    error = one_line(text(state.get("error")))
    return error if state.get("status") == "error" and any(words in error.lower() for words in _REFUSED) else ""


def _error(error: dict[str, Any]) -> tuple[str, int | None]:
    data = table(error.get("data"))
    status = data.get("statusCode")
    return text(data.get("message")) or text(error.get("name")) or "error", status if isinstance(status, int) else None


def _usage(tokens: list[dict[str, Any]], cost: float) -> Usage | None:
    if not tokens:
        return None
    caches = [table(each.get("cache")) for each in tokens]
    return Usage(
        input=sum(count(each.get("input")) for each in tokens) + sum(count(c.get("write")) for c in caches),
        cached=sum(count(cache.get("read")) for cache in caches),
        output=sum(count(each.get("output")) + count(each.get("reasoning")) for each in tokens),
        cost_usd=cost or None,
    )


def _request_id(line: bytes) -> str | None:
    value = json_line(line)
    if value is None or value.get("type") != "step_start":
        return None
    return text(table(value.get("part")).get("messageID")) or None


def _redirect(url: str, home: Path) -> Redirect:
    options = {"baseURL": f"{url}/v1", "apiKey": "loopback"}
    model = {"name": "scripted", "tool_call": True, "limit": {"context": 200_000, "output": 8_000}}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": model}}
    config = {
        "model": "loopback/scripted",
        "small_model": "loopback/scripted",
        "autoupdate": False,
        "share": "disabled",
        "enabled_providers": ["loopback"],
        "provider": {"loopback": provider},
    }
    return Redirect(
        environ={
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local" / "share"),
            "XDG_STATE_HOME": str(home / ".local" / "state"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            _VARIABLE: json.dumps(config),
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            # A fresh home would npm-install a plugin package in the background.
            "npm_config_offline": "true",
        },
        model="loopback/scripted",
    )


ADAPTER = Adapter(
    name="opencode",
    title="opencode",
    executables=("opencode",),
    install="npm install -g opencode-ai",
    tested=("1.18.33", "1.18.33"),
    proof="recorded",
    command=_command,
    file_seam=FileSeam(name="AGENTS.md", hides=("CLAUDE.md", "CONTEXT.md")),
    launch_seam=LaunchSeam(describe="instructions in OPENCODE_CONFIG_CONTENT", apply=_apply),
    default_seam="file",
    report=_report,
    redirect=_redirect,
    # CLAUDE.md only where the directory has no AGENTS.md.
    reads=("AGENTS.md", "CLAUDE.md"),
    local_files=("opencode.json", "opencode.jsonc"),
    request_id=_request_id,
    mcp=_mcp,
)
