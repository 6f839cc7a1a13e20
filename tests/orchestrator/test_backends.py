"""Backends of the user's own, and what is said about one that is unknown or not there."""

from pathlib import Path

import pytest

from adapters.adapter import Carry, Launch
from orchestrator.backends import backends, executable, require_backend, require_executable
from orchestrator.config import load_config
from orchestrator.config_schema import Config
from orchestrator.errors import BackendProblem, ConfigProblem


def _config(tmp_path: Path, text: str) -> Config:
    file = tmp_path / "project" / ".orch" / "config.yml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return load_config(file, {"HOME": str(tmp_path / "home")})


def _launch(task: str, model: str | None = None) -> Launch:
    return Launch(executable="/bin/agent", task=task, worktree=Path("/w"), state=Path("/s"), model=model)


CARRY = Carry(text="the memory", path=Path("/s/render"))


def test_prompt_as_argument_with_a_flag(tmp_path: Path) -> None:
    config = _config(tmp_path, "backends:\n  mine: {command: [agent, run], seam: {flag: --context}}\n")
    adapter = require_backend(config, "mine")
    made = adapter.command(_launch("-x 'y'\nz"))
    assert made.argv == ("/bin/agent", "run", "-x 'y'\nz")
    assert made.stdin is None
    assert adapter.file_seam is None
    assert adapter.launch_seam is not None
    carried = adapter.launch_seam.apply(_launch("t"), made, CARRY)
    assert carried.argv == ("/bin/agent", "run", "--context", "/s/render", "-x 'y'\nz")


def test_prompt_on_standard_input_with_a_variable(tmp_path: Path) -> None:
    text = "backends:\n  mine:\n    command: [agent]\n    prompt: stdin\n    seam: {env: NOTES}\n    env: {A: b}\n"
    adapter = require_backend(_config(tmp_path, text), "mine")
    made = adapter.command(_launch("täsk"))
    assert (made.argv, made.stdin) == (("/bin/agent",), "täsk".encode())
    assert adapter.launch_seam is not None
    carried = adapter.launch_seam.apply(_launch("t"), made, CARRY)
    assert dict(carried.environ) == {"A": "b", "NOTES": "/s/render"}


@pytest.mark.parametrize(
    ("seam", "name"), [("{file: AGENTS.md}", "AGENTS.md"), ("none", None), ("", None), ("{}", None)]
)
def test_a_file_or_no_seam(tmp_path: Path, seam: str, name: str | None) -> None:
    adapter = require_backend(_config(tmp_path, f"backends: {{mine: {{command: [a], seam: {seam}}}}}"), "mine")
    assert adapter.launch_seam is None
    assert (adapter.file_seam.name if adapter.file_seam else None) == name


@pytest.mark.parametrize(
    "entry",
    [
        "{command: []}",
        "{command: agent}",
        "{command: ['']}",
        "{command: [a], prompt: file}",
        "{command: [a], seam: {file: A.md, env: B}}",
        "{command: [a], seam: {file: ../A.md}}",
        "{command: [a], seam: {file: .git}}",
        "{command: [a], seam: {env: 'A B'}}",
        "{command: [a], seam: {env: ORCH_AGENT}}",
        "{command: [a], seam: {flag: ''}}",
        "{command: [a], seam: sometimes}",
        "{command: [a], seam: [x]}",
        "{command: [a], env: {'A-B': x}}",
        "{command: [a], modle: x}",
    ],
)
def test_a_bad_definition_is_refused(tmp_path: Path, entry: str) -> None:
    with pytest.raises(ConfigProblem, match=r"\.orch/config\.yml:1: .*backends\.mine"):
        _config(tmp_path, f"backends: {{mine: {entry}}}")


def test_a_bad_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigProblem) as caught:
        _config(tmp_path, "backends: {My Agent: {command: [a]}}")
    assert caught.value.hint == "for example: backends.my-agent"


def test_a_relative_program_starts_from_the_project(tmp_path: Path) -> None:
    config = _config(tmp_path, "backends: {mine: {command: [./agent.sh]}}")
    script = tmp_path / "project" / "agent.sh"
    with pytest.raises(BackendProblem, match=r"agent\.sh is no program that can be run") as caught:
        require_executable(require_backend(config, "mine"), config, {"PATH": "/bin"})
    assert "backends.mine.command" in caught.value.hint
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert executable(require_backend(config, "mine"), config, {}) == script


def test_an_unknown_backend_names_the_nearest(tmp_path: Path) -> None:
    config = _config(tmp_path, "backends: {zebra: {command: [a]}}")
    with pytest.raises(BackendProblem) as caught:
        require_backend(config, "zebr")
    assert caught.value.hint == "did you mean zebra?"
    with pytest.raises(BackendProblem) as caught:
        require_backend(config, "qqqq")
    assert all(name in caught.value.hint for name in backends(config))


def test_a_layer_can_add_to_a_backend_that_another_defines(tmp_path: Path) -> None:
    user = tmp_path / "home" / ".config" / "orch" / "config.yml"
    user.parent.mkdir(parents=True)
    user.write_text("backends: {mine: {env: {A: b}}}")
    config = _config(tmp_path, "backends: {mine: {command: [a]}}")
    assert dict(config.own_backends["mine"].env) == {"A": "b"}
    assert config.own_backends["mine"].command == ("a",)


def test_a_task_too_long_for_an_argument(tmp_path: Path) -> None:
    adapter = require_backend(_config(tmp_path, "backends: {mine: {command: [a]}}"), "mine")
    with pytest.raises(BackendProblem) as caught:
        adapter.command(_launch("x" * 200_000))
    assert "prompt: stdin" in caught.value.hint
    assert adapter.command(_launch("x" * 131_071)).argv[1] == "x" * 131_071
