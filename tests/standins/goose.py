"""`goose run` as its source does it: hints from the git root down to the cwd, `--system` with its trap, sessions."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.standins.model import converse, fail, take

SHARED_BUDGET = 1024 * 1024


def main(words: list[str]) -> None:
    if words[:1] == ["--version"]:
        print(" 1.53.0")
        return
    if words[:1] != ["run"]:
        fail("error: unrecognized subcommand", 2)
    options, rest = take(
        words[1:],
        {
            "-t": "text",
            "--text": "text",
            "-i": "file",
            "--instructions": "file",
            "-n": "name",
            "--name": "name",
            "--system": "system",
            "--provider": "provider",
            "--model": "model",
            "--max-turns": "turns",
            "--output-format": "format",
            "--session-id": "session",
            "--recipe": "recipe",
        },
        {
            "-q": "quiet",
            "--quiet": "quiet",
            "-r": "resume",
            "--resume": "resume",
            "--no-session": "none",
            "-s": "interactive",
        },
        lambda word: fail(f"error: unexpected argument '{word}' found", 2),
    )
    if rest:
        fail(f"error: unexpected argument '{rest[0]}' found", 2)
    if options.get("session") and not options.get("resume"):
        fail("error: --session-id needs --resume", 2)
    if options.get("system") and options.get("recipe"):
        fail("error: --system cannot be used with --recipe", 2)
    prompt = _prompt(options)
    # Silently ignored where the instructions come from a file.
    system = "" if options.get("file") not in (None, "-") else options.get("system", "")
    _run(options, prompt, system)


def _prompt(options: dict[str, Any]) -> str:
    if options.get("text") is not None:
        return str(options["text"])
    if options.get("file") == "-":
        return sys.stdin.read()
    if options.get("file"):
        return Path(options["file"]).read_text()
    return fail("error: no instructions")


def _run(options: dict[str, Any], prompt: str, system: str) -> None:
    host = os.environ.get("OPENAI_HOST", "")
    if not host or os.environ.get("GOOSE_PROVIDER") != "openai":
        fail("error: no provider configured. Run 'goose configure' first")
    if os.environ.get("GOOSE_MODE", "smart_approve") != "auto":
        fail("error: a tool call needs approval, which is not to be had headless")
    model = options.get("model") or os.environ.get("GOOSE_MODEL", "")
    parts = ["You are a general-purpose AI agent called goose.", _hints(Path.cwd())]
    text = "\n\n".join(part for part in (*parts, system) if part)
    with sqlite3.connect(_sessions()) as base:
        base.execute("CREATE TABLE IF NOT EXISTS sessions (id TEXT, name TEXT, total_tokens INT, messages TEXT)")
        row = base.execute("SELECT messages FROM sessions WHERE name = ?", (options.get("name"),)).fetchone()
        if options.get("resume") and row is None:
            fail(f"error: no session found with name '{options.get('name')}'")
        history = json.loads(row[0]) if options.get("resume") else []
        messages, usage = converse(
            host + "/" + os.environ.get("OPENAI_BASE_PATH", "v1/chat/completions"),
            os.environ.get("OPENAI_API_KEY", ""),
            model,
            [{"role": "system", "content": text}, *history, {"role": "user", "content": prompt}],
            "developer__shell",
        )
        base.execute("DELETE FROM sessions WHERE name = ?", (options.get("name"),))
        total = usage["input"] + usage["output"]
        base.execute(
            "INSERT INTO sessions VALUES ('20261201_1', ?, ?, ?)",
            (options.get("name"), total, json.dumps(messages[1:])),
        )
    _answer(options, messages, usage)


def _answer(options: dict[str, Any], messages: list[dict[str, Any]], usage: dict[str, int]) -> None:
    if options.get("format") != "json":
        print(messages[-1].get("content") or "")
        return
    shown = [{"role": m["role"], "content": [{"type": "text", "text": m.get("content") or ""}]} for m in messages[1:]]
    metadata = {
        "total_tokens": usage["input"] + usage["output"],
        "input_tokens": usage["input"] - usage["cached"],
        "output_tokens": usage["output"],
        "cache_read_input_tokens": usage["cached"],
        "cost_usd": None,
        "status": "completed",
    }
    print(json.dumps({"messages": shown, "metadata": metadata}, indent=2))


def _sessions() -> Path:
    root = os.environ.get("GOOSE_PATH_ROOT", "")
    # A relative root is ignored.
    folder = Path(root) / "data" if root.startswith("/") else Path.home() / ".local/share/goose"
    (folder / "sessions").mkdir(parents=True, exist_ok=True)
    return folder / "sessions" / "sessions.db"


def _hints(cwd: Path) -> str:
    found = subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False)
    root = Path(found.stdout.strip()) if found.returncode == 0 else cwd
    names = json.loads(os.environ.get("CONTEXT_FILE_NAMES", '[".goosehints", "AGENTS.md"]'))
    folders = [root]
    for part in cwd.relative_to(root).parts:
        folders.append(folders[-1] / part)
    texts, left = [], SHARED_BUDGET
    for file in (folder / name for folder in folders for name in names):
        # Git's ignore rules play no part; a symlink that leads outside of the root is refused.
        if not file.is_file() or not file.resolve().is_relative_to(root.resolve()):
            continue
        if file.stat().st_size > left:
            continue  # dropped whole
        left -= file.stat().st_size
        texts.append(
            re.sub(r"(?<!\w)@([\w./-]+)", lambda found: _imported(root, found), file.read_text(errors="replace"))
        )
    if not texts:
        return ""
    return "# Additional Instructions:\n\n### Project Hints\n" + "\n".join(texts)


def _imported(root: Path, found: re.Match[str]) -> str:
    target = root / found[1]
    if found[1].startswith("/") or not target.resolve().is_relative_to(root.resolve()) or not target.is_file():
        return found[0]
    return f"--- Content from {found[1]} ---\n{target.read_text(errors='replace')}"


if __name__ == "__main__":
    main(sys.argv[1:])
