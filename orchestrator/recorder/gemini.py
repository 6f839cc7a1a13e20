"""The Gemini API: `…/models/M:generateContent` and `:streamGenerateContent?alt=sse`."""

from typing import Any

from orchestrator.recorder.dialect import Answer, Body, Tool, sse

NAME = "gemini"
WRONG_KEY = "API key not valid. Please pass a valid API key."
_TERMINATOR = b"\r\n\r\n"

_ERRORS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def tools(body: Body) -> tuple[Tool, ...]:
    """Return the functions that the request declares."""
    found = []
    for group in body.get("tools") or ():
        for function in group.get("functionDeclarations") or ():
            schema = function.get("parametersJsonSchema") or function.get("parameters") or {}
            found.append(Tool(name=str(function.get("name", "")), parameters=schema))
    return tuple(found)


def prompts(body: Body) -> str:
    """Return the system instruction and the last content's text."""
    contents = list(body.get("contents") or ())
    system = body.get("systemInstruction") or {}
    return "\n".join(_text(content) for content in ([system] if isinstance(system, dict) else []) + contents[-1:])


def _text(content: Body) -> str:
    return "\n".join(str(part.get("text", "")) for part in content.get("parts") or () if isinstance(part, dict))


def structure(body: Body) -> object:
    """Return the JSON schema that the answer has to follow, or None."""
    config = body.get("generationConfig") or {}
    schema: object = config.get("responseJsonSchema") or config.get("responseSchema")
    return schema


def _usage(answer: Answer) -> dict[str, int]:
    total = answer.usage.input + answer.usage.cached + answer.usage.written
    return {
        "promptTokenCount": total,
        "candidatesTokenCount": answer.usage.output,
        "cachedContentTokenCount": answer.usage.cached,
        "totalTokenCount": total + answer.usage.output,
    }


def _response(answer: Answer, parts: list[dict[str, Any]], last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    value: dict[str, Any] = {
        "candidates": [candidate],
        "modelVersion": answer.model,
        "responseId": f"resp{answer.number:08d}",
    }
    if last:
        candidate["finishReason"] = "STOP"
        value["usageMetadata"] = _usage(answer)
    return value


def _calls(answer: Answer) -> list[dict[str, Any]]:
    return [{"functionCall": {"id": call.id, "name": call.name, "args": dict(call.arguments)}} for call in answer.calls]


def message(answer: Answer) -> dict[str, Any]:
    """Return the whole response body."""
    text = [{"text": answer.text}] if answer.text else []
    return _response(answer, text + _calls(answer), last=True)


def events(answer: Answer) -> list[bytes]:
    """Return the stream's events, encoded; the last says why it ended and holds the usage."""
    groups = [[{"text": piece}] for piece in answer.pieces]
    if answer.calls or not groups:
        groups.append(_calls(answer))
    values = [_response(answer, parts, last=index == len(groups) - 1) for index, parts in enumerate(groups)]
    return [sse(value, terminator=_TERMINATOR) for value in values]


def error(status: int, said: str) -> dict[str, Any]:
    """Return the body of an error response."""
    return {"error": {"code": status, "message": said, "status": _ERRORS.get(status, "INTERNAL")}}
