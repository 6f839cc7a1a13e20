"""What two requests have in common from their beginning, in the order in which a provider caches them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Body = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A piece of a request in cache order: where it stands, its bytes, and whether a cache breakpoint follows it."""

    label: str
    data: bytes
    breakpoint: bool = False


@dataclass(frozen=True, kw_only=True)
class Share:
    """What a second request shares with a first; sizes in bytes of the second, without cache marks.

    `common` is the longest equal beginning. `reusable` is how much of it a provider's cache can give back: for
    Anthropic up to the last breakpoint that both requests set at the same place, elsewhere `common`. `whole` are the
    labels of the parts that are entirely reusable, `differs` is the first that is not equal ("" when all are).
    """

    total: int
    common: int
    reusable: int
    whole: tuple[str, ...]
    differs: str

    @property
    def percent(self) -> float:
        """`reusable` as a share of `total`, rounded down to a tenth so that it never claims too much."""
        return int(1000 * self.reusable / self.total) / 10 if self.total else 0.0

    def covers(self, path: str) -> bool:
        """Tell whether the value at a JSON path lies inside the parts that are shared as a whole."""
        return any(path == label or path.startswith((f"{label}.", f"{label}[")) for label in self.whole)


def measure_share(api: str, first: Body, second: Body) -> Share:
    """Compare two requests of one API (`anthropic`, `responses`, `chat`, `gemini`)."""
    old, new = list(parts(api, first)), list(parts(api, second))
    common, reusable, inside, differs = 0, 0, 0, ""
    whole: list[str] = []
    for index, part in enumerate(new):
        before = old[index] if index < len(old) else None
        if before is None or before.data != part.data:
            differs = part.label
            common += 0 if before is None else _equal(before.data, part.data)
            break
        common += len(part.data)
        whole.append(part.label)
        if api != "anthropic" or (part.breakpoint and before.breakpoint):
            reusable, inside = common, len(whole)
    total = sum(len(part.data) for part in new)
    return Share(
        total=total,
        common=common,
        reusable=reusable if api == "anthropic" else common,
        whole=tuple(whole[:inside]),
        differs=differs,
    )


def parts(api: str, body: Body) -> Iterator[Part]:
    """Yield a request's parts in cache order (measured: research on each backend's request layout)."""
    if api == "anthropic":
        yield from _list("tools", body.get("tools"))
        yield from _list("system", body.get("system"))
        yield from _turns("messages", body.get("messages"), "content")
    elif api == "responses":
        yield from _list("instructions", body.get("instructions"))
        yield from _list("tools", body.get("tools"))
        yield from _turns("input", body.get("input"), "content")
    elif api == "gemini":
        yield from _list("systemInstruction.parts", (body.get("systemInstruction") or {}).get("parts"))
        yield from _list("tools", body.get("tools"))
        yield from _turns("contents", body.get("contents"), "parts")
    else:
        yield from _list("tools", body.get("tools"))
        yield from _turns("messages", body.get("messages"), "content")


def _list(label: str, value: object) -> Iterator[Part]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield _part(f"{label}[{index}]", item)
    elif value:
        yield _part(label, value)


def _turns(label: str, value: object, inner: str) -> Iterator[Part]:
    if not isinstance(value, list):
        yield from _list(label, value)
        return
    for index, turn in enumerate(value):
        content = turn.get(inner) if isinstance(turn, Mapping) else None
        if not isinstance(content, list):
            yield _part(f"{label}[{index}]", turn)
            continue
        around = {key: part for key, part in turn.items() if key != inner and not _random(key, turn)}
        yield _part(f"{label}[{index}]:head", around)
        for number, block in enumerate(content):
            yield _part(f"{label}[{index}].{inner}[{number}]", block)


def _random(key: str, turn: Mapping[str, Any]) -> bool:
    # codex numbers its own items at random in every session; what the model reads does not have it.
    return key == "id" and turn.get("type") == "message"


def _part(label: str, value: object) -> Part:
    return Part(label=label, data=_bytes(_unmarked(value)), breakpoint=_marked(value))


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b","


def _marked(value: object) -> bool:
    return isinstance(value, Mapping) and bool(value.get("cache_control"))


def _unmarked(value: object) -> object:
    if _marked(value):
        assert isinstance(value, Mapping)
        return {key: part for key, part in value.items() if key != "cache_control"}
    return value


def _equal(first: bytes, second: bytes) -> int:
    """Return the length of the longest common beginning."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[:middle] == second[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
