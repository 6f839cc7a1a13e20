"""The Anthropic Messages API: `POST /v1/messages`, streamed or whole."""

from typing import Any

from orchestrator.recorder.dialect import Answer, Body, Tool, sse

NAME = "anthropic"
WRONG_KEY = "invalid x-api-key"

_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def tools(body: Body) -> tuple[Tool, ...]:
    """Return the tools that the request offers; one of Anthropic's own types has no schema."""
    offered = body.get("tools") or ()
    return tuple(
        Tool(name=str(tool.get("name", "")), parameters=tool.get("input_schema") or {}, builtin="type" in tool)
        for tool in offered
    )


def prompts(body: Body) -> str:
    """Return the system text and the last message's text."""
    parts = [_text(body.get("system"))]
    messages = body.get("messages") or ()
    if messages:
        parts.append(_text(messages[-1].get("content")))
    return "\n".join(parts)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def structure(body: Body) -> object:
    """Return the JSON schema that the answer has to follow, or None."""
    config = body.get("output_config") or {}
    wanted = config.get("format") or body.get("output_format") or {}
    return wanted.get("schema", {}) if wanted.get("type") == "json_schema" else None


def _usage(answer: Answer) -> dict[str, int]:
    return {
        "input_tokens": answer.usage.input,
        "cache_creation_input_tokens": answer.usage.written,
        "cache_read_input_tokens": answer.usage.cached,
        "output_tokens": answer.usage.output,
    }


def _head(answer: Answer) -> dict[str, Any]:
    return {
        "id": f"msg_{answer.number:08d}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(answer),
    }


def message(answer: Answer) -> dict[str, Any]:
    """Return the whole response body."""
    content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name, "input": dict(call.arguments)}
        for call in answer.calls
    ]
    stop = "tool_use" if answer.calls else "end_turn"
    return {**_head(answer), "content": content, "stop_reason": stop}


def events(answer: Answer) -> list[bytes]:
    """Return the stream's events, encoded."""
    started = _head(answer)
    started["usage"] = {**started["usage"], "output_tokens": 1}
    values: list[dict[str, Any]] = [{"type": "message_start", "message": started}]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if answer.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in answer.pieces]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for call in answer.calls:
        start = {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name, "input": {}}
        blocks.append((start, [{"type": "input_json_delta", "partial_json": call.encoded}]))
    for index, (start, deltas) in enumerate(blocks):
        values.append({"type": "content_block_start", "index": index, "content_block": start})
        values += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        values.append({"type": "content_block_stop", "index": index})
    stop = "tool_use" if answer.calls else "end_turn"
    delta = {"stop_reason": stop, "stop_sequence": None}
    values.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": answer.usage.output}})
    values.append({"type": "message_stop"})
    return [sse(value, value["type"]) for value in values]


def error(status: int, said: str) -> dict[str, Any]:
    """Return the body of an error response."""
    return {"type": "error", "error": {"type": _ERRORS.get(status, "api_error"), "message": said}}
