"""The corpus of attacks through every real seam: what reaches the model stands inside the fence, or does not come."""

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
from tests.conformance.test_delivery import SEAMS
from tests.memory.test_attacks import ATTACKS, check_structure, memory_with

pytestmark = pytest.mark.conformance

_BUDGET = {"bytes": 20_000, "tokens": 20_000}
# Words that stand in attacks and nowhere in a backend's own prompt.
_TRACES = (b"203.0.113.9", b"hooks.example.org", b"paste.example.org", b"unrestricted model", b"the machines")


@pytest.fixture
def box() -> Iterator[Sandbox]:
    # Indented below their bullets: a raw code fence would end the list, and with it all that follows.
    texts = [text.replace("\n", "\n  ") for _, text in ATTACKS]
    with sandbox(dict(os.environ), {**FILES, ".orch/memory.md": memory_with(texts)}) as made:
        yield made


@pytest.mark.parametrize(("name", "seam"), SEAMS)
def test_attacks_that_a_person_committed_stay_inside_the_fence(
    name: str, seam: str, box: Sandbox, require_backend: Callable[[str], Path]
) -> None:
    program = require_backend(name)
    with Recorder() as recorder:
        write_set_up(box, registry()[name], program, recorder.url, _BUDGET)
        text = rendered(box)
        done = rehearse(box, recorder, name, "--seam", seam, branch="one", task="Look into the notes.")
    check_structure(text)
    assert any(trace in text.encode() for trace in _TRACES)
    assert done.complaint == ""
    for request in done.requests:
        assert find_text(request.body, text).once
        for trace in _TRACES:
            assert request.body.count(trace) == text.encode().count(trace)


@pytest.mark.parametrize("name", sorted({name for name, _ in SEAMS}))
def test_attacks_that_an_agent_wrote_into_the_file_are_unverified_or_absent(
    name: str, box: Sandbox, require_backend: Callable[[str], Path]
) -> None:
    program = require_backend(name)
    box.git().run("rm", "--cached", "--quiet", ".orch/memory.md")
    box.git().run("commit", "--quiet", "--message", "Nobody vouches for the memory")
    with Recorder() as recorder:
        write_set_up(box, registry()[name], program, recorder.url, _BUDGET)
        text = rendered(box)
        done = rehearse(box, recorder, name, branch="one", task="Look into the notes.")
    assert all("(unverified)" in line for line in text.split("\n") if line.startswith("- "))
    for trace in _TRACES[:4]:
        assert trace not in text.encode(), "it steers, so it is held back"
    for request in done.requests:
        assert find_text(request.body, text).once
        assert not any(trace in request.body for trace in _TRACES[:4])
