"""The render: within its budget, in its fence, the same everywhere."""

import difflib
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document import parse
from memory.trust import committed_trust, judge
from projection.budget import Budget
from projection.portable import portable_line
from projection.render import CLOSE, OPEN, render
from projection.tokens import count_tokens

HOSTILE = st.text(
    alphabet=st.sampled_from("ab @#`~<>/!-=[]()*_\t\u200b\u202e\U000e0041\ufe0f\u3164é日\x1b&'\"{}%") | st.characters(),
    max_size=60,
) | st.sampled_from(
    ["</project-memory>", "<!-- orch:memory end -->", "```", "@README.md", "# Title", "====", "<system>"]
)


def _render(text: str, budget: Budget | None = None, *, vouched: bool = True):  # type: ignore[no-untyped-def]
    document = parse(text.encode("utf-8", "replace"))
    return render(
        judge(document, committed=committed_trust(document) if vouched else {}, ledger={}), budget or Budget()
    )


@settings(deadline=None)
@given(st.lists(HOSTILE, max_size=12), st.integers(0, 2000), st.integers(0, 500), st.booleans())
def test_the_budget_and_the_fence_hold_for_every_input(
    texts: list[str], most_bytes: int, most_tokens: int, vouched: bool
) -> None:
    document = "\n".join(f"## s{i % 3}\n- {text}" for i, text in enumerate(texts)).replace("\0", "")
    try:
        text = _render(document, Budget(bytes=most_bytes, tokens=most_tokens), vouched=vouched).text
    except Exception as exc:
        assert type(exc).__name__ == "MemoryFault"
        return
    assert len(text.encode()) <= most_bytes
    assert count_tokens(text) <= most_tokens
    if not text:
        return
    assert text == text.strip()
    assert text.startswith(OPEN + "\n")
    assert text.endswith("\n" + CLOSE)
    assert text.count("<project-memory") == text.count("</") == 1
    assert not any(
        bad in text for bad in ("```", "~~~", "<!", "-->", "\r", "\t", "\x1b", "\u200b", "\u202e", "\U000e0041")
    )
    assert all(line.startswith(("- ", "  ", "## ")) or not line for line in text.split("\n")[4:-1])


@given(HOSTILE)
def test_a_portable_line_stays_as_it_is(text: str) -> None:
    once = portable_line(text)
    assert portable_line(once) == once


def test_one_huge_entry_does_not_hide_the_rest() -> None:
    found = _render("- " + "x" * 50_000 + "\n- small\n")
    assert "- small" in found.text
    assert [item.why.startswith("over the budget") for item in found.dropped] == [True]


def test_lowest_value_goes_first_and_the_order_stays() -> None:
    lines = [
        "- [unverified · 2026-01-01 · agent a] " + "u" * 50,
        "- human one",
        "- [trusted · 2026-01-01 · agents a, b] " + "t" * 50,
    ]
    found = _render("\n".join(lines), Budget(bytes=340, tokens=2000))
    assert [item.entry.text[0] for item in found.included] == ["h", "t"]
    assert "(unverified)" not in found.text.split("\n", 4)[4]


def test_an_entry_that_nobody_vouched_for_is_unverified_whatever_it_says() -> None:
    found = _render("- plain\n- [trusted · 2026-01-01 · agents a, b] tagged\n", vouched=False)
    assert "- (unverified) plain" in found.text
    assert "- (unverified) tagged" in found.text


def test_an_empty_memory_is_no_text() -> None:
    assert _render("# Project memory\n\n## A section\n").text == ""


def test_tokens_are_counted_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    from projection import tokens

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    tokens._encoding.cache_clear()
    # Counts of cl100k_base that OpenAI publishes with its tokenizer.
    assert tokens.count_tokens("hello world") == 2
    assert tokens.count_tokens("tiktoken is great!") == 6


_FACTS = st.lists(st.text(alphabet="abcdefg `/.", min_size=3, max_size=30).map(lambda text: "x" + text), max_size=10)


@settings(deadline=None)
@given(_FACTS, st.integers(0, 10), st.text(alphabet="abcdefg", min_size=3, max_size=20))
def test_an_entry_that_fits_changes_one_contiguous_region(facts: list[str], at: int, added: str) -> None:
    half = len(facts) // 2
    before = ["## One", *(f"- {fact}" for fact in facts[:half]), "## Two", *(f"- {fact}" for fact in facts[half:])]
    place = 1 + min(at, len(before) - 1)
    after = [*before[:place], f"- new {added}", *before[place:]]
    old, new = (_render("\n".join(lines), Budget(bytes=20_000, tokens=20_000)).text for lines in (before, after))
    if not old:
        return
    matcher = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False)
    assert sum(code[0] != "equal" for code in matcher.get_opcodes()) == 1
