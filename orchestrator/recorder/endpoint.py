"""The loopback model: an HTTP server that records every request and answers from a script."""

import asyncio
import json
import socket
import struct
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from orchestrator.recorder import anthropic, chat, gemini, openai, responses
from orchestrator.recorder.dialect import ERROR_WORDS, Answer, Body, Dialect, answer, is_side, side_answer
from orchestrator.recorder.recorded import Recorded, Role, safe_headers, safe_path, write_recorded
from orchestrator.recorder.replies import Cut, Error, Reply, Reset, Script

if TYPE_CHECKING:
    from aiohttp import web

_START_SECONDS = 10
_MODELS = ("scripted",)


class Recorder:
    """A model endpoint on 127.0.0.1, on a free port, in a thread of its own; use it as a context manager.

    It speaks Anthropic Messages, OpenAI Responses and Chat Completions, and Gemini. `keep` is a folder that gets one
    file a request. Nothing is ever sent anywhere else, and nothing but loopback can reach it.
    """

    def __init__(self, script: Script | None = None, keep: Path | None = None) -> None:
        self.url = ""
        self._script = script or Script()
        self._keep = keep
        self._lock = threading.Lock()
        self._requests: list[Recorded] = []
        self._used = 0
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="orch-recorder", daemon=True)

    @property
    def requests(self) -> list[Recorded]:
        """Every request so far, in order of arrival."""
        with self._lock:
            return list(self._requests)

    @property
    def main_requests(self) -> list[Recorded]:
        """The requests of the conversation itself: no titles, no counts."""
        return [recorded for recorded in self.requests if recorded.role == "main"]

    def play(self, script: Script) -> None:
        """Answer from this script from now on, from its beginning."""
        with self._lock:
            self._script, self._used = script, 0

    def __enter__(self) -> Self:
        if self._keep is not None:
            self._keep.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._thread.start()
        if not self._ready.wait(_START_SECONDS):
            raise TimeoutError("the loopback model did not start")
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_START_SECONDS)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as exc:  # handed to the thread that waits in __enter__
            self._failure = exc
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        from aiohttp import web

        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        application = web.Application(client_max_size=1 << 30)
        application.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            port = runner.addresses[0][1]
            self.url = f"http://127.0.0.1:{port}"
            self._ready.set()
            await self._stop.wait()
        finally:
            await runner.cleanup()

    async def _handle(self, request: "web.Request") -> "web.StreamResponse":
        from aiohttp import web

        content = await request.read()
        body, dialect, role = _classify(request.method, request.path, content)
        with self._lock:
            number = len(self._requests) + 1
            recorded = Recorded(
                number=number,
                time=time.time(),
                method=request.method,
                path=safe_path(request.path_qs),
                headers=safe_headers(request.headers),
                body=content,
                parsed=body,
                api="" if dialect is None else dialect.NAME,
                role=role,
            )
            self._requests.append(recorded)
            reply = self._next(content) if role == "main" else None
        if self._keep is not None:
            write_recorded(recorded, self._keep)
        if dialect is None or not isinstance(body, dict):
            return _plain(request.method, request.path)
        if role == "count":
            name = "totalTokens" if dialect is gemini else "input_tokens"
            return web.json_response({name: max(1, len(content) // 4)})
        # Gemini has the model's name and whether to stream in the path, not in the body.
        streamed = ":streamGenerateContent" in request.path or body.get("stream") is True
        if dialect is gemini:
            body = {**body, "model": request.path.rpartition("/")[2].partition(":")[0]}
        if reply is None:
            return await _send(request, dialect, side_answer(dialect, body, number), streamed)
        return await _reply(request, dialect, reply, body, number, streamed)

    def _next(self, content: bytes) -> Reply:
        for rule in self._script.rules:
            if rule.contains.encode() in content or json.dumps(rule.contains)[1:-1].encode() in content:
                return rule.reply
        self._used += 1
        if self._used <= len(self._script.replies):
            return self._script.replies[self._used - 1]
        return self._script.final


def _classify(method: str, path: str, content: bytes) -> tuple[object, Dialect | None, Role]:
    try:
        body = json.loads(content) if content else None
    except ValueError:
        body = None
    dialect = _dialect(path)
    if method != "POST" or dialect is None or not isinstance(body, dict):
        return body, dialect, "other"
    if path.endswith(("/count_tokens", ":countTokens")):
        return body, dialect, "count"
    return body, dialect, "side" if is_side(dialect, body) else "main"


def _dialect(path: str) -> Dialect | None:
    if path.endswith(("/messages", "/messages/count_tokens")):
        return anthropic
    if path.endswith("/chat/completions"):
        return chat
    if path.endswith("/responses"):
        return responses
    if path.endswith((":generateContent", ":streamGenerateContent", ":countTokens")):
        return gemini
    return None


def _plain(method: str, path: str) -> "web.Response":
    from aiohttp import web

    if path.rstrip("/").endswith("/models"):
        return web.json_response(openai.models(_MODELS))
    if method in ("HEAD", "GET") and path == "/":
        return web.Response(text="orch recorder\n")
    return web.json_response(openai.error(404, f"nothing is at {path}"), status=404)


async def _reply(
    request: "web.Request", dialect: Dialect, reply: Reply, body: Body, number: int, streamed: bool
) -> "web.StreamResponse":
    from aiohttp import web

    if reply.delay > 0:
        await asyncio.sleep(reply.delay)
    if isinstance(reply, Reset):
        _abort(request)
        return web.Response()
    if isinstance(reply, Error):
        text = reply.body if reply.body is not None else json.dumps(_error(dialect, reply))
        headers = {"Content-Type": "application/json", **reply.headers}
        return web.Response(status=reply.status, body=text.encode(), headers=headers)
    said = answer(dialect, reply, body, number)
    if isinstance(reply, Cut):
        return await _cut(request, dialect, said, streamed)
    return await _send(request, dialect, said, streamed)


def _error(dialect: Dialect, reply: Error) -> dict[str, object]:
    words = dialect.WRONG_KEY if reply.status == 401 else ERROR_WORDS.get(reply.status, "scripted error")
    return dialect.error(reply.status, reply.message or words)


async def _send(request: "web.Request", dialect: Dialect, said: Answer, streamed: bool) -> "web.StreamResponse":
    from aiohttp import web

    if not streamed:
        return web.json_response(dialect.message(said))
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await response.prepare(request)
    try:
        for event in dialect.events(said):
            await response.write(event)
        await response.write_eof()
    except ConnectionResetError:
        pass  # the client has read enough and gone: what it sent is recorded, which is all that matters here
    return response


async def _cut(request: "web.Request", dialect: Dialect, said: Answer, streamed: bool) -> "web.StreamResponse":
    """Send the first half, then abort the connection, so that the client sees a broken transport and no end."""
    from aiohttp import web

    if streamed:
        events = dialect.events(said)
        whole = b"".join(events[: len(events) // 2])
        sent = whole + events[len(events) // 2][:10]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    else:
        whole = json.dumps(dialect.message(said)).encode()
        sent = whole[: len(whole) // 2]
        headers = {"Content-Type": "application/json", "Content-Length": str(len(whole))}
        response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    try:
        await response.write(sent)
        # Give the kernel the time to deliver the half: an abort throws away what is still in the buffer.
        await asyncio.sleep(0.05)
    except ConnectionResetError:
        return response
    _abort(request)
    return response


def _abort(request: "web.Request") -> None:
    transport = request.transport
    if transport is None:
        return
    connection = transport.get_extra_info("socket")
    if connection is not None:
        # Closing with no time to linger sends a reset: an orderly close could pass for the end of an answer.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
