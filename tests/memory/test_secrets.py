"""Secrets: what the rules flag is never passed by the quick look that goes before them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.keyword import QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from memory import secret_rules
from memory.secret_rules import kind_of_secret
from memory.secrets import find_secret, is_suspicious

_ROUNDS = settings(max_examples=60)
# The first that is found is enough, and the smallest one takes long to find.
_ANY = settings(max_examples=500, phases=[Phase.generate], database=None)
_WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\n", exclude_categories=["Cs"]), max_size=12)
_CONTEXTS = st.sampled_from(
    ["{}", "The value is {}", "{} opens it", 'x = "{}"', "in dev:{}", "({})", "- `{}`", "a, {};"]
)


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every pattern by which a line can be flagged: the library's, as each detector has it, and our own."""
    plugins: Mapping[str, Any] = get_mapping_from_secret_type_to_class()
    for plugin in plugins.values():
        if plugin.__name__ in secret_rules.DETECTORS:
            for number, pattern in enumerate(getattr(plugin, "denylist", ())):
                yield f"{plugin.__name__}-{number}", pattern
    for number, pattern in enumerate(QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP):
        yield f"KeywordDetector-{number}", pattern
    yield from ((name, value) for name, value in vars(secret_rules).items() if name in secret_rules.PATTERNS)


PATTERNS = dict(_patterns())


def _lines(pattern: re.Pattern[str]) -> st.SearchStrategy[str]:
    matching = st.from_regex(pattern, fullmatch=True).filter(lambda text: "\n" not in text)
    shorter = st.tuples(_CONTEXTS, matching).map(lambda pair: pair[0].replace("{}", pair[1]))
    return shorter | st.tuples(_WORDS, matching, _WORDS).map(" ".join)


def test_every_detector_has_a_pattern_here() -> None:
    assert {name.split("-")[0] for name in PATTERNS if "Detector" in name} == set(secret_rules.DETECTORS)


@pytest.mark.parametrize("name", PATTERNS)
def test_the_quick_look_passes_nothing_that_a_rule_flags(name: str) -> None:
    lines = _lines(PATTERNS[name])
    # It is flagged at all: else the property would say nothing.
    assert find(lines, lambda line: kind_of_secret(line) is not None, settings=_ANY)

    @_ROUNDS
    @given(lines)
    def check(line: str) -> None:
        assert is_suspicious(line) or kind_of_secret(line) is None

    check()


@given(st.text(max_size=200))
def test_the_quick_look_agrees_on_any_text(text: str) -> None:
    assert is_suspicious(text) or not any(kind_of_secret(line) for line in text.split("\n"))


@pytest.mark.parametrize(
    "line",
    [
        "it is xoxb-1-a on staging",
        "use AKCabcdefghij for it",
        "AP6abcdefgh opens it",
        "eyJhIjoxfQ.eyJhIjoxfQ works",
        "aws pw 'abcd/fghi/abcd/fghi/abcd/fghi/abcd/fghij'",
        'contraseña: "hola"',
    ],
)
def test_short_secrets_are_found(line: str) -> None:
    assert find_secret(line) is not None
