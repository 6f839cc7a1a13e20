"""Gemini's arguments, and what it says at its end."""

from pathlib import Path

import pytest

from adapters.adapter import Outcome, Usage
from adapters.gemini import ADAPTER
from tests.adapters.launches import ended, launch


def test_the_task_goes_in_by_stdin(tmp_path: Path) -> None:
    made = ADAPTER.command(launch(tmp_path, session="s1", model="m"))
    assert made.argv[1:] == (
        *("--skip-trust", "--approval-mode", "yolo", "-o", "stream-json", "--session-id", "s1", "-m", "m"),
    )
    assert made.stdin == b"-x do\nit"
    assert ADAPTER.command(launch(tmp_path, session="s1", resume=True)).argv[-2:] == ("-r", "s1")
    assert ADAPTER.command(launch(tmp_path, interactive=True)).argv[-1] == "--prompt-interactive=-x do\nit"


@pytest.mark.parametrize("given", [("--approval-mode", "plan"), ("--approval-mode=plan",), ("--yolo",)])
def test_an_approval_mode_of_the_persons_own_is_the_only_one(tmp_path: Path, given: tuple[str, ...]) -> None:
    argv = ADAPTER.command(launch(tmp_path, extra_args=given)).argv
    assert "yolo" not in argv
    assert argv[-len(given) :] == given


INIT = {"type": "init", "session_id": "s1", "model": "m"}
STATS = {"input_tokens": 100, "cached": 30, "output_tokens": 9}


def said(text: str) -> dict[str, object]:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


def test_a_completed_run(tmp_path: Path) -> None:
    lines = [INIT, said("I look."), {"type": "tool_use"}, said("By"), said("e."), {"type": "result", "stats": STATS}]
    report = ADAPTER.report(ended(launch(tmp_path), lines))
    assert (report.outcome, report.session, report.message) == (Outcome.COMPLETED, "s1", "Bye.")
    assert report.usage == Usage(input=70, cached=30, output=9)


def test_an_error_in_the_result_and_in_the_exit_code(tmp_path: Path) -> None:
    error = {"type": "result", "status": "error", "error": {"message": "[API Error: 401 UNAUTHENTICATED]"}}
    assert ADAPTER.report(ended(launch(tmp_path), [INIT, error], code=0)).outcome is Outcome.AUTH
    assert ADAPTER.report(ended(launch(tmp_path), "Quota exceeded for quota metric\n", code=145)).outcome is (
        Outcome.RATE_LIMITED
    )


def test_what_it_was_retrying_is_the_reason(tmp_path: Path) -> None:
    first = "Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {}"
    said = f"{first}\r\n    at async x\r\n  status: 429\r\n}}\r\n"
    report = ADAPTER.report(ended(launch(tmp_path), said, code=143))
    assert report.outcome is Outcome.RATE_LIMITED
    assert report.reason == first
    refused = (
        "Attempt 3 failed. Retrying with backoff... Error: exception TypeError: fetch failed sending request\n  at x\n"
    )
    assert ADAPTER.report(ended(launch(tmp_path), refused, code=143)).outcome is Outcome.UNREACHABLE
