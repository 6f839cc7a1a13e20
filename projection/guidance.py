"""Guidance: fixed texts of the person's that ride the same seam, after the memory, under a budget of their own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from projection.budget import Budget
from projection.portable import portable_line
from projection.tokens import fits

OPEN = "<project-guidance>"
CLOSE = "</project-guidance>"
_HEADING = re.compile(r"(#{1,6}) +(.*)")


@dataclass(frozen=True, kw_only=True)
class Guide:
    """One text and the name it is shown under."""

    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Guidance:
    """The text ("" when there is none), and the names of the guides that did not fit."""

    text: str = ""
    dropped: tuple[str, ...] = ()


def render_guidance(guides: Sequence[Guide], budget: Budget) -> Guidance:
    """Render guides in the given order; one that does not fit is left out whole, and the next is still tried.

    The result is portable, as a render of the memory is. A guide without visible text is nothing.
    """
    parts: list[str] = []
    dropped = []
    for guide in guides:
        body = _body(guide.text)
        if not body:
            continue
        part = f"From {portable_line(guide.name).strip()}:\n\n{body}"
        whole = _framed([*parts, part])
        if len(whole.encode()) > budget.bytes or not fits(whole, budget.tokens):
            dropped.append(guide.name)
        else:
            parts.append(part)
    return Guidance(text=_framed(parts) if parts else "", dropped=tuple(dropped))


def _framed(parts: Sequence[str]) -> str:
    return "\n".join([OPEN, "\n\n".join(parts), CLOSE])


def _body(text: str) -> str:
    """The text's lines made portable; headings stay headings, runs of blank lines become one."""
    lines: list[str] = []
    for raw in text.removeprefix("\ufeff").splitlines():
        heading = _HEADING.fullmatch(raw)
        line = f"{heading[1]} {portable_line(heading[2]).strip()}".rstrip() if heading else portable_line(raw)
        if line.strip() or (lines and lines[-1]):
            lines.append(line if line.strip() else "")
    return "\n".join(lines).strip("\n")
