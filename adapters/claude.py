"""Claude Code (measured on 2.1.197; the claims are re-tested by `orch verify` on whatever is installed)."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapters.adapter import (
    Adapter,
    Carry,
    Command,
    Ending,
    Launch,
    LaunchSeam,
    McpServer,
    Outcome,
    Redirect,
    Report,
    Usage,
    report_plain,
)
from adapters.options import has_option, take_options
from adapters.output import count, json_line, json_lines, last_text, money, one_line, report_failure, rows, table, text

_APPEND = "--append-system-prompt"
_APPEND_FILE = "--append-system-prompt-file"
# What an agent needs to do anything unattended, where the program refuses to skip permissions.
_ALLOWED = "--allowedTools=Bash,WebFetch,WebSearch"
# With one of these the person has chosen what the agent may do; beside them --dangerously-skip-permissions would win.
_PERMISSIONS = ("--permission-mode", "--dangerously-skip-permissions")
# A longer context of a hook becomes a reference to a file, with a preview.
_HOOK_CHARACTERS = 10_000


def _command(launch: Launch) -> Command:
    words = [launch.executable]
    if not launch.interactive:
        words += ["-p", "--output-format", "stream-json", "--verbose"]
    notes: tuple[str, ...] = ()
    if has_option(launch.extra_args, *_PERMISSIONS):
        pass
    elif launch.root and launch.environ.get("IS_SANDBOX") != "1":
        # As root every way to skip permissions ends with exit code 1, unless IS_SANDBOX is exactly 1.
        words += ["--permission-mode", "acceptEdits", _ALLOWED]
        notes = (
            "claude runs as root with edits and Bash allowed, not with all permissions skipped (IS_SANDBOX=1 does)",
        )
    else:
        words.append("--dangerously-skip-permissions")
    if launch.session:
        words += ["--resume" if launch.resume else "--session-id", launch.session]
    if launch.model:
        words += ["--model", launch.model]
    words += launch.extra_args
    environ = {"DISABLE_AUTOUPDATER": "1"}
    if launch.interactive:
        return Command(argv=(*words, "--", launch.task), environ=environ, notes=notes)
    # The prompt goes in by stdin: an argument is limited to 128 KiB, and one that starts with a dash is an option.
    return Command(argv=tuple(words), environ=environ, stdin=launch.task.encode(), notes=notes)


def _apply(launch: Launch, command: Command, carry: Carry) -> Command:
    """The append flag with the render's file; a text that the person appends in the configured arguments goes first.

    With the two flags, other worktrees share the cached prefix up to the end of the render.
    """
    argv, own = _without_own(launch, command.argv)
    files = dict(command.files)
    path = carry.path
    if own is not None:
        # Both flags together are an error, and the same one twice means that the last wins silently.
        path = launch.state / "system-append"
        files[path] = f"{own}\n\n{carry.text}".encode()
    added = [_APPEND_FILE, str(path), "--exclude-dynamic-system-prompt-sections"]
    notes = command.notes
    if carry.subagents:
        argv, given = take_options(argv, "--settings")
        settings = launch.state / "claude-settings.json"
        context = launch.state / "subagent-context.json"
        files[settings] = _settings(_own_settings(launch, given), context)
        files[context] = _context(carry.text)
        added += ["--settings", str(settings)]
        if len(carry.text) > _HOOK_CHARACTERS:
            notes = (*notes, "the memory is too long for claude's sub-agents: they get its beginning and a file's path")
    at = argv.index("--") if launch.interactive else len(argv)
    return replace(
        command,
        argv=(*argv[:at], *added, *argv[at:]),
        environ={**command.environ, "CLAUDE_CODE_ATTRIBUTION_HEADER": "0"},
        files=files,
        notes=notes,
    )


def _without_own(launch: Launch, argv: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    """Take the person's own appended text out of the arguments."""
    kept, given = take_options(argv, _APPEND, _APPEND_FILE)
    texts = [value if name == _APPEND else _content(launch, name, value) for name, value in given]
    return kept, "\n\n".join(texts) if texts else None


