"""Crush (contract-tested against a stand-in built from its source at v0.90.0; never run here)."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

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
from adapters.output import count, last_text, money, report_failure, text

_DATA = "crush-data"
_ARGUMENT_BYTES = 128 * 1024 - 1


def _command(launch: Launch) -> Command:
    # Its data directory would be `.crush/` in the worktree; each agent gets one of its own outside.
    data = launch.state / _DATA
    if launch.interactive:
        # There is no way to hand the terminal interface a first prompt: it is run first, and then continued.
        raise ValueError("crush takes a first prompt only when it runs headless")
    words = [launch.executable, "run", "-q", "-c", str(launch.worktree), "-D", str(data)]
    if launch.resume and launch.session:
        words += ["-s", launch.session]
    elif launch.resume:
        words.append("-C")
    if launch.model:
        words += ["-m", launch.model]
    # Standard input is only put before a prompt that has to be there, so an argument alone carries the task exactly.
    if len(launch.task.encode()) > _ARGUMENT_BYTES:
        raise ValueError("the task is too long for an argument (128 KiB is the most): put the material into a file")
    return Command(argv=(*words, *launch.extra_args, "--", launch.task), files={data / ".keep": b""})


def _apply(launch: Launch, command: Command, carry: Carry) -> Command:
    """A `crush.json` in the agent's data directory, the last layer of its configuration, adds the render's file."""
    config = {"options": {"context_paths": [str(carry.path)]}}
    file = launch.state / _DATA / "crush.json"
    return replace(command, files={**command.files, file: json.dumps(config, indent=1).encode()})


def _report(ending: Ending) -> Report:
    # Its output is plain text: the answer on stdout, an error as a last line. SIGINT ends it with 0.
    said = ending.output.decode("utf-8", "replace").strip()
    session, usage = _session(ending.launch.state / _DATA / "crush.db")
    if ending.signal is None and ending.exit_code == 0:
        return Report(outcome=Outcome.COMPLETED, message=said or None, session=session, usage=usage)
    return replace(report_failure(ending, last_text(ending.output)), session=session, usage=usage)


def _session(base: Path) -> tuple[str | None, Usage | None]:
    """The conversation's id and tokens, which only its database tells; the agent's own one holds nothing else."""
    if not base.is_file():
        return None, None
    try:
        with closing(sqlite3.connect(f"{base.as_uri()}?mode=ro", uri=True, timeout=2)) as connection:
            row = connection.execute(
                "SELECT id, prompt_tokens, completion_tokens, cost FROM sessions"
                " WHERE parent_session_id IS NULL ORDER BY created_at DESC LIMIT 1"
            ).fetchone()
    except sqlite3.Error:
        return None, None  # the columns are the vendor's to change
    if row is None:
        return None, None
    usage = Usage(input=count(row[1]), output=count(row[2]), cost_usd=money(row[3]) or None)
    return text(row[0]) or None, usage


def _redirect(url: str, home: Path) -> Redirect:
    model = {"id": "m", "name": "m", "context_window": 200000, "default_max_tokens": 8000}
    provider = {"type": "openai-compat", "base_url": f"{url}/v1", "api_key": "loopback", "models": [model]}
    chosen = {"provider": "loopback", "model": "m"}
    config = {"providers": {"loopback": provider}, "models": {"large": chosen, "small": chosen}}
    folder = home / "crush" / "config"
    return Redirect(
        environ={
            # AGENTS.md one level above it would be a global context file: that place is in the scratch home too.
            "CRUSH_GLOBAL_CONFIG": str(folder),
            "CRUSH_GLOBAL_DATA": str(home / "crush-global-data"),
            "CRUSH_CACHE_DIR": str(home / "crush-cache"),
            "CRUSH_DISABLE_PROVIDER_AUTO_UPDATE": "1",
            "CRUSH_DISABLE_DEFAULT_PROVIDERS": "1",
            "CRUSH_DISABLE_METRICS": "1",
        },
        files={folder / "crush.json": json.dumps(config).encode()},
        model="loopback/m",
    )


ADAPTER = Adapter(
    name="crush",
    title="Crush",
    executables=("crush",),
    install="go install github.com/charmbracelet/crush@v0.90.0",
    tested=("0.90.0", "0.90.0"),
    proof="contract",
    command=_command,
    file_seam=FileSeam(name="CRUSH.md"),
    launch_seam=LaunchSeam(describe="context_paths in the crush.json of the agent's data directory", apply=_apply),
    default_seam="file",
    report=_report,
    redirect=_redirect,
    reads=(
        "AGENTS.md",
        "CLAUDE.md",
        "CLAUDE.local.md",
        "GEMINI.md",
        "CRUSH.md",
        "CRUSH.local.md",
        ".cursorrules",
        ".cursor/rules",
        ".github/copilot-instructions.md",
    ),
)
