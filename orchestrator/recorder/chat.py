"""The OpenAI Chat Completions API: `POST /v1/chat/completions`, streamed or whole."""

from typing import Any

from orchestrator.recorder.dialect import Answer, Body, Tool, sse
from orchestrator.recorder.openai import error as error

NAME = "chat"
WRONG_KEY = "Incorrect API key provided: loopback."


def tools(body: Body) -> tuple[Tool, ...]:
    """Return the functions that the request offers."""
    found = []
    for tool in body.get("tools") or ():
        function = tool.get("function") or {}
        found.append(Tool(name=str(function.get("name", "")), parameters=function.get("parameters") or {}))
    return tuple(found)


def prompts(body: Body) -> str:
    """Return the text of the first and the last message."""
    messages = list(body.get("messages") or ())
    return "\n".join(_text(message.get("content")) for message in (messages[:1] + messages[-1:]))


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def structure(body: Body) -> object:
    """Return the JSON schema that the answer has to follow, or None."""
    wanted = body.get("response_format") or {}
    return (wanted.get("json_schema") or {}).get("schema", {}) if wanted.get("type") == "json_schema" else None


def _usage(answer: Answer) -> dict[str, Any]:
    total = answer.usage.input + answer.usage.cached + answer.usage.written
    return {
        "prompt_tokens": total,
        "completion_tokens": answer.usage.output,
        "total_tokens": total + answer.usage.output,
        "prompt_tokens_details": {"cached_tokens": answer.usage.cached},
    }


def _calls(answer: Answer) -> list[dict[str, Any]]:
    return [
        {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.encoded}}
        for index, call in enumerate(answer.calls)
    ]


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _head(answer: Answer, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{answer.number:08d}", "object": kind, "created": 0, "model": answer.model}


def message(answer: Answer) -> dict[str, Any]:
    """Return the whole response body."""
    said: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        said["tool_calls"] = _calls(answer)
    choice = {"index": 0, "message": said, "finish_reason": _finish(answer)}
    return {**_head(answer, "chat.completion"), "choices": [choice], "usage": _usage(answer)}


def events(answer: Answer) -> list[bytes]:
    """Return the stream's events, encoded, with the usage in the last and the end mark after it."""
    head = _head(answer, "chat.completion.chunk")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in answer.pieces]
    deltas += [{"tool_calls": [call]} for call in _calls(answer)]
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": _finish(answer)})
    chunks = [{**head, "choices": [choice]} for choice in choices]
    chunks.append({**head, "choices": [], "usage": _usage(answer)})
    return [*(sse(chunk) for chunk in chunks), b"data: [DONE]\n\n"]