def _content(launch: Launch, option: str, name: str) -> str:
    """The content of a file that is named in the arguments, seen from the worktree, where the program runs."""
    try:
        return (launch.worktree / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise ValueError(f"{option} in the configured arguments: {exc}") from exc


def _own_settings(launch: Launch, given: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """The person's own `--settings`, JSON or a file with JSON, of which the program takes the last."""
    if not given:
        return {}
    option, value = given[-1]
    written = value if value.lstrip().startswith("{") else _content(launch, option, value)
    try:
        settings = json.loads(written)
    except ValueError as exc:
        # The program would go on without a word, and without any of them.
        raise ValueError(f"{option} in the configured arguments is no JSON: {exc}") from exc
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not isinstance(hooks.get("SubagentStart", []), list):
        raise ValueError(f"{option} in the configured arguments does not hold claude's settings")
    return dict(settings)


def _settings(own: dict[str, Any], context: Path) -> bytes:
    """The person's settings with a hook that hands the context to every sub-agent: they get no appended prompt."""
    hook = {"type": "command", "command": f"cat {shlex.quote(str(context))}", "timeout": 10}
    hooks = own.get("hooks", {})
    started = [*hooks.get("SubagentStart", []), {"hooks": [hook]}]
    # A repository's own settings could switch all hooks off; this value is the stronger one.
    value = {"disableAllHooks": False, **own, "hooks": {**hooks, "SubagentStart": started}}
    return json.dumps(value, indent=1).encode()


def _context(text: str) -> bytes:
    output = {"hookEventName": "SubagentStart", "additionalContext": text}
    return json.dumps({"hookSpecificOutput": output}, ensure_ascii=False).encode()


def _report(ending: Ending) -> Report:
    lines = list(json_lines(ending.output))
    result = next((line for line in reversed(lines) if line.get("type") == "result"), None)
    if result is None:
        if ending.exit_code == 0 and ending.signal is None:
            return report_plain(ending)
        return report_failure(ending, last_text(ending.output) or _retried(lines))
    message = text(result.get("result"))
    denied = [text(table(each).get("tool_name")) for each in rows(result.get("permission_denials"))]
    done = Report(
        outcome=Outcome.COMPLETED,
        reason=one_line(f"not permitted: {', '.join(denied)}") if denied else "",
        session=text(result.get("session_id")) or None,
        message=message or None,
        usage=_usage(result),
    )
    if ending.signal is not None or ending.exit_code != 0 or result.get("is_error"):
        status = result.get("api_error_status")
        wrong = report_failure(ending, message, status if isinstance(status, int) else None)
        return replace(done, outcome=wrong.outcome, reason=wrong.reason)
    if result.get("num_turns") == 0 and message.startswith("Unknown command:"):
        # A task that starts with a slash is one of its commands; one that it does not know counts as a success to it.
        return replace(done, outcome=Outcome.FAILED, reason=one_line(message))
    return done


def _retried(lines: list[dict[str, Any]]) -> str:
    """What it was retrying when it ended, "" for nothing."""
    last = lines[-1] if lines else {}
    if last.get("subtype") != "api_retry":
        return ""
    status = count(last.get("error_status"))
    # It has no status, and calls the error unknown, where nothing answers.
    what = f"{status} {text(last.get('error'))}" if status else "network error: the model's API does not answer"
    return f"{what}, tried {count(last.get('attempt')) + 1} times"


def _usage(result: dict[str, Any]) -> Usage | None:
    """Tokens of the whole run: `modelUsage` has the sub-agents too, `usage` does not."""
    parts = [table(part) for part in table(result.get("modelUsage")).values()]
    if not parts:
        return None

    def total(*names: str) -> int:
        return sum(count(part.get(name)) for part in parts for name in names)

    return Usage(
        input=total("inputTokens", "cacheCreationInputTokens"),
        cached=total("cacheReadInputTokens"),
        output=total("outputTokens"),
        cost_usd=money(result.get("total_cost_usd")),
    )


def _request_id(line: bytes) -> str | None:
    value = json_line(line)
    if value is None or value.get("type") != "assistant":
        return None
    return text(table(value.get("message")).get("id")) or None


def _redirect(url: str, home: Path) -> Redirect:
    return Redirect(
        environ={
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "loopback",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
        },
        model="claude-opus-4-8",
    )


def _mcp(launch: Launch, command: Command, server: McpServer) -> Command:
    """`--mcp-config FILE`: it adds to the servers that the person has configured."""
    file = launch.state / "claude-mcp.json"
    entry = {
        "type": "stdio",
        "command": server.command[0],
        "args": server.command[1:],
        "env": dict(server.environ),
        # Else its tools may come after the first request, and what the requests share in the cache ends before them.
        "alwaysLoad": True,
    }
    # Where the permissions are orch's choice, its own server is among them; a person's choice stays as it is.
    argv = tuple(f"{_ALLOWED},mcp__{server.name}" if word == _ALLOWED else word for word in command.argv)
    at = argv.index("--") if launch.interactive else len(argv)
    return replace(
        command,
        # As one word: the option takes every word that follows it.
        argv=(*argv[:at], f"--mcp-config={file}", *argv[at:]),
        files={**command.files, file: json.dumps({"mcpServers": {server.name: entry}}, indent=1).encode()},
    )


def _mirror(main: Path, environ: Mapping[str, str]) -> Path | None:
    """Claude's auto-memory of the repository; None where its folder's name cannot be told (it is cut beyond 200)."""
    folder = environ.get("CLAUDE_CONFIG_DIR") or (f"{environ['HOME']}/.claude" if environ.get("HOME") else None)
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(main))
    if folder is None or len(slug) > 200 or environ.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY") == "1":
        return None
    return Path(folder) / "projects" / slug / "memory" / "MEMORY.md"


ADAPTER = Adapter(
    name="claude",
    title="Claude Code",
    executables=("claude",),
    install="npm install -g @anthropic-ai/claude-code",
    tested=("2.1.197", "2.1.197"),
    proof="recorded",
    command=_command,
    launch_seam=LaunchSeam(describe="--append-system-prompt-file, and a hook for sub-agents", apply=_apply),
    report=_report,
    redirect=_redirect,
    reads=("CLAUDE.md", "CLAUDE.local.md"),
    local_files=(".claude/settings.local.json", ".mcp.json"),
    chooses_session=True,
    request_id=_request_id,
    mcp=_mcp,
    mirror=_mirror,
)
