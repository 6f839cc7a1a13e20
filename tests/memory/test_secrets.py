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


# Made up at random: none of these opens anything.
_MADE_UP = {
    "digitalocean": "dop_v1_" + "8b0e7153bf7c3706" * 4,
    "age": "AGE-SECRET-KEY-1" + "WZB90XYA2CLMHP3W" * 3,
    "shopify": "shpat_" + "fa644d35db41d94e" * 2,
    "rubygems": "rubygems_" + "2f8b2b19b8f89a50" * 3,
    "nuget": "oy2" + "lolc4okdihul4m9c03wyenpxawzr0h9xc9tgs12ab4c",
    "stripe test": "sk_" + "test_AA0KPIxDjkMyKE9m9iMfw05Q",
    "dsn": "https://" + "0c3a4acdd7f9fcc5" * 2 + "@o1.ingest.sentry.io/1",
    "labelled": "datadog api key " + "914c0f87f17f8499" * 2,
    "letters": "the password is oGOsDbjqMVza",
    "short name": "pw: rn4yDcaz2YBS",
    "german": "Kennwort lautet Vp62BSKLVPA2",
    "french": "mot de passe : Vp62BSKLVPA2",
    "curl": "curl -u admin:DbN2AHRQ73l5 https://x.example",
    "sshpass": "sshpass -p DbN2AHRQ73l5 ssh x",
    "mysql": "mysql -uroot -p9zDnki7XeZZO",
    "redis": "redis-cli -a DbN2AHRQ73l5 ping",
    "netrc": "machine x login bob password pa55w0rdX",
}


@pytest.mark.parametrize("name", _MADE_UP)
def test_many_kinds_of_secrets_are_found(name: str) -> None:
    assert find_secret(f"In staging {_MADE_UP[name]}") is not None


@pytest.mark.parametrize(
    "text",
    [
        "The password is stored in Vault.",
        "The secret is UserPasswordStore.",
        "password is passed by GitHubActions",
        "integrity sha512-Vp62BSKLVPA2xK8zq1Lm0PqRsTuVwXyZ0123456789abcdEFGHijkl==",
        "Run `mysql -u root -p` first.",
        "curl -u $USER:$TOKEN https://x.example",
        "curl -u user:<token> https://x.example",
        "redis-cli -a $REDIS_PASSWORD ping",
        "The API key lives in 1Password; API tokens are hashed with SHA-256.",
        "Fixed in commit 220ad2cf1337349e455d52613c2813c40d2affbb.",
    ],
)
def test_what_only_speaks_of_secrets_is_none(text: str) -> None:
    assert find_secret(text) is None
