"""The OpenAI Responses API: `POST /v1/responses`, with the stream's events that codex waits for."""

from typing import Any

from orchestrator.recorder.dialect import Answer, Body, Tool, sse
from orchestrator.recorder.openai import error as error

NAME = "responses"
WRONG_KEY = "Incorrect API key provided: loopback."


def tools(body: Body) -> tuple[Tool, ...]:
    """Return the function tools that the request offers, those inside a namespace included, and `local_shell`."""
    found = []
    for tool in body.get("tools") or ():
        if tool.get("type") == "function":
            found.append(Tool(name=str(tool.get("name", "")), parameters=tool.get("parameters") or {}))
        else:
            found.append(Tool(name=str(tool.get("name") or tool.get("type", "")), parameters={}, builtin=True))
    return tuple(found)


def prompts(body: Body) -> str:
    """Return the instructions and the text of every input item."""
    parts = [str(body.get("instructions") or "")]
    items = body.get("input") or ()
    if isinstance(items, str):
        return "\n".join([*parts, items])
    for item in items:
        content = item.get("content")
        if isinstance(content, str):
            parts.append(content)
        elif isinstance(content, list):
            parts += [str(part.get("text", "")) for part in content if isinstance(part, dict)]
    return "\n".join(parts)


def structure(body: Body) -> object:
    """Return the JSON schema that the answer has to follow, or None."""
    wanted = (body.get("text") or {}).get("format") or {}
    return wanted.get("schema", {}) if wanted.get("type") == "json_schema" else None


def _usage(answer: Answer) -> dict[str, Any]:
    total = answer.usage.input + answer.usage.cached + answer.usage.written
    return {
        "input_tokens": total,
        "input_tokens_details": {"cached_tokens": answer.usage.cached},
        "output_tokens": answer.usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": total + answer.usage.output,
    }


def _items(answer: Answer) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if answer.text:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        message_id = f"msg_{answer.number:08d}"
        items.append(
            {"type": "message", "id": message_id, "status": "completed", "role": "assistant", "content": content}
        )
    for call in answer.calls:
        base = {"id": f"fc_{call.id}", "call_id": call.id, "status": "completed"}
        if call.name == "local_shell":
            action = {"type": "exec", "command": ["bash", "-lc", str(call.arguments.get("command", ""))], "env": {}}
            items.append({**base, "type": "local_shell_call", "action": action})
        else:
            # The tools of an MCP server are a namespace of their own here: a script calls `NAMESPACE.NAME`.
            namespace, _, name = call.name.rpartition(".")
            place = {"namespace": namespace} if namespace else {}
            items.append({**base, "type": "function_call", "name": name, **place, "arguments": call.encoded})
    return items


def _response(answer: Answer, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"resp_{answer.number:08d}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "model": answer.model,
        "output": output,
        "parallel_tool_calls": True,
        "usage": _usage(answer) if status == "completed" else None,
    }


def message(answer: Answer) -> dict[str, Any]:
    """Return the whole response body."""
    return _response(answer, "completed", _items(answer))


def events(answer: Answer) -> list[bytes]:
    """Return the stream's events, encoded."""
    items = _items(answer)
    values: list[dict[str, Any]] = [{"type": "response.created", "response": _response(answer, "in_progress", [])}]
    for index, item in enumerate(items):
        at = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            part = {"type": "output_text", "text": "", "annotations": []}
            values.append(_added(index, {**item, "status": "in_progress", "content": []}))
            values.append({"type": "response.content_part.added", **at, "content_index": 0, "part": part})
            values += [
                {"type": "response.output_text.delta", **at, "content_index": 0, "delta": piece}
                for piece in answer.pieces
            ]
            values.append({"type": "response.output_text.done", **at, "content_index": 0, "text": answer.text})
        elif item["type"] == "function_call":
            values.append(_added(index, {**item, "status": "in_progress", "arguments": ""}))
            arguments = item["arguments"]
            values.append({"type": "response.function_call_arguments.delta", **at, "delta": arguments})
            values.append({"type": "response.function_call_arguments.done", **at, "arguments": arguments})
        else:
            values.append(_added(index, {**item, "status": "in_progress"}))
        values.append({"type": "response.output_item.done", "output_index": index, "item": item})
    values.append({"type": "response.completed", "response": _response(answer, "completed", items)})
    return [sse({**value, "sequence_number": number}, value["type"]) for number, value in enumerate(values)]


def _added(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}
