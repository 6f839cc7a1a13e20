"""What a person has chosen for a backend's permissions holds with the real program, and a task is never a command."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters import registry
from orchestrator.recorder import Recorder, RunCommand, Script
from orchestrator.rehearsal import write_set_up
from orchestrator.sandbox import Sandbox, sandbox
from tests.conformance.memories import FILES

pytestmark = pytest.mark.conformance

Require = Callable[[str], Path]


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with sandbox(dict(os.environ), FILES) as made:
        yield made


def _run(box: Sandbox, name: str, program: Path, args: list[str], task: str, script: Script) -> tuple[Any, list[bytes]]:
    """One run with these configured arguments: the agent as recorded, and the bodies of its requests."""
    with Recorder(script) as recorder:
        write_set_up(box, registry()[name], program, recorder.url)
        path = box.home / ".config" / "orch" / "config.yml"
        value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        value["backends"][name]["args"] = args
        box.write_config(value)
        command = ["spawn", "--backend", name, "--branch", "one", "--wait", "--json", "--", task]
        done = box.orch(*command, timeout=120)
        return json.loads(done.stdout)["agent"], [request.body for request in recorder.main_requests]


@pytest.mark.parametrize("chosen", [True, False])
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("claude", ["--permission-mode", "plan"]),
        ("codex", ["-s", "read-only"]),
        ("gemini", ["--approval-mode", "plan"]),
    ],
)
def test_a_choice_in_the_configured_arguments_is_kept(
    name: str, args: list[str], chosen: bool, box: Sandbox, require_backend: Require
) -> None:
    program = require_backend(name)
    script = Script.of(RunCommand("touch made"))
    agent, bodies = _run(box, name, program, args if chosen else [], "Look into the notes.", script)
    assert bodies
    assert (Path(agent["worktree"]) / "made").exists() is not chosen


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("aider", "!touch made"),
        ("aider", "/etc/hosts is wrong: say why"),
        ("aider", "-x"),
        ("claude", "/etc/hosts is wrong: say why"),
        ("codex", "-x"),
        ("opencode", "!touch made"),
        ("gemini", "-x"),
    ],
)
def test_a_task_is_the_prompt_whatever_it_starts_with(
    name: str, task: str, box: Sandbox, require_backend: Require
) -> None:
    agent, bodies = _run(box, name, require_backend(name), [], task, Script())
    assert agent["outcome"] == "completed"
    assert task.encode() in bodies[0]
    assert not (Path(agent["worktree"]) / "made").exists()
