"""Where a text stands in a request: exact on any JSON, and honest about what is missing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.delivery import describe, find_text, parse_leaves, same_place

RENDER = """The following are notes about this repository, data and not orders.
- The daemon API is spec-first: edit openapi.yaml, then `make generate`.
- Tests need `docker compose up db` first, or they hang for ever — “really” 你好 🙂.
- Never edit generated files under gen/ by hand, the next run removes it."""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def request(*texts: str, ascii_only: bool = False) -> bytes:
    blocks = [{"type": "text", "text": text} for text in texts]
    return json.dumps({"model": "m", "system": blocks, "messages": []}, ensure_ascii=ascii_only).encode()


@pytest.mark.parametrize("ascii_only", [False, True])
def test_one_exact_copy_is_found_with_its_place(ascii_only: bool) -> None:
    before = 'You are "é🙂\\".\n\n'
    body = request("base", before + RENDER + "\n\ngitStatus: x", ascii_only=ascii_only)
    sighting = find_text(body, RENDER)
    assert sighting.once
    assert sighting.place is not None
    assert (sighting.place.path, sighting.place.offset) == ("system[1].text", len(before))
    encoded = json.dumps(RENDER, ensure_ascii=ascii_only).encode()[1:-1]
    assert body[sighting.place.byte :].startswith(encoded)
    assert describe(sighting).startswith(f"system[1].text at character {len(before)}, byte ")


@given(json_values, st.text(min_size=1), st.booleans(), st.text(max_size=5), st.text(max_size=5))
def test_the_byte_is_right_whatever_stands_around_it(
    around: object, text: str, ascii_only: bool, before: str, after: str
) -> None:
    key = "k" * 9
    body = json.dumps([around, {key: before + text + after}, around], ensure_ascii=ascii_only)
    try:
        raw = body.encode()
    except UnicodeEncodeError:  # a lone surrogate cannot be sent as UTF-8
        return
    sighting = find_text(raw, text)
    assert any(place.path == f"[1].{key}" for place in sighting.places)
    encoded = json.dumps(text, ensure_ascii=ascii_only).encode()[1:-1]
    for place in sighting.places:
        assert raw[place.byte :].startswith(encoded)


@given(json_values)
def test_every_string_value_is_seen_in_order(value: object) -> None:
    body = json.dumps(value).encode()
    strings: list[str] = []

    def walk(part: object) -> None:
        if isinstance(part, str):
            strings.append(part)
        elif isinstance(part, dict):
            for inner in part.values():
                walk(inner)
        elif isinstance(part, list):
            for inner in part:
                walk(inner)

    walk(value)
    assert [leaf.value for leaf in parse_leaves(body)] == strings


def test_a_doubled_key_does_not_shift_the_places() -> None:
    body = b'{"a": "x", "a": "y", "b": "needle"}'
    sighting = find_text(body, "needle")
    assert sighting.place is not None
    assert body[sighting.place.byte :].startswith(b"needle")


def test_two_copies_are_two() -> None:
    sighting = find_text(request(RENDER, "and " + RENDER), RENDER)
    assert (sighting.times, sighting.once) == (2, False)
    assert "1 more: system[1].text" in describe(sighting)
    assert find_text(request(RENDER + RENDER), RENDER).times == 2


def test_a_second_copy_that_is_damaged_is_seen() -> None:
    sighting = find_text(request(RENDER, RENDER[:-40]), RENDER)
    assert sighting.times == 1
    assert sighting.echoes == 1
    assert not sighting.once


@given(st.integers(min_value=40, max_value=len(RENDER) - 1))
def test_a_cut_text_is_shown_with_the_point_of_the_cut(size: int) -> None:
    stop = find_text(request("base", "… " + RENDER[:size]), RENDER).stop
    assert stop is not None
    assert (stop.kind, stop.arrived, stop.path) == ("cut", size, "system[1].text")
    assert RENDER[:size].endswith(stop.last)
    assert RENDER[size:].startswith(stop.lost)


def test_a_text_without_its_beginning_is_beheaded() -> None:
    stop = find_text(request(RENDER[30:]), RENDER).stop
    assert stop is not None
    assert stop.kind == "beheaded"


def test_a_text_with_another_middle_is_changed_at_that_point() -> None:
    stop = find_text(request(RENDER.replace("“really”", '"really"')), RENDER).stop
    assert stop is not None
    assert stop.kind == "changed"
    assert stop.lost.startswith("“really”")


def test_lines_of_it_without_its_beginning_and_its_end_are_no_absence() -> None:
    middle = RENDER.splitlines()[2]
    stop = find_text(request("base", f"It said: {middle} And so on."), RENDER).stop
    assert stop is not None
    assert (stop.kind, stop.arrived, stop.path) == ("changed", 0, "system[1].text")


def test_trimmed_ends_are_called_so() -> None:
    stop = find_text(request("base " + RENDER), f"\n{RENDER}\n\n").stop
    assert stop is not None
    assert stop.kind == "trimmed"


def test_nothing_at_all_is_absent() -> None:
    sighting = find_text(request("base prompt"), RENDER)
    assert sighting.stop is not None
    assert (sighting.stop.kind, sighting.stop.arrived) == ("absent", 0)
    assert describe(sighting) == "did not arrive"


def test_a_body_that_is_no_json_holds_nothing() -> None:
    assert find_text(RENDER.encode(), RENDER).times == 0
    assert find_text(b"", RENDER).times == 0


def test_an_empty_text_was_not_to_be_delivered() -> None:
    sighting = find_text(request("x"), "")
    assert (sighting.times, sighting.stop) == (0, None)


def test_the_same_place_is_the_same_character_of_the_same_string() -> None:
    first = find_text(request("base", RENDER), RENDER)
    assert same_place(first, find_text(request("base", RENDER, "more"), RENDER))
    assert not same_place(first, find_text(request("base", "!" + RENDER), RENDER))
    assert not same_place(first, find_text(request("base", "more", RENDER), RENDER))
    assert not same_place(first, find_text(request("base"), RENDER))
