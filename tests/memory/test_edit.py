"""Edits: each touches the lines that it must and no other, whatever else stands in the file."""

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document import Document, parse
from memory.edit import insert_entry, remove_entries, remove_entry, retag_entry, strike_entry
from memory.entry import Entry, Provenance
from memory.errors import MemoryFault
from memory.tag import render_tag

TAG = render_tag("trusted", Provenance(date="2026-06-30", agents=("a1b2", "c3d4")))

_lines = st.lists(
    st.sampled_from(
        [
            "# Project memory",
            "Prose with *stars*.",
            "",
            "## Where things live",
            "## Do not repeat",
            "- Plain fact.",
            "* Starred fact",
            "+ [unverified · 2026-01-01 · agent a1] Claimed.",
            "- ~~[superseded · 2026-01-01] Old.~~",
            "- Long fact",
            "  with a second line",
            "  - and a nested bullet",
            "    deep",
            "1. numbered",
            "```",
            "<!-- a comment -->",
            "-",
            "- ",
            "  below",
            "> quoted",
        ]
    ),
    max_size=25,
)
_documents = st.tuples(_lines, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans()).map(
    lambda parts: parse(
        (("\ufeff" if parts[3] else "") + parts[1].join(parts[0]) + (parts[1] if parts[2] else "")).encode()
    )
)


def _changed(before: Document, after: Document) -> tuple[set[int], int]:
    """The lines of `before` that are gone or different, and how many separate places were touched."""
    matcher = difflib.SequenceMatcher(None, before.lines, after.lines, autojunk=False)
    edits = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return {line for code in edits for line in range(code[1], code[2])}, len(edits)


def _some_entry(document: Document, data: st.DataObject) -> Entry | None:
    return data.draw(st.sampled_from(document.entries)) if document.entries else None


@settings(deadline=None)
@given(_documents, st.data())
def test_an_edit_of_an_entry_touches_only_its_lines(document: Document, data: st.DataObject) -> None:
    entry = _some_entry(document, data)
    if entry is None:
        return
    own = set(range(entry.first_line, entry.last_line + 1))
    for after in (retag_entry(document, entry, TAG), strike_entry(document, entry, Provenance(date="2026-07-01"))):
        assert len(after.lines) == len(document.lines)
        assert {
            at for at, pair in enumerate(zip(document.lines, after.lines, strict=True)) if pair[0] != pair[1]
        } <= own
    removed = remove_entry(document, entry)
    around = document.lines[: entry.first_line], document.lines[entry.last_line + 1 :]
    # A blank line stays where what is around would be read as something else.
    assert "".join(removed.lines).replace("\r\n", "\n") in {
        "".join((*around[0], *blank, *around[1])).replace("\r\n", "\n") for blank in ((), ("\n",))
    }
    others = [each.text for each in document.entries if each.first_line != entry.first_line]
    assert [each.text for each in removed.entries] == others


@settings(deadline=None)
@given(_documents, st.sampled_from(["Where things live", "Do not repeat", "New section"]))
def test_an_insertion_adds_one_place_and_keeps_every_byte(document: Document, section: str) -> None:
    after = insert_entry(document, "A new fact\nwith two lines", section=section, tag=TAG)
    touched, places = _changed(document, after)
    assert places == 1
    # Only a last line without its end may change: it gets one, or the bullet would be glued to it.
    # And a byte order mark stays the first character of the file, where the bullet goes above what never ends.
    last = len(document.lines) - 1
    before = document.serialise()
    marked = document.unclosed is not None and before.startswith(b"\xef\xbb\xbf")
    assert touched <= {last, 0 if marked else last}
    if not touched:
        assert len(after.serialise()) > len(before)
    assert any(entry.text.startswith("A new fact") for entry in after.entries) or "```" in before.decode()


@settings(deadline=None)
@given(_documents, st.data())
def test_a_tag_comes_and_goes_and_the_text_stays(document: Document, data: st.DataObject) -> None:
    entry = _some_entry(document, data)
    if entry is None or entry.superseded:
        return
    tagged = retag_entry(document, entry, TAG)
    same = next(each for each in tagged.entries if each.first_line == entry.first_line)
    assert (same.id, same.text) == (entry.id, entry.text)
    bare = retag_entry(tagged, same, None)
    assert next(each for each in bare.entries if each.first_line == entry.first_line).text == entry.text


@pytest.mark.parametrize("text", ["", "  ", "a\0b", "a\rb", "- - -", "```", "* *", "<!-- a -->", "…"])
def test_what_would_not_be_one_entry_is_refused(text: str) -> None:
    with pytest.raises(MemoryFault):
        insert_entry(parse(b"# Project memory\n"), text, section="Notes", tag=None)


@pytest.mark.parametrize(
    "before", ["- a\n\n```sh\nmake\n", "```\n- hidden\n", "\ufeff<!-- open\n- hidden", "# M\n\n- a\n```"]
)
def test_an_insertion_is_never_hidden(before: str) -> None:
    after = insert_entry(parse(before.encode()), "New.", section="New section", tag=None)
    assert after.entries[-1].text == "New."
    assert after.serialise().decode().endswith(before[-3:])
    assert after.serialise().count("\ufeff".encode()) == before.count("\ufeff")


@pytest.mark.parametrize("text", ["Intro\n- gone\n-\n  stays\n", "Intro\r\n- gone\r\n-\r\n    stays\r\n- too\r\n"])
def test_what_stands_around_a_removed_entry_is_read_as_before(text: str) -> None:
    document = parse(text.encode())
    left = [entry.text for entry in document.entries][1:]
    assert "stays" in left
    for after in (remove_entry(document, document.entries[0]), remove_entries(document, {document.entries[0].id})):
        assert [entry.text for entry in after.entries] == left
        assert "gone" not in "".join(after.lines)
