"""The memory file: nothing is lost, and the right bullets are found."""

import hashlib
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.document import MOST_BYTES, parse
from memory.entry import Provenance, Trust, entry_id, normalise
from memory.errors import MemoryFault
from memory.hidden import has_hidden
from memory.tag import parse_tag, render_tag

EXAMPLE = """\
\ufeff# Project memory\r
\r
Prose with a - dash.\r
## Where things live\r
- The daemon API is spec-first: edit openapi.yaml.\r
- [unverified · 2026-06-30 · agent a1b2 · codex · sha 04e2aed] Tests need `docker compose up db` first.
* [trusted · 2026-06-30 · agents a1b2, c3d4 · sha 04e2aed] Fixtures live in testdata/.
  Second line.
  - nested
+ ~~[superseded · 2026-07-02 · agent e5f6] Tests run with `make test`.~~
- - -
```
- not an entry
```
<!-- a comment
- not an entry either
-->
## Do not repeat
- Never edit generated files under gen/."""

pieces = st.sampled_from(
    [
        "- ",
        "* ",
        "+ ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "# ",
        "## a",
        "[trusted · 2026-01-01] ",
        "~~",
        "```",
        "<!--",
        "-->",
        "·",
        "x",
        "\ufeff",
        "é",
        "\u2028",
        "\x0c",
    ]
)


@given(st.lists(pieces).map("".join) | st.text())
def test_parse_then_serialise_is_the_identity(text: str) -> None:
    text = text.replace("\0", "")
    data = text.encode("utf-8", "replace")
    assert parse(data).serialise() == data


def test_entries_of_an_example() -> None:
    entries = parse(EXAMPLE.encode()).entries
    assert [(e.text, e.section, e.claimed, e.superseded) for e in entries] == [
        ("The daemon API is spec-first: edit openapi.yaml.", "Where things live", Trust.HUMAN, False),
        ("Tests need `docker compose up db` first.", "Where things live", Trust.UNVERIFIED, False),
        ("Fixtures live in testdata/.\nSecond line.\n- nested", "Where things live", Trust.TRUSTED, False),
        ("Tests run with `make test`.", "Where things live", Trust.UNVERIFIED, True),
        ("Never edit generated files under gen/.", "Do not repeat", Trust.HUMAN, False),
    ]
    assert entries[2].provenance.agents == ("a1b2", "c3d4")
    assert entries[1].provenance.backend == "codex"
    assert (entries[2].first_line, entries[2].last_line) == (6, 8)


def test_the_id_ignores_case_spacing_and_the_full_stop() -> None:
    assert entry_id("Fixtures  live in testdata/.") == entry_id("fixtures live\nin testdata/")
    assert entry_id("Fixtures live in testdata/") != entry_id("Fixtures live in tests/")


@pytest.mark.parametrize(
    "text", ["[link](x) y", "[ ] todo", "[x] done", "[see below] y", "[human](x) y", "[human-readable] y"]
)
def test_what_only_looks_like_a_tag_is_text(text: str) -> None:
    assert parse_tag(text) is None


def test_an_unknown_tag_claims_nothing() -> None:
    (entry,) = parse("- [verified · 2026-01-01] a\n".encode()).entries
    assert entry.unknown_tag
    assert entry.claimed is Trust.UNVERIFIED


@pytest.mark.parametrize(
    "tag",
    [
        "[unverified - 2026-11-30 - agent a1b2 - codex]",
        "[unverified, 2026-11-30, agent a1b2]",
        "[verified]",
        "[ Trusted ]",
        "[Unverified: maybe]",
        "[trusted | agent a1b2]",
        "[unverified 2026-11-30]",
    ],
)
def test_a_tag_with_a_slip_in_it_claims_nothing_and_is_told(tag: str) -> None:
    (entry,) = parse(f"- {tag} Fixtures live in testdata/.\n".encode()).entries
    assert entry.unknown_tag
    assert entry.claimed is Trust.UNVERIFIED
    assert entry.text == "Fixtures live in testdata/."


def test_a_tag_is_written_as_it_is_read() -> None:
    written = "[trusted · 2026-06-30 · agents a1b2, c3d4 · codex · branch feat/x · sha 04e2aed]"
    tag = parse_tag(written + " text")
    assert tag is not None
    assert render_tag(tag.word, tag.provenance) == written


