"""A stand-in for the `claude` program that talks to the model as it does, and breaks the delivery in one way.

Used as a script: the first argument is the way (see `WAYS`), the rest are claude's own.
"""

import json
import os
import sys
import time
import urllib.request
from pathlib import Path

WAYS = (
    "honest",
    "drop",
    "truncate",
    "behead",
    "trim",
    "reword",
    "duplicate",
    "damaged-copy",
    "forget",
    "move",
    "one-turn",
    "forget-on-resume",
    "begin-anew",
    "remember-when-off",
    "litter",
    "fail",
    "hang",
    "newer",
)
Body = dict[str, object]


def main(way: str, args: list[str]) -> int:
    if "--version" in args:
        sys.stdout.write(f"{'9.0.0' if way == 'newer' else '2.1.197'} (Claude Code)\n")
        return 0
    flag = "--append-system-prompt-file"
    text = Path(args[args.index(flag) + 1]).read_text(encoding="utf-8") if flag in args else ""
    resumed = "-r" in args or "--resume" in args
    if way == "remember-when-off":
        text = text or "It said: " + Path.cwd().joinpath(".orch/memory.md").read_text(encoding="utf-8")
    if way == "hang":
        time.sleep(600)
    if way == "litter":
        Path("litter.txt").write_text("left behind", encoding="utf-8")
    session = next((args[args.index(f) + 1] for f in ("--session-id", "-r", "--resume") if f in args), "")
    messages = [] if way == "begin-anew" else _earlier(session)
    messages.append({"role": "user", "content": [{"type": "text", "text": sys.stdin.read()}]})
    reply = _ask(_system(way, text, turn=1, resumed=resumed), messages)
    calls = [block for block in reply["content"] if block["type"] == "tool_use"]
    if calls and way != "one-turn":
        result = [{"type": "tool_result", "tool_use_id": call["id"], "content": "ok"} for call in calls]
        messages += [{"role": "assistant", "content": reply["content"]}, {"role": "user", "content": result}]
        _ask(_system(way, text, turn=2, resumed=resumed), messages)
    _transcript(session).write_text(json.dumps(messages), encoding="utf-8")
    failed = way == "fail"
    outcome = {"type": "result", "subtype": "success", "is_error": failed, "result": "Done.", "session_id": session}
    sys.stdout.write(json.dumps({**outcome, "num_turns": 1, "usage": {}, "modelUsage": {}}) + "\n")
    return 1 if failed else 0


def _transcript(session: str) -> Path:
    folder = Path(os.environ["CLAUDE_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{session}.json"


def _earlier(session: str) -> list[Body]:
    """What was said before in the conversation."""
    path = _transcript(session)
    messages: list[Body] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return messages


def _system(way: str, text: str, *, turn: int, resumed: bool) -> list[Body]:
    base: Body = {"type": "text", "text": "You are an agent."}
    parts: list[Body] = [{"type": "text", "text": part} for part in _arrived(way, text, turn, resumed)]
    return [base, *parts]


def _arrived(way: str, text: str, turn: int, resumed: bool) -> list[str]:
    changed = {
        "drop": [],
        "truncate": [text[: len(text) // 2]],
        "behead": [text[len(text) // 3 :]],
        "trim": [text[:-1]],
        "reword": [text.replace("Äpfel", "Apfel")],
        "duplicate": [text, "Again:\n" + text],
        "damaged-copy": [text, text[: len(text) // 2]],
    }
    if way in changed:
        return changed[way]
    if way == "forget" and turn == 2:
        return []
    if way == "move" and turn == 2:
        return ["Something new.", text]
    if way == "forget-on-resume" and resumed:
        return []
    return [text]


def _ask(system: list[Body], messages: list[Body]) -> dict[str, list[dict[str, str]]]:
    tool = {"name": "Bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}
    body = {"model": "m", "messages": messages, "system": system, "tools": [tool]}
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        reply: dict[str, list[dict[str, str]]] = json.load(response)
    return reply


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
