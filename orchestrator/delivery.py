"""Where a text stands in a request that a backend sent: how often, whether whole, and if not, where it stopped."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

# A string of JSON and, when it is a key, the colon after it.
_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?', re.DOTALL)
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
# A shorter line may stand in a backend's own prompt by chance.
_TELLING = 24
_SHOWN = 60


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """One string value of a JSON text: path (`system[2].text`), value, raw form, and where that starts (characters)."""

    path: str
    value: str
    raw: str
    start: int


@dataclass(frozen=True, kw_only=True)
class Place:
    """One occurrence: the JSON path, the offset in that string (characters), and in the request's body (bytes)."""

    path: str
    offset: int
    byte: int


@dataclass(frozen=True, kw_only=True)
class Stop:
    """How a text that is not there as a whole got lost.

    `kind` is `absent`, `cut` (only a beginning came), `beheaded` (only an end came), `trimmed` (whole but for the
    white space at its ends) or `changed` (parts of it came, with something else between or around them). `arrived` is
    the length of the beginning that came, in characters, of `length`; `path` is where it stands. `last` and `lost`
    are the characters before and after the point.
    """

    kind: str
    arrived: int
    length: int
    path: str
    last: str
    lost: str


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """What is found of a text in one request.

    `times` counts whole, exact occurrences. `echoes` counts further copies of which only telling lines came, so that
    a second, damaged copy is seen as well. `stop` is set when `times` is 0.
    """

    times: int
    places: tuple[Place, ...]
    echoes: int
    stop: Stop | None

    @property
    def once(self) -> bool:
        """Whether the text is there whole, exactly, and a single time."""
        return self.times == 1 and self.echoes == 0

    @property
    def place(self) -> Place | None:
        """The first occurrence."""
        return self.places[0] if self.places else None


def find_text(body: bytes, text: str) -> Sighting:
    """Find a text in a request's body, which must be JSON (anything else holds nothing).

    An empty text is found nowhere, with no `stop`: nothing was to be delivered.
    """
    leaves = tuple(parse_leaves(body))
    if not text:
        return Sighting(times=0, places=(), echoes=0, stop=None)
    raw = body.decode("utf-8", "replace")
    places = []
    for leaf in leaves:
        places += [_place(leaf, offset, raw) for offset in _offsets(leaf.value, text)]
    copies, where = _copies(leaves, text)
    if places:
        return Sighting(times=len(places), places=tuple(places), echoes=copies, stop=None)
    # The first damaged copy is the one that `stop` tells about.
    return Sighting(times=0, places=(), echoes=max(0, copies - 1), stop=_stop(leaves, text, where))


def parse_leaves(body: bytes) -> Iterator[Leaf]:
    """Yield every string value of a JSON text in document order; nothing where the text is no JSON."""
    raw = body.decode("utf-8", "replace")
    try:
        value = json.loads(raw, object_pairs_hook=_Pairs)
    except ValueError:
        return
    found = (match for match in _STRING.finditer(raw) if match[2] is None)
    for (path, text), match in zip(_strings(value, ""), found, strict=True):
        yield Leaf(path=path, value=text, raw=match[1], start=match.start(1))


class _Pairs(tuple[tuple[str, object], ...]):
    """An object of JSON with its keys in order, doubled ones included: each has a string of its own in the raw text."""

    __slots__ = ()


def _strings(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, _Pairs):
        for key, part in value:
            yield from _strings(part, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _strings(part, f"{path}[{index}]")


def _offsets(value: str, text: str) -> Iterator[int]:
    at = value.find(text)
    while at >= 0:
        yield at
        at = value.find(text, at + len(text))


def _place(leaf: Leaf, offset: int, raw: str) -> Place:
    """Turn an offset in the decoded string into one in the raw body, whatever the client chose to escape."""
    at = position = 0
    while position < offset:
        match = _ESCAPE.match(leaf.raw, at)
        at = at + 1 if match is None else match.end()
        position += 1
    return Place(path=leaf.path, offset=offset, byte=len(raw[: leaf.start + at].encode()))


def _copies(leaves: Sequence[Leaf], text: str) -> tuple[int, str]:
    """Count the copies of the text's telling lines that are no part of a whole copy, and say where the first is."""
    lines = {line.strip() for line in text.splitlines()}
    telling = [line for line in lines if len(line) >= _TELLING]
    rest = [(leaf.path, leaf.value.replace(text, "\n")) for leaf in leaves]
    most = max((sum(value.count(line) for _, value in rest) for line in telling), default=0)
    where = next((path for path, value in rest if any(line in value for line in telling)), "")
    return most, where


def _stop(leaves: Sequence[Leaf], text: str, where: str) -> Stop:
    """Say how it got lost; `where` is the path of one of its lines, "" when none of them came."""
    values = [leaf.value for leaf in leaves]
    bare = text.strip()
    trimmed = bare and bare != text and any(bare in value for value in values)
    head = _longest(values, text, lambda size: text[:size])
    tail = _longest(values, text, lambda size: text[len(text) - size :])
    # A few characters in common are chance, not delivery.
    chance = min(_TELLING, len(text) - 1)
    if trimmed:
        kind = "trimmed"
    elif head > chance and tail > chance:
        kind = "changed"
    elif head > chance:
        kind = "cut"
    elif tail > chance:
        kind = "beheaded"
    else:
        kind = "changed" if where else "absent"
    came = head if head > chance else 0
    path = next((leaf.path for leaf in leaves if came and text[:came] in leaf.value), where)
    last, lost = text[max(0, came - _SHOWN) : came], text[came : came + _SHOWN]
    return Stop(kind=kind, arrived=came, length=len(text), path=path, last=last, lost=lost)


def _longest(values: Sequence[str], text: str, part: Callable[[int], str]) -> int:
    """Return the greatest size whose part of the text stands in one of the strings (a part of a part always does)."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        wanted = part(middle)
        if any(wanted in value for value in values):
            low = middle
        else:
            high = middle - 1
    return low


def same_place(first: Sighting, second: Sighting) -> bool:
    """Tell whether a text that both requests hold once stands at the same path and offset in both.

    The byte of the request is no part of it: claude writes the growing `messages` before `system`, though the model
    reads it after.
    """
    if not (first.once and second.once):
        return False
    old, new = first.places[0], second.places[0]
    return (old.path, old.offset) == (new.path, new.offset)


def describe(sighting: Sighting) -> str:
    """Say in one line what was found."""
    if sighting.stop is not None:
        stop = sighting.stop
        if stop.kind == "absent":
            return "did not arrive"
        told = f"arrived {stop.kind}: {stop.arrived} of {stop.length} characters"
        where = f" in {stop.path}" if stop.path else ""
        return f"{told}{where}; last there {stop.last!r}, first lost {stop.lost!r}"
    if sighting.place is None:
        return "nothing was to be delivered"
    place = sighting.place
    told = f"{place.path} at character {place.offset}, byte {place.byte} of the request"
    if sighting.times > 1:
        told += f", and {sighting.times - 1} more: " + ", ".join(other.path for other in sighting.places[1:])
    if sighting.echoes:
        told += f", and {sighting.echoes} damaged"
    return told
