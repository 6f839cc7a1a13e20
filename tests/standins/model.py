"""What the stand-ins share: a conversation with an OpenAI-compatible endpoint, its tool calls really run."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

Message = dict[str, Any]


def fail(text: str, code: int = 1) -> NoReturn:
    """End with an error on stderr."""
    print(text, file=sys.stderr)
    sys.exit(code)


def converse(
    url: str, key: str, model: str, messages: list[Message], tool: str
) -> tuple[list[Message], dict[str, int]]:
    """Send the messages, run the shell tool while the model calls it, and return all messages and the token sums."""
    usage = {"input": 0, "cached": 0, "output": 0}
    while True:
        reply, tokens = _post(url, key, model, messages, tool)
        usage["input"] += tokens.get("prompt_tokens", 0)
        usage["cached"] += (tokens.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        usage["output"] += tokens.get("completion_tokens", 0)
        messages.append(reply)
        calls = reply.get("tool_calls") or []
        if not calls:
            return messages, usage
        for call in calls:
            arguments = json.loads(call["function"]["arguments"])
            done = subprocess.run(
                ["sh", "-c", arguments["command"]],
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                check=False,
            )
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr})


def _post(url: str, key: str, model: str, messages: list[Message], tool: str) -> tuple[Message, dict[str, Any]]:
    parameters = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    function = {"name": tool, "description": "Run a shell command", "parameters": parameters}
    body = {
        "model": model,
        "messages": messages,
        "tools": [{"type": "function", "function": function}],
        "stream": False,
    }
    request = urllib.request.Request(
        url,
        data=json.dumps(body, ensure_ascii=False).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {key}"},
    )
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as response:
            answer = json.loads(response.read())
    except urllib.error.HTTPError as exc:
        fail(f"error: {exc.code} {exc.reason}: {exc.read().decode(errors='replace')}")
    except (OSError, ValueError) as exc:
        fail(f"error: cannot connect: {exc}")
    reply: Message = answer["choices"][0]["message"]
    return reply, answer.get("usage") or {}


def dump_request(request: dict[str, Any]) -> None:
    """Append what the vendor's program would send to its own service to the file that STANDIN_REQUESTS names."""
    target = os.environ.get("STANDIN_REQUESTS")
    if target:
        with Path(target).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(request, ensure_ascii=False) + "\n")


def take(
    words: list[str], flags: dict[str, str], switches: dict[str, str], unknown: Callable[[str], NoReturn]
) -> tuple[dict[str, Any], list[str]]:
    """Read options by exact spelling: `flags` take the next word (or `=value`), `switches` none; the rest is text."""
    found: dict[str, Any] = {}
    rest: list[str] = []
    pending = iter(words)
    for word in pending:
        name, equals, value = word.partition("=")
        if word == "--":
            rest += list(pending)
        elif name in flags:
            found[flags[name]] = value if equals else next(pending, "")
        elif word in switches:
            found[switches[word]] = True
        elif word.startswith("-") and len(word) > 1:
            unknown(word)
        else:
            rest.append(word)
    return found, rest
