"""One request as it was received, and the file that keeps it."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

# `main` belongs to the conversation and takes the next reply of the script; `side` asks for a title or the like;
# `count` asks for a number of tokens; `other` is anything else (a list of models, a look whether anybody is there).
Role = Literal["main", "side", "count", "other"]

# A person's own key must never end in a file of ours; a backend may send one by mistake.
_SECRET_HEADERS = frozenset({"authorization", "x-api-key", "x-goog-api-key", "cookie", "proxy-authorization"})
_SECRET_QUERY = re.compile(r"([?&](?:key|api_key|access_token)=)[^&]*")


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A request. `number` counts from 1 in the order of arrival, `time` is in seconds since the epoch.

    `path` has the query in it; `headers` have lower-case names, those that hold a key have their value replaced.
    `body` is the exact content; `parsed` is its JSON value, or None. `api` is anthropic, responses, chat, gemini or "".
    """

    number: int
    time: float
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    parsed: object
    api: str
    role: Role


def safe_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers with lower-case names and without the values that are keys."""
    lowered = {name.lower(): value for name, value in headers.items()}
    return {name: "(not kept)" if name in _SECRET_HEADERS else value for name, value in lowered.items()}


def safe_path(path: str) -> str:
    """Return a path and query without the values that are keys."""
    return _SECRET_QUERY.sub(r"\1(not kept)", path)


def write_recorded(recorded: Recorded, folder: Path) -> Path:
    """Write one request to a file of its own, mode 0600: request line, headers, an empty line, the exact body."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", recorded.path.partition("?")[0]).strip("-")[:60]
    path = folder / f"{recorded.number:04d}-{recorded.role}-{stem or 'root'}.http"
    lines = [f"{recorded.method} {recorded.path} HTTP/1.1", *(f"{k}: {v}" for k, v in recorded.headers.items()), "", ""]
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write("\r\n".join(lines).encode("utf-8", "surrogateescape") + recorded.body)
    return path
