"""What a person has set up for a backend reaches the model beside the memory, through the launch seam."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters import registry
from orchestrator.delivery import find_text
from orchestrator.recorder import Recorder
from orchestrator.rehearsal import rehearse, rendered, write_set_up
from orchestrator.sandbox import Sandbox, sandbox
from tests.conformance.memories import FILES

pytestmark = pytest.mark.conformance

OWN = "A sentence of the person's own, which orch has to leave where it is."


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with sandbox(dict(os.environ), {**FILES, "own.md": OWN.encode()}) as made:
        yield made


def _set_own(name: str, place: str, box: Sandbox) -> None:
    """Set the person's own text where the backend reads it."""
    path = box.home / ".config" / "orch" / "config.yml"
    config = json.loads(path.read_text(encoding="utf-8"))
    backend = config["backends"][name]
    if name == "claude":
        backend["args"] = ["--append-system-prompt", OWN]
    elif name == "codex":
        settings = box.home / ".codex" / "config.toml"
        own = f"developer_instructions = {json.dumps(OWN)}\n"
        settings.write_text(own + settings.read_text(encoding="utf-8"), encoding="utf-8")
    elif name == "opencode":
        content = json.loads(backend["env"]["OPENCODE_CONFIG_CONTENT"])
        content["instructions"] = [str(box.repo / "own.md")]
        backend["env"]["OPENCODE_CONFIG_CONTENT"] = json.dumps(content)
    elif place == "variable":
        backend["env"]["AIDER_READ"] = str(box.repo / "own.md")
    elif place == "untracked":
        (box.repo / ".env").write_text(f"AIDER_READ={box.repo / 'own.md'}\n", encoding="utf-8")
        (box.repo / ".git" / "info" / "exclude").write_text(".env\n", encoding="utf-8")
        config["worktrees"] = {"include": [".env"]}
    else:
        (box.home / ".aider.conf.yml").write_text(f"read: [{box.repo / 'own.md'}]\n", encoding="utf-8")
    box.write_config(config)


@pytest.mark.parametrize(
    ("name", "place"),
    [("claude", ""), ("codex", ""), ("opencode", ""), ("aider", ""), ("aider", "variable"), ("aider", "untracked")],
)
def test_the_persons_own_text_and_the_memory_both_arrive_once(
    name: str, place: str, box: Sandbox, require_backend: Callable[[str], Path]
) -> None:
    program = require_backend(name)
    with Recorder() as recorder:
        write_set_up(box, registry()[name], program, recorder.url)
        _set_own(name, place, box)
        text = rendered(box)
        done = rehearse(box, recorder, name, "--seam", "launch", branch="one", task="Look into the notes.")
    assert done.complaint == ""
    for request in done.requests:
        assert find_text(request.body, text).once
        assert find_text(request.body, OWN).once
