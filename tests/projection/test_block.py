import pytest
from hypothesis import given
from hypothesis import strategies as st

from projection.block import has_markers, merge, render_block, strip
from projection.faults import BlockFault
from projection.filter import BEGIN, BOM, END

BLOCK = render_block("# Notes\n\n- one\n- two")
OTHER = render_block("# Notes\n\n- three")

_pieces = st.lists(
    st.sampled_from(
        [
            b"text",
            b"\n",
            b"\r\n",
            b"\r",
            b" ",
            b"",
            BOM,
            b"\0",
            b"\xff",
            BEGIN,
            END,
            b" " + BEGIN,
            BEGIN + b"x",
            b"- one",
        ]
    )
    | st.binary(max_size=8),
    max_size=14,
)
contents = _pieces.map(b"".join)


def test_a_block_is_its_text_between_two_marker_lines() -> None:
    assert render_block("a\nb") == b"<!-- orch:memory begin -->\na\nb\n<!-- orch:memory end -->\n"


@pytest.mark.parametrize("text", ["", "\na", "a\n", "a\n  ", "a\rb", "a\0b", f"a\n{BEGIN.decode()}\nb", END.decode()])
def test_a_text_that_could_not_be_found_again_is_refused(text: str) -> None:
    with pytest.raises(BlockFault):
        render_block(text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", BLOCK),
        (b"hello", BLOCK + b"hello"),
        (b"hello\r\n", BLOCK + b"hello\r\n"),
        (BOM + b"hello\n", BOM + BLOCK + b"hello\n"),
        (BOM, BOM + BLOCK),
        (OTHER + b"hello\n", BLOCK + b"hello\n"),
        (b"hello\n" + OTHER + b"world", BLOCK + b"hello\nworld"),
    ],
)
def test_merge(before: bytes, after: bytes) -> None:
    assert merge(before, BLOCK) == after


@given(contents)
def test_strip_is_the_inverse_of_merge_byte_for_byte(content: bytes) -> None:
    if has_markers(content):
        return
    merged = merge(content, BLOCK)
    assert strip(merged) == content
    assert merge(merged, BLOCK) == merged
    assert merge(merged, OTHER) == merge(content, OTHER)
    assert BLOCK in merged


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (BEGIN + b"\nx\n", "line 1 begins a block of orch's memory that never ends"),
        (b"x\n" + END + b"\n", "line 2 ends a block of orch's memory that never begins"),
        (BLOCK + BLOCK, "more than one block"),
        (BEGIN + b"\n" + BLOCK, "more than one block"),
        (END + b"\n" + BEGIN + b"\n", "before it begins"),
    ],
)
def test_half_and_doubled_markers_are_refused_with_a_hint(content: bytes, says: str) -> None:
    with pytest.raises(BlockFault, match=says) as caught:
        strip(content)
    assert "delete" in caught.value.hint
    with pytest.raises(BlockFault, match=says):
        merge(content, BLOCK)
