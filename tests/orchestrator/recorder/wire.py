"""A plain HTTP client and the smallest request of each API, for the recorder's own tests."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
_LISTED = {
    "type": "object",
    "properties": {"command": {"type": "array"}, "why": {"type": "string"}, "n": {"type": "integer", "minimum": 1}},
    "required": ["command", "why", "n"],
}

# API -> path, body with a shell tool; the stream flag and path of a streamed request.
PATHS = {
    "anthropic": "/v1/messages",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
    "gemini": "/v1beta/models/g-1:generateContent",
}
BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"name": "Read", "input_schema": {}}, {"name": "Bash", "input_schema": _COMMAND}],
    },
    "responses": {
        "model": "m",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "tools": [{"type": "web_search"}, {"type": "function", "name": "shell", "parameters": _LISTED}],
    },
    "chat": {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": _COMMAND}}],
    },
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"functionDeclarations": [{"name": "run_shell_command", "parametersJsonSchema": _COMMAND}]}],
    },
}


@dataclass(frozen=True)
class Response:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The values of a stream's events, its end mark left out."""
        lines = [line[6:] for line in self.body.decode().replace("\r\n", "\n").split("\n") if line.startswith("data: ")]
        return [json.loads(line) for line in lines if line != "[DONE]"]


def send(url: str, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Response:
    """Send one request on a connection of its own; what breaks the connection is raised."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    try:
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection.request(method, path, content, {"Content-Type": "application/json", **(headers or {})})
        response = connection.getresponse()
        try:
            return Response(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            response.close()
    finally:
        connection.close()


def ask(url: str, api: str, *, stream: bool = False, **extra: object) -> Response:
    """Send the smallest request of an API."""
    body = {**BODIES[api], **extra}
    path = PATHS[api]
    if stream and api == "gemini":
        path = path.replace(":generateContent", ":streamGenerateContent?alt=sse")
    elif stream:
        body["stream"] = True
    return send(url, "POST", path, body)
