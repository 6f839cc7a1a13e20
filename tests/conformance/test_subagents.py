"""Claude's sub-agents do not get the appended system prompt: a hook brings the memory to them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters import registry
from orchestrator.delivery import find_text
from orchestrator.recorder import Recorded, Recorder, Script, ToolCall
from orchestrator.rehearsal import rendered, write_set_up
from orchestrator.sandbox import sandbox
from tests.conformance.memories import FILES

pytestmark = pytest.mark.conformance

PROMPT = "You are the sub-agent of this test."
AGENT = ToolCall("Agent", {"description": "Look", "prompt": PROMPT, "subagent_type": "general-purpose"})


@pytest.mark.parametrize("wanted", [True, False])
def test_a_sub_agent_meets_the_memory_once_if_it_is_wanted(
    wanted: bool, require_backend: Callable[[str], Path]
) -> None:
    program = require_backend("claude")
    with sandbox(dict(os.environ), FILES) as box, Recorder(Script.of(AGENT)) as recorder:
        write_set_up(box, registry()["claude"], program, recorder.url)
        if not wanted:
            (box.repo / ".orch" / "config.yml").write_text("memory: {subagents: false}\n", encoding="utf-8")
        text = rendered(box)
        command = ["spawn", "--backend", "claude", "--branch", "one", "--wait", "--json", "--", "Ask a sub-agent."]
        agent = box.orch_json(*command)["agent"]
        requests = recorder.main_requests
    assert agent["outcome"] == "completed"
    inner = [each for each in requests if _is_inner(each)]
    outer = [each for each in requests if each not in inner]
    assert inner
    assert outer
    assert all(find_text(each.body, text).once for each in outer)
    assert [find_text(each.body, text).times for each in inner] == [1 if wanted else 0] * len(inner)


def _is_inner(request: Recorded) -> bool:
    """A sub-agent's requests have its prompt in their first message; the main agent's have it in the tool call."""
    assert isinstance(request.parsed, dict)
    return PROMPT in str(request.parsed["messages"][0])
