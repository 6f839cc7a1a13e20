"""A minimal agent: it sends AGENTS.md and its task to a model, runs the shell commands that it asks for, and ends.

`orch demo` spawns it where no real backend is installed, through the same pipeline as any other; it is run as
`python -I -m orchestrator.scripted_agent TASK` with the endpoint's URL in ORCH_DEMO_URL.
"""

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

from orchestrator.config import environment
from orchestrator.process import run

_TOOL = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a shell command in the worktree.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    },
}
_MOST_TURNS = 20


def main(task: str) -> int:
    """Work on the task until the model calls no tool any more; return the exit code."""
    url = environment()["ORCH_DEMO_URL"]
    system = "You are a minimal agent."
    context = Path("AGENTS.md")
    if context.is_file():
        system += "\n\n" + context.read_text(encoding="utf-8")
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}, {"role": "user", "content": task}]
    for _ in range(_MOST_TURNS):
        said = _ask(url, messages)
        messages.append(said)
        if said.get("content"):
            _say(said["content"])
        calls = said.get("tool_calls") or []
        if not calls:
            return 0
        messages += [_answer(call) for call in calls]
    _say("too many turns")
    return 1


def _ask(url: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    body = json.dumps({"model": "scripted", "messages": messages, "tools": [_TOOL]}).encode()
    request = urllib.request.Request(f"{url}/v1/chat/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        message: dict[str, Any] = json.load(response)["choices"][0]["message"]
    return message


def _answer(call: dict[str, Any]) -> dict[str, Any]:
    command = json.loads(call["function"]["arguments"])["command"]
    _say(f"$ {command}")
    done = run(["sh", "-c", command], check=False)
    output = (done.stdout + done.stderr).decode("utf-8", "replace")
    return {"role": "tool", "tool_call_id": call["id"], "content": output}


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
