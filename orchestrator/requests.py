"""Counting an agent's requests to its model, from what the backend prints."""

from dataclasses import dataclass, field

from adapters.adapter import Adapter

_LONGEST_LINE = 4 * 1024 * 1024


@dataclass(kw_only=True)
class RequestCounter:
    """Counts distinct requests in a stream of output; always 0 for a backend whose output does not tell."""

    adapter: Adapter | None
    _rest: bytes = b""
    _seen: set[str] = field(default_factory=set)

    @property
    def count(self) -> int:
        """How many requests have been seen."""
        return len(self._seen)

    def feed(self, data: bytes) -> None:
        """Take the next bytes of output."""
        if self.adapter is None or self.adapter.request_id is None:
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            self._rest = b""
        for line in lines:
            found = self.adapter.request_id(line)
            if found is not None:
                self._seen.add(found)
