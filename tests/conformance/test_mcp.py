"""Real backends call orch's MCP server at the loopback model's word, and hand the cited answer back to it."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters import registry
from orchestrator.recorder import Calls, Recorder, Rule, RunCommand, Script, Text, ToolCall
from orchestrator.rehearsal import write_set_up
from orchestrator.sandbox import sandbox
from tests.conformance.memories import FILES

pytestmark = pytest.mark.conformance

MEMORY = "# Project memory\n\n## How things run\n- The development server starts with `just dev`, on port 8042.\n"
# How each backend names the tool to its model, and how the list of tools in a request shows that it is there.
NAMES = {
    "claude": ("mcp__orch__project_memory", '"mcp__orch__project_memory"'),
    "codex": ("mcp__orch.project_memory", '"mcp__orch"'),
    "opencode": ("orch_project_memory", '"orch_project_memory"'),
}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_backend_asks_the_memory_and_gets_the_cited_answer(
    name: str, require_backend: Callable[[str], Path]
) -> None:
    program = require_backend(name)
    tool, listed = NAMES[name]
    call = Calls((ToolCall(tool, {"question": "How do I start the development server?"}),))
    # Codex does not wait for its servers before the first request, so the model has something else to do until then.
    script = Script(
        replies=(Calls((RunCommand("sleep 2"),)),) * 20,
        rules=(Rule("human]", Text("Done.")), Rule(listed, call)),
    )
    files = {**FILES, ".orch/memory.md": MEMORY.encode(), ".orch/config.yml": b"memory: {mcp: true}\n"}
    with sandbox(dict(os.environ), files) as box, Recorder(script) as recorder:
        write_set_up(box, registry()[name], program, recorder.url)
        command = ["spawn", "--backend", name, "--branch", "one", "--wait", "--json", "--", "Ask the memory."]
        agent = box.orch_json(*command)["agent"]
        last = recorder.main_requests[-1]
        worktree = box.git().run("status", "--porcelain").stdout
    assert agent["outcome"] == "completed"
    answered = json.dumps(last.parsed, ensure_ascii=False)
    assert "· human]\\n  The development server starts with `just dev`, on port 8042." in answered, answered[-3000:]
    assert worktree == b""


def test_without_the_setting_no_backend_hears_of_the_server(require_backend: Callable[[str], Path]) -> None:
    program = require_backend("claude")
    files = {**FILES, ".orch/memory.md": MEMORY.encode()}
    with sandbox(dict(os.environ), files) as box, Recorder() as recorder:
        write_set_up(box, registry()["claude"], program, recorder.url)
        agent = box.orch_json("spawn", "--backend", "claude", "--branch", "one", "--wait", "--json", "--", "Go.")[
            "agent"
        ]
        bodies = [each.body for each in recorder.main_requests]
    assert not any("mcp" in word for word in agent["argv"])
    assert not any(b"project_memory" in body for body in bodies)
