"""The block: the delimited part of a context file that orch owns."""

from projection.faults import BlockFault
from projection.filter import BEGIN, END, bare, split_bom


def render_block(text: str) -> bytes:
    """Return the block that holds `text`: the begin marker, the text, the end marker, each line ended by LF.

    Raises BlockFault where the text could not be found again byte for byte: a marker in it, a CR or a NUL, or a blank
    line at either end.
    """
    data = text.encode("utf-8")
    lines = data.split(b"\n")
    if b"\r" in data or b"\0" in data:
        raise BlockFault("the text of a block holds a carriage return or a NUL")
    if BEGIN in data or END in data:
        raise BlockFault("the text of a block holds a marker of a block")
    if not bare(lines[0]) or not bare(lines[-1]):
        raise BlockFault("the text of a block begins or ends with a blank line")
    return BEGIN + b"\n" + data + b"\n" + END + b"\n"


def has_markers(content: bytes) -> bool:
    """Whether any line of the content is a marker."""
    return bool(_markers(_lines(content)))


def merge(content: bytes, block: bytes) -> bytes:
    """Return the content with the block on top (after a byte order mark), in place of a block that it has already.

    Every other byte stays. Raises BlockFault on half or doubled markers.
    """
    bom, body = split_bom(strip(content))
    return bom + block + body


def strip(content: bytes) -> bytes:
    """Return the content without its block: the inverse of `merge`, byte for byte.

    Raises BlockFault on half or doubled markers.
    """
    lines = _lines(content)
    markers = _markers(lines)
    if not markers:
        return content
    if [kind for _, kind in markers] != [BEGIN, END]:
        raise BlockFault(_what_is_wrong(markers), "delete the marker lines that are left over, or the whole block")
    bom, _ = split_bom(content)
    first, last = markers[0][0], markers[1][0]
    return bom + b"".join(lines[:first] + lines[last + 1 :])


def _lines(content: bytes) -> list[bytes]:
    return split_bom(content)[1].splitlines(keepends=True)


def _markers(lines: list[bytes]) -> list[tuple[int, bytes]]:
    return [(at, bare(line)) for at, line in enumerate(lines) if bare(line) in (BEGIN, END)]


def _what_is_wrong(markers: list[tuple[int, bytes]]) -> str:
    begins = [at + 1 for at, kind in markers if kind == BEGIN]
    ends = [at + 1 for at, kind in markers if kind == END]
    if not ends:
        return f"line {begins[0]} begins a block of orch's memory that never ends"
    if not begins:
        return f"line {ends[0]} ends a block of orch's memory that never begins"
    if len(begins) > 1 or len(ends) > 1:
        return f"there is more than one block of orch's memory (lines {', '.join(map(str, sorted(begins + ends)))})"
    return f"a block of orch's memory ends at line {ends[0]}, before it begins at line {begins[0]}"
