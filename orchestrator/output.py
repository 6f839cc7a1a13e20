"""Reading an agent's output while it is being written."""

import time
from collections.abc import Iterator
from pathlib import Path

from orchestrator.liveness import observed
from orchestrator.records import Records

_CHUNK = 1 << 20
_PAUSE_SECONDS = 0.2
_CHECK_SECONDS = 1.0


def follow_output(records: Records, agent_id: str, path: Path, *, follow: bool) -> Iterator[bytes]:
    """Yield whole lines of the output (the last one as it is), and with `follow` go on until the agent has ended.

    A line that is longer than a megabyte comes in parts, none of which ends inside a character.
    """
    rest = b""
    offset = 0
    live = True
    checked = 0.0
    while True:
        data = _read_from(path, offset)
        offset += len(data)
        *lines, rest = (rest + data).split(b"\n")
        if lines:
            yield b"\n".join(lines) + b"\n"
        if len(rest) >= _CHUNK:
            part, rest = _whole(rest)
            yield part
        if data:
            continue
        if not follow or not live:
            break
        time.sleep(_PAUSE_SECONDS)
        if time.monotonic() - checked >= _CHECK_SECONDS:
            checked = time.monotonic()
            agent = records.agent(agent_id)
            # Not before the next read is empty too: the last bytes are written before the end is recorded.
            live = agent is not None and observed(records, agent).live
    if rest:
        yield rest


def _whole(data: bytes) -> tuple[bytes, bytes]:
    """Part bytes before a UTF-8 character that may be unfinished: at most three bytes from the end."""
    for back in range(1, min(4, len(data)) + 1):
        if data[-back] & 0xC0 != 0x80:
            return (data[:-back], data[-back:]) if data[-back] >= 0xC0 else (data, b"")
    return data, b""


def _read_from(path: Path, offset: int) -> bytes:
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            return stream.read(_CHUNK)
    except FileNotFoundError:
        return b""


def last_line(path: Path) -> str:
    """The last line of output that holds anything, at most 4 KB of it."""
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - 4096))
            lines = [line for line in stream.read().split(b"\n") if line.strip()]
    except OSError:
        return ""
    return lines[-1].decode("utf-8", "replace").strip() if lines else ""
