"""`agy` as documents and third parties tell: `-p` takes the next word, no workspace without --add-dir, no endpoint."""

import json
import os
import sys
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.standins.model import dump_request, fail, take

MOST_BYTES = 24_000


def main(words: list[str]) -> None:
    if words[:1] == ["--version"]:
        print("1.5.14")
        return
    options, rest = take(
        words,
        {
            "-p": "prompt",
            "--prompt": "prompt",
            "--print-timeout": "timeout",
            "--output-format": "format",
            "--model": "model",
            "--effort": "effort",
            "--mode": "mode",
            "--add-dir": "dir",
            "--conversation": "conversation",
            "--agent": "agent",
            "--log-file": "log",
            "--prompt-interactive": "interactive",
        },
        {
            "--dangerously-skip-permissions": "skip",
            "--sandbox": "sandbox",
            "--new-project": "new",
            "--continue": "continue",
        },
        lambda word: fail(f"flag provided but not defined: {word}", 2),
    )
    if "prompt" not in options or rest:
        fail("agy: an interactive session needs a terminal", 2)
    if not options.get("skip"):
        return  # a tool was denied without a word: exit code 0 and no output
    cwd = Path.cwd()
    # Without --add-dir a headless run may report no workspace and work in a scratch directory.
    workspace = Path(options["dir"]).resolve() if options.get("dir") else None
    conversation = _conversation(cwd, options.get("conversation"))
    rules = _rules(workspace) if workspace is not None else []
    dump_request({"rules": rules, "prompt": options["prompt"], "model": options.get("model"), "session": conversation})
    if options.get("format") == "json":
        print(json.dumps({"response": "done"}))
    else:
        print("done")


def _conversation(cwd: Path, resume: str | None) -> str:
    """An id cannot be chosen; the last one of each directory stands in a cache file."""
    folder = Path.home() / ".gemini" / "antigravity-cli"
    cache = folder / "cache" / "last_conversations.json"
    known = json.loads(cache.read_text()) if cache.is_file() else {}
    conversation = resume or str(uuid.uuid4())
    base = folder / "conversations" / f"{conversation}.db"
    if resume and not base.is_file():
        fail(f"agy: conversation {resume} not found")
    base.parent.mkdir(parents=True, exist_ok=True)
    base.touch()
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text(json.dumps({**known, os.fspath(cwd): conversation}))
    return conversation


def _rules(workspace: Path) -> list[dict[str, str]]:
    found = []
    seen = set()
    for name in (
        "AGENTS.md",
        "GEMINI.md",
        *(str(p.relative_to(workspace)) for p in workspace.glob(".agents/rules/*.md")),
    ):
        path = workspace / name
        if not path.is_file() or path.resolve() in seen:
            continue
        seen.add(path.resolve())
        data = path.read_bytes()
        if len(data) > MOST_BYTES:
            data = data[: data.rfind(b"\n", 0, MOST_BYTES) + 1]
        found.append({"name": str(path), "text": data.decode(errors="replace")})
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
