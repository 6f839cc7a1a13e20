"""Lines on the MCP server's standard input that are no message: answered, as JSON-RPC 2.0 asks for.

The SDK drops them without a word (mcp 2.3: `JSONRPCDispatcher._dispatch`), and whoever sent one waits for ever.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage


@asynccontextmanager
async def answering(
    reads: "ReadStream[SessionMessage | Exception]", writes: "WriteStream[SessionMessage]"
) -> "AsyncIterator[MemoryObjectReceiveStream[SessionMessage | Exception]]":
    """The messages among what is read; whatever else is read is answered with an error."""
    import anyio
    from mcp.shared.message import SessionMessage

    send, messages = anyio.create_memory_object_stream["SessionMessage | Exception"](0)

    async def sort() -> None:
        async with send:
            async for item in reads:
                if isinstance(item, SessionMessage):
                    await send.send(item)
                    continue
                answer = _answer(item)
                if answer is not None:
                    await writes.send(answer)

    async with anyio.create_task_group() as tasks, messages:
        tasks.start_soon(sort)
        yield messages


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
