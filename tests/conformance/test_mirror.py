"""The mirror in Claude's own memory, with the real program: carried once, and taken out line by line."""

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


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with sandbox(dict(os.environ), FILES) as made:
        yield made


def _mirrored(box: Sandbox, on: bool) -> None:
    path = box.home / ".config" / "orch" / "config.yml"
    value = json.loads(path.read_text(encoding="utf-8"))
    value["memory"] = {**value.get("memory", {}), "mirror": on}
    box.write_config(value)


def test_a_host_that_carries_the_memory_is_given_nothing_twice(
    box: Sandbox, require_backend: Callable[[str], Path]
) -> None:
    program = require_backend("claude")
    with Recorder() as recorder:
        write_set_up(box, registry()["claude"], program, recorder.url)
        _mirrored(box, True)
        text = rendered(box)
        done = rehearse(box, recorder, "claude", branch="one", task="Look into the notes.")
        files = list(box.home.rglob("MEMORY.md"))
        assert [text in each.read_text(encoding="utf-8") for each in files] == [True]
        assert done.complaint == ""
        assert done.agent["seam"] == "none"
        assert "own memory carries it" in str(done.agent["seam_reason"])
        for request in done.requests:
            assert find_text(request.body, text).once
        own = files[0].read_bytes() + b"- A note of Claude's own.\n"
        files[0].write_bytes(own)
        entry = json.loads(box.orch("memory", "list", "--json").stdout)["entries"][0]
        box.orch("memory", "rm", entry["id"])
        mirrored = files[0].read_text(encoding="utf-8")
        assert entry["text"].split("\n")[0] not in mirrored
        assert "- A note of Claude's own.\n" in mirrored
        _mirrored(box, False)
        again = rehearse(box, recorder, "claude", branch="two", task="Look into the notes.")
        assert files[0].read_bytes() == b"- A note of Claude's own.\n"
        assert again.agent["seam"] == "launch"
        assert find_text(again.requests[0].body, rendered(box)).once
