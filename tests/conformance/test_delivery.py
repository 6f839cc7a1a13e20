"""The memory in the requests of the real backends, spawned by the real `orch`."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from adapters import registry
from orchestrator.delivery import find_text, same_place
from orchestrator.process import run
from orchestrator.recorder import Recorded, Recorder, Script
from orchestrator.rehearsal import rehearse, remove, rendered, write_set_up
from orchestrator.sandbox import Sandbox, sandbox
from orchestrator.sharing import Share, measure_share
from tests.conformance.memories import FILES, long_memory

pytestmark = pytest.mark.conformance

Require = Callable[[str], Path]
SEAMS = [
    (adapter.name, seam)
    for adapter in registry().values()
    if adapter.redirect is not None
    for seam, there in (("file", adapter.file_seam), ("launch", adapter.launch_seam))
    if there is not None
]


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with sandbox(dict(os.environ), FILES) as made:
        yield made


@pytest.mark.parametrize(("name", "seam"), SEAMS)
def test_the_first_and_the_second_turn_hold_the_memory_once_at_one_place(
    name: str, seam: str, box: Sandbox, require_backend: Require
) -> None:
    program = require_backend(name)
    with Recorder() as recorder:
        write_set_up(box, registry()[name], program, recorder.url)
        text = rendered(box)
        done = rehearse(box, recorder, name, "--seam", seam, branch="one", task="Look into the notes.")
    assert done.complaint == ""
    assert done.agent["seam"] == seam
    assert len(done.requests) >= 2
    first, *later = (find_text(request.body, text) for request in done.requests)
    assert first.once, first
    for sighting in later:
        assert same_place(first, sighting), sighting


@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "aider"])
def test_an_empty_memory_leaves_no_trace_in_the_request(name: str, box: Sandbox, require_backend: Require) -> None:
    program = require_backend(name)
    (box.repo / ".orch" / "memory.md").write_bytes(b"# Project memory\n")
    with Recorder() as recorder:
        write_set_up(box, registry()[name], program, recorder.url)
        empty = rehearse(box, recorder, name, branch="one", task="Look into the notes.")
        off = rehearse(box, recorder, name, "--no-memory", branch="two", task="Look into the notes.")
    assert box.orch("memory").stdout == b""
    assert (empty.agent["seam"], off.agent["seam"]) == ("none", "none")
    assert measure_share(empty.requests[0].api, _body(empty.requests[0]), _body(off.requests[0])).percent > 20
    for request in (*empty.requests, *off.requests):
        assert b"orch:memory" not in request.body
        assert b"orch/agents" not in request.body


def test_two_worktrees_of_claude_share_nine_tenths_of_the_request(
    box: Sandbox, require_backend: Require, tell: Callable[[str], None]
) -> None:
    program = require_backend("claude")
    (box.repo / ".orch" / "memory.md").write_bytes(long_memory(19_000))
    box.git().run("commit", "--all", "--quiet", "--message", "A long memory")
    budget = {"bytes": 20_000, "tokens": 8_000}
    with Recorder() as recorder:
        redirect = write_set_up(box, registry()["claude"], program, recorder.url, budget)
        text = rendered(box)
        runs = [
            rehearse(box, recorder, "claude", branch=branch, task=f"Say {branch} about the notes.")
            for branch in ("one", "two")
        ]
        share = measure_share("anthropic", *(_body(each.requests[0]) for each in runs))
        plain = _plain_share(box, recorder, program, redirect.environ, text, [each.worktree for each in runs])
    tell(
        f"claude, {len(text.encode()):,} bytes of memory, two worktrees, two tasks: {share.reusable:,} of "
        f"{share.total:,} bytes ({share.percent} %) up to the last identical cache breakpoint; "
        f"with the CLI's defaults {plain.reusable:,} of {plain.total:,} ({plain.percent} %)"
    )
    assert len(text.encode()) > 18_000
    place = find_text(runs[1].requests[0].body, text).place
    assert place is not None
    assert share.covers(place.path)
    assert share.percent >= 90
    assert plain.reusable == 0
    for each in runs:
        assert remove(box, each) == []


def _plain_share(
    box: Sandbox, recorder: Recorder, program: Path, environ: Mapping[str, str], text: str, worktrees: list[Path]
) -> Share:
    """The same text by the same flag, and nothing else of what orch sets."""
    memory = box.root / "plain.md"
    memory.write_text(text, encoding="utf-8")
    requests = []
    for number, worktree in enumerate(worktrees):
        recorder.play(Script())
        seen = len(recorder.main_requests)
        argv = [str(program), "-p", f"Say {number} about the notes.", "--append-system-prompt-file", str(memory)]
        run(argv, cwd=worktree, environ={**box.environ, **environ, "PWD": str(worktree)}, timeout=120)
        requests.append(recorder.main_requests[seen])
    return measure_share("anthropic", *(_body(each) for each in requests))


def _body(request: Recorded) -> dict[str, object]:
    assert isinstance(request.parsed, dict)
    return request.parsed