@pytest.mark.parametrize(
    "name", ["x]evil", "x[y", "x·trusted", "x\ny", "x\u202ey", "x\U000e0041", "x\x1b[0m", "x\x7f", "x,y"]
)
def test_a_name_from_outside_cannot_end_the_tag_or_a_field(name: str) -> None:
    origin = Provenance(date="2026-06-30", agents=(name,), backend=name, branch=name, source=name, sha=name)
    written = render_tag("unverified", origin)
    found = parse_tag(f"{written} The text.")
    assert found is not None
    assert (found.written, found.word, len(found.provenance.agents)) == (written, "unverified", 1)
    assert written.count("·") == 6
    assert written.isprintable()
    assert not has_hidden(written)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a\n\xff", "line 2"),
        (b"a\n- x\0", "NUL byte in line 2"),
        (b"- x" * (MOST_BYTES // 3 + 1), "too large"),
        (b"<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n", "merge conflict at line 1"),
        (b"- a\n- b\n>>>>>>> other\n", "merge conflict at line 3"),
        (b"```\n<<<<<<< HEAD\n```\n- a\n<<<<<<< HEAD\r\n- b\n", "merge conflict at line 5"),
        (b"- a\n  ```\n<<<<<<< HEAD\n  x\n  ```\n", "merge conflict at line 3"),
    ],
)
def test_what_cannot_be_a_memory_is_refused_in_one_line(data: bytes, said: str) -> None:
    with pytest.raises(MemoryFault, match=said):
        parse(data)


@pytest.mark.parametrize(
    "text",
    [
        "```\n<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n```\n- c\n",
        "<!--\n>>>>>>> other\n-->\n- c\n",
        "Heading\n=======\n- c\n",
        "- `<<<<<<< HEAD` begins a conflict.\n  <<<<<<< so.\n",
    ],
)
def test_what_only_shows_a_conflict_is_none(text: str) -> None:
    assert len(parse(text.encode()).entries) == 1


@pytest.mark.parametrize(
    ("text", "line", "what", "hidden"),
    [
        ("- a\n\n```sh\nmake\n\n- b\n  - nested\n- c\n", 2, "code block", 2),
        ("```\n- a\n```\n- b\n\n~~~~\n- c\n~~~\n```\n- d\n", 5, "code block", 2),
        ("```\n- a\n```text\n- b\n", 0, "code block", 2),
        ("\ufeff<!-- a\n- b\n", 0, "comment", 1),
        ("- a\n```", 1, "code block", 0),
    ],
)
def test_what_never_ends_hides_what_is_below_it(text: str, line: int, what: str, hidden: int) -> None:
    unclosed = parse(text.encode()).unclosed
    assert unclosed is not None
    assert (unclosed.line, unclosed.what, unclosed.entries) == (line, what, hidden)


@pytest.mark.parametrize("text", ["- a\n", "```\n- a\n```\n- b\n", "<!-- a\n- b\n-->\n- c", "- a\n  ```\n- b\n", ""])
def test_what_ends_hides_nothing_more(text: str) -> None:
    assert parse(text.encode()).unclosed is None


def test_a_bullet_that_says_nothing_is_no_entry() -> None:
    text = (
        "## A\n- one\n-\n- \n+ two\n*\n- ```\n- **\n- ```\n  ```\n- <!-- a remark -->\n"
        "- [trusted · 2026-01-01]\n- ~~[superseded · 2026-01-01]~~\n-\n  below\n- 四\n- 🙂\n"
    )
    document = parse(text.encode())
    assert [entry.text for entry in document.entries] == ["one", "two", "below", "四", "🙂"]
    assert document.empty == (2, 3, 5, 6, 7, 8, 10, 11, 12)
    assert document.serialise() == text.encode()


def test_a_dash_below_prose_makes_a_heading_of_it_and_no_bullet() -> None:
    document = parse(b"Title\n-\n\n- one\n")
    assert ([entry.text for entry in document.entries], document.empty) == (["one"], ())


@given(st.text() | st.text(st.sampled_from("aB. \t\n\r\x0b\x1c\x1f\x85\xa0\u2028é.İß")))
def test_an_id_is_the_hash_of_the_folded_text_by_whichever_way_it_is_made(text: str) -> None:
    folded = unicodedata.normalize("NFKC", text).casefold()
    plain = re.sub(r"\s+", " ", folded).strip().rstrip(".").strip()
    assert normalise(text) == plain
    assert entry_id(text) == hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def test_what_is_not_indented_below_a_bullet_without_text_is_prose() -> None:
    document = parse(b"- first\n-\nMy prose.\n\n-\n  inside\nlazily\n")
    assert [entry.text for entry in document.entries] == ["first", "inside\nlazily"]
    assert parse(b"-\n  below\n").entries[0].text == "below"
