"""Claude's arguments, its own appended texts, and what it says at its end."""

import json
import subprocess
from pathlib import Path

import pytest

from adapters.adapter import Outcome, Usage
from adapters.claude import ADAPTER
from tests.adapters.launches import TEXT, carry, ended, launch

assert ADAPTER.launch_seam is not None
apply = ADAPTER.launch_seam.apply


def test_the_task_goes_in_by_stdin(tmp_path: Path) -> None:
    made = ADAPTER.command(launch(tmp_path, session="s1", model="m"))
    assert made.stdin == b"-x do\nit"
    assert made.argv[1:] == (
        *("-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"),
        *("--session-id", "s1", "--model", "m"),
    )


def test_a_resumed_run_names_the_session(tmp_path: Path) -> None:
    argv = ADAPTER.command(launch(tmp_path, session="s1", resume=True)).argv
    assert argv[argv.index("--resume") + 1] == "s1"
    assert "--session-id" not in argv


def test_root_does_not_skip_permissions_unless_in_a_sandbox(tmp_path: Path) -> None:
    made = ADAPTER.command(launch(tmp_path, root=True))
    assert "--dangerously-skip-permissions" not in made.argv
    assert "acceptEdits" in made.argv
    assert made.notes
    boxed = ADAPTER.command(launch(tmp_path, root=True, environ={"IS_SANDBOX": "1"}))
    assert "--dangerously-skip-permissions" in boxed.argv
    assert not boxed.notes


def test_interactive_takes_the_task_after_the_options(tmp_path: Path) -> None:
    of = launch(tmp_path, interactive=True)
    made = apply(of, ADAPTER.command(of), carry(tmp_path))
    assert made.argv[-2:] == ("--", "-x do\nit")
    assert "-p" not in made.argv
    assert made.argv.index("--append-system-prompt-file") < made.argv.index("--")


def test_the_seam_adds_the_file_and_what_makes_the_prefix_shared(tmp_path: Path) -> None:
    of = launch(tmp_path)
    made = apply(of, ADAPTER.command(of), carry(tmp_path, subagents=False))
    assert made.argv[-3:] == (
        "--append-system-prompt-file",
        str(tmp_path / "render.md"),
        "--exclude-dynamic-system-prompt-sections",
    )
    assert made.environ["CLAUDE_CODE_ATTRIBUTION_HEADER"] == "0"
    assert not made.files


@pytest.mark.parametrize("given", [("--append-system-prompt", "Mine."), ("--append-system-prompt=Mine.",)])
def test_a_text_of_the_persons_own_comes_first(tmp_path: Path, given: tuple[str, ...]) -> None:
    of = launch(tmp_path, extra_args=(*given, "--verbose"))
    made = apply(of, ADAPTER.command(of), carry(tmp_path, subagents=False))
    path = Path(made.argv[made.argv.index("--append-system-prompt-file") + 1])
    assert made.files[path] == f"Mine.\n\n{TEXT}".encode()
    assert sum(word.startswith("--append-system-prompt") for word in made.argv) == 1


def test_a_file_of_the_persons_own_comes_first_or_is_named_when_it_is_missing(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("From a file.")
    of = launch(tmp_path, extra_args=("--append-system-prompt-file", str(tmp_path / "own")))
    made = apply(of, ADAPTER.command(of), carry(tmp_path, subagents=False))
    assert made.files[tmp_path / "state" / "system-append"] == f"From a file.\n\n{TEXT}".encode()
    (tmp_path / "own").unlink()
    with pytest.raises(ValueError, match="own"):
        apply(of, ADAPTER.command(of), carry(tmp_path))


def test_the_sub_agents_hook_prints_the_context(tmp_path: Path) -> None:
    of = launch(tmp_path, state=tmp_path / "a 'state'")
    made = apply(of, ADAPTER.command(of), carry(tmp_path))
    settings = json.loads(made.files[Path(made.argv[made.argv.index("--settings") + 1])])
    assert settings["disableAllHooks"] is False
    for path, data in made.files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    command = settings["hooks"]["SubagentStart"][0]["hooks"][0]["command"]
    printed = json.loads(subprocess.run(["sh", "-c", command], capture_output=True, check=True).stdout)
    assert printed["hookSpecificOutput"] == {"hookEventName": "SubagentStart", "additionalContext": TEXT}


OWN_SETTINGS = {"model": "m", "disableAllHooks": True, "hooks": {"Stop": [1], "SubagentStart": [2]}}


@pytest.mark.parametrize("form", ["file", "text", "one word"])
def test_settings_of_the_persons_own_get_our_hook_added(tmp_path: Path, form: str) -> None:
    (tmp_path / "tree").mkdir()
    written = json.dumps(OWN_SETTINGS)
    (tmp_path / "tree" / "mine.json").write_text(written)
    given = (
        ("--settings=mine.json",) if form == "one word" else ("--settings", {"file": "mine.json"}.get(form, written))
    )
    of = launch(tmp_path, extra_args=given)
    made = apply(of, ADAPTER.command(of), carry(tmp_path))
    assert [word for word in made.argv if word.startswith("--settings")] == ["--settings"]
    merged = json.loads(made.files[Path(made.argv[made.argv.index("--settings") + 1])])
    hooks = merged.pop("hooks")
    assert merged == {"model": "m", "disableAllHooks": True}
    assert hooks["Stop"] == [1]
    assert hooks["SubagentStart"][0] == 2
    assert len(hooks["SubagentStart"]) == 2


@pytest.mark.parametrize("written", ["{", "[]", '{"hooks": 1}', '{"hooks": {"SubagentStart": {}}}'])
def test_settings_that_nothing_can_be_added_to_are_refused(tmp_path: Path, written: str) -> None:
    (tmp_path / "mine.json").write_text(written)
    of = launch(tmp_path, extra_args=("--settings", str(tmp_path / "mine.json")))
    with pytest.raises(ValueError, match="--settings"):
        apply(of, ADAPTER.command(of), carry(tmp_path))


@pytest.mark.parametrize("given", [("--permission-mode", "plan"), ("--permission-mode=plan",)])
@pytest.mark.parametrize("root", [False, True])
def test_what_the_person_permits_is_what_is_permitted(tmp_path: Path, given: tuple[str, ...], root: bool) -> None:
    made = ADAPTER.command(launch(tmp_path, extra_args=given, root=root))
    assert "--dangerously-skip-permissions" not in made.argv
    assert "acceptEdits" not in made.argv
    assert not made.notes


RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "Bye.",
    "session_id": "s1",
    "total_cost_usd": 0.25,
    "permission_denials": [],
    "modelUsage": {
        "a": {"inputTokens": 10, "cacheCreationInputTokens": 5, "cacheReadInputTokens": 7, "outputTokens": 3},
        "b": {"inputTokens": 1, "outputTokens": 1},
    },
}


