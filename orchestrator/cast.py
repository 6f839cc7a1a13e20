"""The recording of an agent's terminal: the raw bytes, and an asciinema v2 cast of the same."""

import codecs
import json
import time
from pathlib import Path
from types import TracebackType
from typing import Self


class Cast:
    """Writes `output` (exact bytes) and `cast` (asciinema v2) while the bytes come in; closed by `with`.

    Both are flushed at every write: what was written is there even if this process is killed.
    """

    def __init__(self, folder: Path, *, rows: int, columns: int) -> None:
        self._raw = (folder / "output").open("ab", buffering=0)
        self._cast = (folder / "cast").open("a", encoding="utf-8")
        self._begin = time.monotonic()
        # A character may be cut in two by the size of a read.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line({"version": 2, "width": columns, "height": rows, "timestamp": int(time.time())})

    def write(self, data: bytes) -> None:
        """Record bytes that the terminal has shown."""
        self._raw.write(data)
        text = self._decoder.decode(data)
        if text:
            self._line([round(time.monotonic() - self._begin, 6), "o", text])

    def _line(self, value: object) -> None:
        self._cast.write(json.dumps(value) + "\n")
        self._cast.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._raw.close()
        self._cast.close()
