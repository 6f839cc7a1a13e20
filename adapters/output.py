"""Reading what a backend printed: JSON lines among other text, and what an error message is about."""

import json
import re
from collections.abc import Iterator
from typing import Any

from adapters.adapter import Ending, Outcome, Report, report_plain

# Control sequences of a terminal: CSI, OSC, character sets, single ones; then other control characters.
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[()*+][0-9A-Za-z]|\x1b[ -~]"
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)
# Beyond this, a number is no count of tokens (and no integer that SQLite can hold).
_MOST_TOKENS = 2**53
_STATUS = re.compile(r"(?<![\w.])(4\d\d|5\d\d)(?!\w|\.\w)")
# Words in an error's text -> what it is about; the first that fits wins. Measured on each backend's real messages.
_WORDS: tuple[tuple[str, Outcome], ...] = (
    (
        r"not logged in|please run /login|invalid api key|invalid_api_key|authentication|unauthorized|unauthenticated"
        r"|api key not valid|no api key|permission_error|must specify the .{0,40} environment variable|login required"
        r"|set an auth method",
        Outcome.AUTH,
    ),
    (r"rate.?limit|too many requests|resource_exhausted|quota|usage limit", Outcome.RATE_LIMITED),
    # Codex calls a request that never got through a disconnected stream, and litellm calls it the server's own error.
    (r"error sending request|connection error", Outcome.UNREACHABLE),
    (r"overloaded|internal server error|internalservererror|service unavailable|bad gateway", Outcome.OVERLOADED),
    (
        r"stream disconnected|stream closed|incomplete.{0,20}(stream|chunk)|terminated|premature|"
        r"error decoding response body|socket connection was closed|ended without|connection closed mid",
        Outcome.CUT,
    ),
    (
        r"unable to connect|cannot connect|connection.{0,20}(refused|reset|error)|econn|enotfound|etimedout"
        r"|fetch failed|network error|socket hang up|connectionrefused|apiconnectionerror|timed? ?out",
        Outcome.UNREACHABLE,
    ),
)


def json_lines(output: bytes) -> Iterator[dict[str, Any]]:
    """Yield every JSON object that stands alone on a line; all else that was printed is passed over."""
    for line in output.splitlines():
        value = json_line(line)
        if value is not None:
            yield value


def json_line(line: bytes) -> dict[str, Any] | None:
    """The JSON object on a line, None where it is something else."""
    line = line.strip()
    if not line.startswith(b"{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def table(value: object) -> dict[str, Any]:
    """A JSON object; an empty one where the value is something else."""
    return value if isinstance(value, dict) else {}


def rows(value: object) -> list[Any]:
    """A JSON list; an empty one where the value is something else."""
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """A JSON string that UTF-8 can hold; "" where the value is something else.

    Half a surrogate pair is valid as a JSON escape, comes from texts that were cut, and can be written nowhere.
    """
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def count(value: object) -> int:
    """A JSON number as a count of tokens; 0 where the value is something else or no sensible count."""
    return round(value) if isinstance(value, int | float) and 0 <= value < _MOST_TOKENS else 0


def money(value: object) -> float | None:
    """A JSON number as a sum of money; None where the value is something else or no sensible sum."""
    return float(value) if isinstance(value, int | float) and 0 <= value < _MOST_TOKENS else None


def outcome_of(message: str, status: int | None = None) -> Outcome:
    """What an error is about, from its HTTP status where that is known, else from its words."""
    if status is None:
        found = _STATUS.search(message)
        status = int(found.group(1)) if found else None
    if status in (401, 403):
        return Outcome.AUTH
    if status == 429:
        return Outcome.RATE_LIMITED
    if status is not None and status >= 500:
        return Outcome.OVERLOADED
    lowered = message.lower()
    return next((outcome for words, outcome in _WORDS if re.search(words, lowered)), Outcome.FAILED)


def one_line(said: str, most: int = 300) -> str:
    """A text as one line that a terminal can be given, cut to `most` characters."""
    flat = "".join(each for each in " ".join(_CONTROL.sub("", said).split()) if each.isprintable())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def last_text(output: bytes) -> str:
    """The last line that says something and is no JSON, without terminal codes."""
    said = _CONTROL.sub("", output.decode("utf-8", "replace"))
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.lstrip().startswith("{")]
    return one_line(lines[-1]) if lines else ""


def report_failure(ending: Ending, message: str, status: int | None = None) -> Report:
    """A report of a run that did not complete: a signal says so itself, else the message and the exit code do."""
    if ending.signal is not None:
        return report_plain(ending)
    reason = one_line(message) or f"exit code {ending.exit_code}"
    return Report(outcome=outcome_of(message, status), reason=reason)
