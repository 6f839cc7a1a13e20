"""`cursor-agent` as its documents and its SDK's bundle tell: rules up to the filesystem's root, no endpoint."""

import hashlib
import json
import os
import sys
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.standins.model import dump_request, fail, take

MOST_BYTES = 102_400


def main(words: list[str]) -> None:
    if words[:1] == ["--version"]:
        print("2026.10.01-abcdef0")
        return
    options, rest = take(
        words,
        {
            "--workspace": "workspace",
            "--model": "model",
            "--mode": "mode",
            "--output-format": "format",
            "--resume": "resume",
            "--sandbox": "sandbox",
            "--plugin-dir": "plugins",
            "--endpoint": "endpoint",
        },
        {
            "-p": "print",
            "--print": "print",
            "--force": "force",
            "--yolo": "force",
            "--trust": "trust",
            "--approve-mcps": "mcps",
            "--continue": "continue",
        },
        lambda word: fail(f"error: unknown option '{word}'"),
    )
    if not os.environ.get("CURSOR_API_KEY"):
        fail("Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY.")
    if len(rest) != 1:
        fail("Error: a prompt is needed in print mode")
    cwd = Path(options.get("workspace") or ".").resolve()
    if not options.get("trust"):
        fail(f"Error: workspace {cwd} is not trusted")
    if not options.get("force"):
        fail("Error: a change was only proposed: --force applies it")
    session = _chat(cwd, options.get("resume"))
    dump_request({"rules": _rules(cwd), "prompt": rest[0], "model": options.get("model"), "session": session})
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 12,
        "duration_api_ms": 10,
        "result": "done",
        "session_id": session,
    }
    print(json.dumps(result) if options.get("format") in ("json", "stream-json") else "done")


def _chat(cwd: Path, resume: str | None) -> str:
    """Chats are kept by the working directory."""
    folder = Path.home() / ".cursor" / "chats" / hashlib.md5(str(cwd).encode(), usedforsecurity=False).hexdigest()
    session = resume or str(uuid.uuid4())
    if resume and not (folder / resume).is_dir():
        fail(f"Error: no chat {resume} in this directory")
    (folder / session).mkdir(parents=True, exist_ok=True)
    return session


def _rules(cwd: Path) -> list[dict[str, str]]:
    """AGENTS.md and CLAUDE.md from the cwd up; one that is the same file, or says the same, as one above is dropped."""
    found: list[tuple[Path, str]] = []
    for folder in reversed([cwd, *cwd.parents]):
        for name in ("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", ".cursorrules"):
            path = folder / name
            if not path.is_file() or (name == ".cursorrules" and folder != cwd):
                continue
            data = path.read_bytes()
            text = data.decode(errors="replace")
            if len(data) > MOST_BYTES:
                text = data[:MOST_BYTES].decode(errors="ignore") + "\n[truncated"
            if any(path.samefile(other) or text.strip() == said.strip() for other, said in found):
                continue
            found.append((path, text))
    for path in sorted((cwd / ".cursor" / "rules").glob("**/*.mdc")):  # a plain .md there is ignored
        _, head, text = (path.read_text(errors="replace") + "---\n---\n").split("---\n", 2)
        if "alwaysApply: true" in head:
            found.append((path, text.removesuffix("---\n---\n")))
    return [{"name": str(path), "text": text} for path, text in found]


if __name__ == "__main__":
    main(sys.argv[1:])
