"""What two requests share from their beginning."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.sharing import measure_share, parts

MARK = {"cache_control": {"type": "ephemeral"}}


def anthropic(system: str, prompt: str, *, mark: bool = True) -> dict[str, Any]:
    marked: dict[str, Any] = MARK if mark else {}
    return {
        "messages": [{"role": "user", "content": [{"type": "text", "text": prompt, **MARK}]}],
        "system": [{"type": "text", "text": "identity", **MARK}, {"type": "text", "text": system, **marked}],
        "tools": [{"name": "Bash", "input_schema": {}}],
    }


def test_anthropic_counts_to_the_last_breakpoint_that_both_have() -> None:
    share = measure_share("anthropic", anthropic("s" * 900, "one"), anthropic("s" * 900, "two"))
    upto = sum(
        len(part.data) for part in parts("anthropic", anthropic("s" * 900, "two")) if "messages" not in part.label
    )
    assert share.reusable == upto
    assert share.common > share.reusable
    assert share.differs == "messages[0].content[0]"
    assert share.covers("system[1].text")
    assert not measure_share("anthropic", anthropic("s/a", "p"), anthropic("s/b", "p")).covers("system[1].text")
    assert not share.covers("messages[0].content[0].text")


def test_a_breakpoint_that_only_one_request_has_does_not_count() -> None:
    share = measure_share("anthropic", anthropic("s" * 900, "one", mark=False), anthropic("s" * 900, "two"))
    assert share.covers("system[0].text")
    assert share.reusable < 200


def test_a_difference_inside_the_last_system_block_leaves_only_what_is_before_it() -> None:
    share = measure_share("anthropic", anthropic("s" * 900 + "/a", "p"), anthropic("s" * 900 + "/b", "p"))
    assert share.differs == "system[1]"
    assert share.common > 900
    assert share.reusable < 200


def test_equal_requests_share_everything() -> None:
    body = anthropic("s", "p")
    share = measure_share("anthropic", body, body)
    assert (share.percent, share.differs) == (100.0, "")
    assert share.reusable == share.total


def test_responses_ignore_the_random_ids_of_messages_and_name_the_part() -> None:
    def body(item: str, where: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": "notes"}, {"type": "input_text", "text": where}]
        return {
            "tools": [{"name": "a"}],
            "input": [{"type": "message", "id": item, "role": "user", "content": content}],
        }

    share = measure_share("responses", body("1", "cwd /a"), body("2", "cwd /b"))
    assert share.differs == "input[0].content[1]"
    assert share.covers("input[0].content[0].text")
    assert share.reusable == share.common


def test_chat_with_plain_contents_and_gemini_with_parts() -> None:
    chat = [{"messages": [{"role": "system", "content": "base"}, {"role": "user", "content": text}]} for text in "ab"]
    share = measure_share("chat", *chat)
    assert share.differs == "messages[1]"
    assert share.covers("messages[0].content")
    gemini = [
        {"systemInstruction": {"parts": [{"text": "base"}]}, "contents": [{"role": "user", "parts": [{"text": text}]}]}
        for text in "ab"
    ]
    assert measure_share("gemini", *gemini).covers("systemInstruction.parts[0].text")


@given(st.text(), st.text(), st.text())
def test_the_order_of_the_sizes_always_holds(system: str, one: str, two: str) -> None:
    for api, first, second in (
        ("anthropic", anthropic(system, one), anthropic(system, two)),
        ("chat", {"messages": [{"content": one}]}, {"messages": [{"content": two}]}),
    ):
        share = measure_share(api, first, second)
        assert 0 <= share.reusable <= share.common <= share.total
        assert (share.percent == 100.0) == (share.reusable == share.total)
