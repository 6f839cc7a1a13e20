"""Unattended runs of the real backends: the model that was asked for, the tokens that were used, the conversation."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters import registry
from orchestrator.recorder import Recorder, RunCommand, Script, Text, Tokens
from orchestrator.rehearsal import Rehearsal, rehearse, write_set_up
from orchestrator.sandbox import Sandbox, sandbox
from tests.conformance.memories import FILES

pytestmark = pytest.mark.conformance

Require = Callable[[str], Path]
PROVABLE = [adapter.name for adapter in registry().values() if adapter.redirect is not None]
# aider counts for itself and ignores what the model's API reports.
EXACT = [name for name in PROVABLE if name != "aider"]


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with sandbox(dict(os.environ), FILES) as made:
        yield made


@pytest.mark.parametrize("name", PROVABLE)
def test_an_unattended_run_completes_and_tells_its_last_words(
    name: str, box: Sandbox, require_backend: Require
) -> None:
    program = require_backend(name)
    with Recorder() as recorder:
        write_set_up(box, registry()[name], program, recorder.url)
        done = rehearse(box, recorder, name, branch="one", task="Look into the notes.", final="The very last words.")
    assert done.complaint == ""
    assert "The very last words." in str(done.agent["message"])
    if name != "aider":  # it has no tool: its second turn holds the file, and that is tested with the delivery
        assert b"a line that only this file has" in done.requests[1].body
        assert b"a line that only this file has" not in done.requests[0].body


@pytest.mark.parametrize("name", PROVABLE)
def test_the_model_that_is_asked_for_is_the_one_in_the_request(
    name: str, box: Sandbox, require_backend: Require
) -> None:
    program = require_backend(name)
    with Recorder() as recorder:
        redirect = write_set_up(box, registry()[name], program, recorder.url)
        done = rehearse(box, recorder, name, branch="one", task="Look into the notes.")
    assert redirect.model is not None
    request = done.requests[0]
    assert isinstance(request.parsed, dict)
    asked = str(request.parsed.get("model") or request.path)
    # aider and opencode put the provider's name before it.
    assert redirect.model.rpartition("/")[2].partition("[")[0] in asked


@pytest.mark.parametrize("name", EXACT)
def test_the_tokens_are_those_that_the_model_reported(name: str, box: Sandbox, require_backend: Require) -> None:
    program = require_backend(name)
    used = Tokens(input=1000, cached=300, output=70)
    with Recorder() as recorder:
        write_set_up(box, registry()[name], program, recorder.url)
        recorder.play(Script.of(RunCommand("cat NOTES.txt"), final=Text("Done.", used)))
        command = ["spawn", "--backend", name, "--branch", "one", "--wait", "--json", "--", "Look into the notes."]
        agent = box.orch_json(*command)["agent"]
        mains = len(recorder.main_requests)
    usage = agent["usage"]
    assert mains == 2
    # The first answer, with the tool call, reports the recorder's defaults: 100 in, 20 out.
    # Crush's database has no column for cached tokens: they are in its input.
    assert (usage["output"], usage["cached"]) == (90, 0 if name == "crush" else 300)
    assert usage["input"] in (1100, 1400), "with or without the cached ones, as the adapter says"


@pytest.mark.parametrize("name", [name for name in PROVABLE if registry()[name].resumes])
def test_the_conversations_own_id_is_read(name: str, box: Sandbox, require_backend: Require) -> None:
    program = require_backend(name)
    with Recorder() as recorder:
        write_set_up(box, registry()[name], program, recorder.url)
        done: Rehearsal = rehearse(box, recorder, name, branch="one", task="Look into the notes.")
    assert done.agent["session"]
