"""The recording of an agent's terminal: the raw bytes, and an asciinema v2 cast of the same."""

import codecs
import contextlib
import json
import time
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self


class Cast:
    """Writes `output` (exact bytes) and `cast` (asciinema v2) while the bytes come in; closed by `with`.

    Both are flushed at every write: what was written is there even if this process is killed. What the disk does not
    take is counted in `lost`, and why is in `fault`: a full disk must not end an agent.
    """

    def __init__(self, folder: Path, *, rows: int, columns: int) -> None:
        self.lost = 0
        self.fault = ""
        self._raw = self._open(folder / "output")
        self._cast = self._open(folder / "cast")
        self._begin = time.monotonic()
        # A character may be cut in two by the size of a read.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line({"version": 2, "width": columns, "height": rows, "timestamp": int(time.time())})

    def write(self, data: bytes) -> None:
        """Record bytes that the terminal has shown."""
        self.lost += self._put(self._raw, data)
        text = self._decoder.decode(data)
        if text:
            self._line([round(time.monotonic() - self._begin, 6), "o", text])

    def _line(self, value: object) -> None:
        data = json.dumps(value).encode() + b"\n"
        if self._cast is not None and self._put(self._cast, data):
            # Half a line would make the rest unreadable.
            self._cast.close()
            self._cast = None

    def _open(self, path: Path) -> FileIO | None:
        try:
            return FileIO(path, "a")
        except OSError as exc:
            self.fault = exc.strerror or str(exc)
            return None

    def _put(self, stream: FileIO | None, data: bytes) -> int:
        """Write all of it; return how many bytes could not be written."""
        left = memoryview(data)
        try:
            while stream is not None and left:
                left = left[stream.write(left) or 0 :]
        except OSError as exc:
            self.fault = exc.strerror or str(exc)
        return len(left)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in (self._raw, self._cast):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
