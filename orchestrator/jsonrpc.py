"""What the SDK leaves open of JSON-RPC 2.0 on standard input: lines that are no message, and requests before its end.

It drops the first without a word (mcp 2.3: `JSONRPCDispatcher._dispatch`), and whoever sent one waits for ever. And it
gives up what it has not answered yet when the input ends: `printf … | orch mcp` would be told nothing.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage

    _Messages = MemoryObjectReceiveStream[SessionMessage | Exception]

# How long the end waits for the next answer.
_PATIENCE_SECONDS = 60.0


class _Open:
    """The requests that have no answer yet."""

    def __init__(self) -> None:
        import anyio

        self._ids: set[str | int] = set()
        self._answered = anyio.Event()

    def asked(self, item: "SessionMessage") -> None:
        """A message of the client: a request, or one that takes a request back."""
        from mcp import types

        message = item.message
        if isinstance(message, types.JSONRPCRequest):
            self._ids.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._end((message.params or {}).get("requestId"))

    def answered(self, item: "SessionMessage") -> None:
        """A message of the server."""
        from mcp import types

        if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
            self._end(item.message.id)

    def _end(self, request: object) -> None:
        import anyio

        if isinstance(request, str | int):
            self._ids.discard(request)
        self._answered.set()
        self._answered = anyio.Event()

    async def all_answered(self) -> None:
        """Wait until no request is open, or none has been answered for a minute."""
        import anyio

        while self._ids:
            with anyio.move_on_after(_PATIENCE_SECONDS) as waited:
                await self._answered.wait()
            if waited.cancelled_caught:
                return


@asynccontextmanager
async def answering(
    reads: "ReadStream[SessionMessage | Exception]", writes: "WriteStream[SessionMessage]"
) -> "AsyncIterator[tuple[_Messages, MemoryObjectSendStream[SessionMessage]]]":
    """The messages among what is read, and where their answers go; whatever else is read is answered with an error.

    The messages end when the input has ended and every request is answered.
    """
    import anyio
    from mcp.shared.message import SessionMessage

    send, messages = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
    answers, receive = anyio.create_memory_object_stream["SessionMessage"](0)
    requests = _Open()

    async def sort() -> None:
        async with send:
            async for item in reads:
                if isinstance(item, SessionMessage):
                    requests.asked(item)
                    await send.send(item)
                    continue
                answer = _answer(item)
                if answer is not None:
                    await writes.send(answer)
            await requests.all_answered()

    async def hand_on() -> None:
        async with receive, writes:
            async for item in receive:
                await writes.send(item)
                requests.answered(item)

    async with anyio.create_task_group() as tasks, messages, answers:
        tasks.start_soon(sort)
        tasks.start_soon(hand_on)
        yield messages, answers


def _answer(fault: Exception) -> "SessionMessage | None":
    """What is said of a line that is no message; None for an empty one."""
    from mcp import types
    from mcp.shared.message import SessionMessage
    from pydantic import ValidationError

    errors = fault.errors(include_url=False) if isinstance(fault, ValidationError) else []
    if errors and errors[0]["type"] != "json_invalid":
        # Where a field is missing, what it is missing from is the whole.
        whole = next((each["input"] for each in errors if each["type"] == "missing" and len(each["loc"]) == 2), None)
        error = types.ErrorData(code=types.INVALID_REQUEST, message="the line is no JSON-RPC 2.0 message")
        return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=_request(whole), error=error))
    if errors and not str(errors[0]["input"]).strip():
        return None
    error = types.ErrorData(code=types.PARSE_ERROR, message="the line is no JSON")
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error))


def _request(value: object) -> str | int | None:
    """The id of what was meant as a request; None for anything else, an answer of the client's included."""
    if not isinstance(value, dict) or "method" not in value:
        return None
    named = value.get("id")
    return named if isinstance(named, str | int) and not isinstance(named, bool) else None
