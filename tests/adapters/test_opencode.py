"""opencode's arguments, the configuration in its environment, and what it says at its end."""

import json
from pathlib import Path

import pytest

from adapters.adapter import Outcome, Usage
from adapters.opencode import ADAPTER
from tests.adapters.launches import carry, ended, launch

assert ADAPTER.launch_seam is not None
apply = ADAPTER.launch_seam.apply
VARIABLE = "OPENCODE_CONFIG_CONTENT"


def test_the_task_goes_in_by_stdin_and_a_session_only_when_it_is_resumed(tmp_path: Path) -> None:
    made = ADAPTER.command(launch(tmp_path, session="ses_1", model="p/m"))
    assert made.argv[1:] == ("run", "--format", "json", "--auto", "-m", "p/m")
    assert made.stdin == b"-x do\nit"
    assert ADAPTER.command(launch(tmp_path, session="ses_1", resume=True)).argv[-2:] == ("-s", "ses_1")
    assert ADAPTER.command(launch(tmp_path, interactive=True)).argv[1:] == ("--prompt=-x do\nit",)


def test_instructions_of_the_persons_own_are_kept(tmp_path: Path) -> None:
    own = {"instructions": ["mine.md"], "model": "p/m", "note": "é"}
    of = launch(tmp_path, environ={VARIABLE: json.dumps(own)})
    made = apply(of, ADAPTER.command(of), carry(tmp_path))
    assert json.loads(made.environ[VARIABLE]) == {**own, "instructions": ["mine.md", str(tmp_path / "render.md")]}


@pytest.mark.parametrize("written", ["{", "[]", '{"instructions": "x"}'])
def test_a_configuration_that_cannot_be_added_to_is_refused(tmp_path: Path, written: str) -> None:
    of = launch(tmp_path, environ={VARIABLE: written})
    with pytest.raises(ValueError, match=VARIABLE):
        apply(of, ADAPTER.command(of), carry(tmp_path))


def line(kind: str, **part: object) -> dict[str, object]:
    return {"type": kind, "sessionID": "ses_1", "part": part}


STEP = {"input": 100, "output": 20, "reasoning": 1, "cache": {"read": 30, "write": 4}}


def test_a_completed_run_sums_its_steps(tmp_path: Path) -> None:
    lines = [line("step_finish", tokens=STEP), line("text", text="Bye."), line("step_finish", tokens=STEP, cost=0.5)]
    report = ADAPTER.report(ended(launch(tmp_path), lines))
    assert (report.outcome, report.session, report.message) == (Outcome.COMPLETED, "ses_1", "Bye.")
    assert report.usage == Usage(input=208, cached=60, output=42, cost_usd=0.5)


def test_a_refused_permission_is_no_completion_though_the_exit_code_is_0(tmp_path: Path) -> None:
    state = {"status": "error", "error": "The user rejected permission to use this specific tool call."}
    report = ADAPTER.report(ended(launch(tmp_path), [line("tool_use", state=state)]))
    assert report.outcome is Outcome.REFUSED
    went_on = [line("tool_use", state=state), line("text", text="I did it otherwise.")]
    assert ADAPTER.report(ended(launch(tmp_path), went_on)).outcome is Outcome.COMPLETED


def test_an_error_event(tmp_path: Path) -> None:
    error = {"type": "error", "sessionID": "ses_1", "error": {"name": "APIError", "data": {"statusCode": 401}}}
    report = ADAPTER.report(ended(launch(tmp_path), [error], code=1))
    assert (report.outcome, report.reason) == (Outcome.AUTH, "APIError")


def test_requests_are_told_apart_by_their_message() -> None:
    assert ADAPTER.request_id is not None
    assert ADAPTER.request_id(b'{"type":"step_start","part":{"messageID":"msg_1"}}') == "msg_1"
    assert ADAPTER.request_id(b'{"type":"text","part":{"messageID":"msg_1"}}') is None