def test_a_completed_run(tmp_path: Path) -> None:
    report = ADAPTER.report(ended(launch(tmp_path), [{"type": "assistant"}, RESULT]))
    assert (report.outcome, report.session, report.message) == (Outcome.COMPLETED, "s1", "Bye.")
    assert report.usage == Usage(input=16, cached=7, output=4, cost_usd=0.25)


def test_refused_tools_are_named(tmp_path: Path) -> None:
    report = ADAPTER.report(ended(launch(tmp_path), [{**RESULT, "permission_denials": [{"tool_name": "Bash"}]}]))
    assert (report.outcome, report.reason) == (Outcome.COMPLETED, "not permitted: Bash")


def test_an_error_is_read_from_stdout_though_its_subtype_says_success(tmp_path: Path) -> None:
    line = {**RESULT, "is_error": True, "api_error_status": 529, "result": "API Error: Overloaded"}
    report = ADAPTER.report(ended(launch(tmp_path), [line], code=1))
    assert (report.outcome, report.reason) == (Outcome.OVERLOADED, "API Error: Overloaded")


def test_without_any_json_the_last_line_is_the_reason(tmp_path: Path) -> None:
    report = ADAPTER.report(ended(launch(tmp_path), "Invalid API key · Please run /login\n", code=1))
    assert report.outcome is Outcome.AUTH
    assert ADAPTER.report(ended(launch(tmp_path), "x", code=None, signal=9)).outcome is Outcome.CRASHED


def test_what_it_was_retrying_is_the_reason(tmp_path: Path) -> None:
    retry = {
        "type": "system",
        "subtype": "api_retry",
        "attempt": 3,
        "error_status": 401,
        "error": "authentication_failed",
    }
    line = json.dumps(retry)
    report = ADAPTER.report(ended(launch(tmp_path), line, code=143))
    assert (report.outcome, report.reason) == (Outcome.AUTH, "401 authentication_failed, tried 4 times")
    line = json.dumps({**retry, "error_status": None, "error": "unknown"})
    assert ADAPTER.report(ended(launch(tmp_path), line, code=143)).outcome is Outcome.UNREACHABLE


def test_a_command_that_it_does_not_know_is_no_completion(tmp_path: Path) -> None:
    line = {**RESULT, "num_turns": 0, "result": "Unknown command: /foo. Did you mean /loop?"}
    report = ADAPTER.report(ended(launch(tmp_path), [line]))
    assert (report.outcome, report.reason) == (Outcome.FAILED, "Unknown command: /foo. Did you mean /loop?")
    said = {**RESULT, "num_turns": 1, "result": "Unknown command: /foo is what it printed."}
    assert ADAPTER.report(ended(launch(tmp_path), [said])).outcome is Outcome.COMPLETED


def test_requests_are_told_apart_by_their_message(tmp_path: Path) -> None:
    assert ADAPTER.request_id is not None
    assert ADAPTER.request_id(b'{"type":"assistant","message":{"id":"msg_1"}}') == "msg_1"
    assert ADAPTER.request_id(b'{"type":"user","message":{"id":"msg_1"}}') is None
    assert ADAPTER.request_id(b"noise") is None
