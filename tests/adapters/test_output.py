"""What an error message is about, and JSON among other text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.adapter import Outcome
from adapters.output import count, json_lines, last_text, money, one_line, outcome_of, text

# Each one was printed by the real program.
MESSAGES = [
    ("unexpected status 401 Unauthorized: no, url: http://127.0.0.1:33847/v1/responses", Outcome.AUTH),
    ("exceeded retry limit, last status: 429 Too Many Requests", Outcome.RATE_LIMITED),
    ("unexpected status 529 <unknown status code>: no, url: http://127.0.0.1:1/v1/responses", Outcome.OVERLOADED),
    ("stream disconnected before completion: error sending request", Outcome.UNREACHABLE),
    (
        "stream disconnected before completion: Transport error: network error: error decoding response body",
        Outcome.CUT,
    ),
    ("API Error: Repeated 529 Overloaded errors. The API is at capacity (127.0.0.1:44625).", Outcome.OVERLOADED),
    ("API Error: Connection to the API was lost (ECONNRESET). This is usually temporary.", Outcome.UNREACHABLE),
    ("API Error: Unable to connect to API (ConnectionRefused)", Outcome.UNREACHABLE),
    ("Invalid API key · Please run /login", Outcome.AUTH),
    ("Please set an Auth method in your settings.json or specify one of the following", Outcome.AUTH),
    ('[API Error: {"error":{"code":401,"message":"no","status":"UNAUTHENTICATED"}}]', Outcome.AUTH),
    ("[API Error: terminated]", Outcome.CUT),
    ("Attempt 1 failed with status 529. Retrying with backoff... _ApiError", Outcome.OVERLOADED),
    ("litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key", Outcome.AUTH),
    ("litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached", Outcome.RATE_LIMITED),
    ("litellm.InternalServerError: InternalServerError: OpenAIException - Connection error.", Outcome.UNREACHABLE),
    ("something else", Outcome.FAILED),
    ("listens on 127.0.0.1:4290, version 5.0.1", Outcome.FAILED),
]


@pytest.mark.parametrize(("message", "outcome"), MESSAGES)
def test_what_real_messages_are_about(message: str, outcome: Outcome) -> None:
    assert outcome_of(message) is outcome


def test_a_known_status_is_stronger_than_words() -> None:
    assert outcome_of("overloaded", 429) is Outcome.RATE_LIMITED
    assert outcome_of("anything", 503) is Outcome.OVERLOADED


@given(st.binary())
def test_any_bytes_can_be_read(output: bytes) -> None:
    assert all(isinstance(line, dict) for line in json_lines(output))
    assert "\n" not in last_text(output)


def test_one_line_is_short() -> None:
    assert one_line("a\n b\t c") == "a b c"
    assert len(one_line("x" * 900)) == 300


def test_the_last_text_has_no_codes_and_no_json() -> None:
    assert last_text(b'first\r\n\x1b[31mlast\x1b[0m\r\n{"a": 1}\r\n') == "last"


def test_a_reason_has_no_terminal_codes() -> None:
    assert one_line("\x1b[31mred\x1b[0m \x1b]0;title\x07\x07b\u202eel\x9bl") == "red bell"


@pytest.mark.parametrize("value", [None, "5", [], {}, -1, float("nan"), float("inf"), 2**60])
def test_what_is_no_number_counts_as_nothing(value: object) -> None:
    assert count(value) == 0
    assert money(value) is None


def test_half_a_surrogate_pair_can_be_written() -> None:
    assert text("cut \ud83d").encode() == b"cut ?"
    assert text(5) == ""
