"""`crush` as its source at v0.90.0 does it: context files of the cwd in random order, config layers, data directory."""

import json
import os
import random
import signal
import sqlite3
import sys
import time
import uuid
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.standins.model import converse, fail, take

CONTEXT = (
    ".github/copilot-instructions.md",
    ".cursorrules",
    ".cursor/rules/",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "gemini.md",
    "crush.md",
    "crush.local.md",
    "Crush.md",
    "Crush.local.md",
    "CRUSH.md",
    "CRUSH.local.md",
    "AGENTS.md",
    "agents.md",
    "Agents.md",
)


def main(words: list[str]) -> None:
    if words[:1] == ["--version"]:
        print("crush version v0.90.0")
        return
    if words[:1] != ["run"]:
        fail("ERROR: the terminal interface needs a terminal")
    # Cancelling by SIGINT counts as a success; SIGTERM is not caught.
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    options, rest = take(
        words[1:],
        {
            "-m": "model",
            "--model": "model",
            "--small-model": "small",
            "-s": "session",
            "--session": "session",
            "-c": "cwd",
            "--cwd": "cwd",
            "-D": "data",
            "--data-dir": "data",
        },
        {"-q": "quiet", "--quiet": "quiet", "-v": "verbose", "-C": "last", "--continue": "last"},
        lambda word: fail(f"ERROR\n\n  unknown flag: {word}"),
    )
    cwd = Path(options.get("cwd") or ".").resolve()
    os.chdir(cwd)
    data = _data_directory(cwd, options.get("data"))
    config = _config(cwd, data)
    piped = "" if sys.stdin.isatty() else sys.stdin.read()
    prompt = "\n\n".join(part for part in (piped, " ".join(rest)) if part)
    if not prompt:
        fail("ERROR: no prompt provided")
    with sqlite3.connect(data / "crush.db") as base:
        base.execute("PRAGMA journal_mode=WAL")
        base.execute(
            "CREATE TABLE IF NOT EXISTS sessions (id TEXT, title TEXT, parent_session_id TEXT, prompt_tokens INT,"
            " completion_tokens INT, cost REAL, created_at INT)"
        )
        base.execute("CREATE TABLE IF NOT EXISTS messages (id TEXT, session_id TEXT, role TEXT, parts TEXT)")
        _run(base, options, config, prompt, cwd)


def _run(base: sqlite3.Connection, options: dict[str, Any], config: dict[str, Any], prompt: str, cwd: Path) -> None:
    provider_name, _, model = (options.get("model") or "").partition("/")
    chosen = config.get("models", {}).get("large", {})
    provider_name, model = provider_name or chosen.get("provider", ""), model or chosen.get("model", "")
    provider = config.get("providers", {}).get(provider_name)
    if provider is None:
        fail("ERROR: no providers configured - please run `crush` to set up a provider interactively")
    session, history = _session(base, options)
    system = "You are Crush.\n\n" + _project_context(config, cwd)
    messages = [{"role": "system", "content": system}, *history, {"role": "user", "content": prompt}]
    before = len(messages) - 1
    messages, usage = converse(
        provider["base_url"].rstrip("/") + "/chat/completions", provider.get("api_key", ""), model, messages, "bash"
    )
    for message in messages[before:]:
        base.execute(
            "INSERT INTO messages VALUES (?, ?, ?, ?)",
            (uuid.uuid4().hex, session, message["role"], json.dumps(message)),
        )
    base.execute(
        "UPDATE sessions SET prompt_tokens = prompt_tokens + ?, completion_tokens = completion_tokens + ? WHERE id = ?",
        (usage["input"], usage["output"], session),
    )
    print(messages[-1].get("content") or "")


def _session(base: sqlite3.Connection, options: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    session = options.get("session")
    if options.get("last"):
        row = base.execute("SELECT id FROM sessions ORDER BY created_at DESC LIMIT 1").fetchone()
        if row is None:
            fail("ERROR: no session to continue")
        session = row[0]
    if session:
        if not base.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone():
            fail(f"ERROR: session not found: {session}")
        rows = base.execute("SELECT parts FROM messages WHERE session_id = ? ORDER BY rowid", (session,))
        return session, [json.loads(row[0]) for row in rows]
    session = str(uuid.uuid4())
    base.execute("INSERT INTO sessions VALUES (?, 'Untitled', NULL, 0, 0, 0, ?)", (session, int(time.time())))
    return session, []


def _data_directory(cwd: Path, given: str | None) -> Path:
    folder = Path(given).absolute() if given else cwd / ".crush"
    folder.mkdir(parents=True, exist_ok=True)
    if not given:
        (folder / ".gitignore").write_text("*\n")
    return folder


def _config(cwd: Path, data: Path) -> dict[str, Any]:
    """Global, then the project's files, then the data directory's: tables are merged, lists joined."""
    folder = Path(os.environ.get("CRUSH_GLOBAL_CONFIG") or Path.home() / ".config" / "crush")
    merged: dict[str, Any] = {}
    for file in (folder / "crush.json", cwd / "crush.json", cwd / ".crush.json", data / "crush.json"):
        if file.is_file():
            _merge(merged, json.loads(file.read_text()))
    return merged


def _merge(into: dict[str, Any], other: dict[str, Any]) -> None:
    for name, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            _merge(into[name], value)
        elif isinstance(value, list) and isinstance(into.get(name), list):
            into[name] = [*into[name], *value]
        else:
            into[name] = value


def _project_context(config: dict[str, Any], cwd: Path) -> str:
    """Files by lower-cased configured path, each spelling of a name once (so a lone `agents.md` is never read)."""
    folder = Path(os.environ.get("CRUSH_GLOBAL_CONFIG") or Path.home() / ".config" / "crush")
    paths = [folder / "CRUSH.md", folder.parent / "AGENTS.md"]
    seen: dict[str, Path] = {}
    # Sorted, so that of two spellings the one in capitals comes first, and the first counts.
    for name in sorted({*CONTEXT, *config.get("options", {}).get("context_paths", ())}):
        path = Path(os.path.expandvars(str(Path(name).expanduser())))
        seen.setdefault(str(path).lower(), path if path.is_absolute() else cwd / path)
    files: dict[Path, str] = {}
    for path in [*paths, *seen.values()]:
        inner = sorted(path.rglob("*")) if path.is_dir() else [path]
        for each in inner:
            if each.is_file():
                files[each] = each.read_text(errors="replace")
    listed = list(files.items())
    random.shuffle(listed)
    inside = "\n".join(f'<file path="{path}">\n{text}\n</file>' for path, text in listed)
    return f"<project_context>\n{inside}\n</project_context>" if listed else ""


if __name__ == "__main__":
    main(sys.argv[1:])
