"""Models that fail: every agent ends within its limit, with an outcome that has a name, and none retries for ever."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from adapters import registry
from orchestrator.recorder import Cut, Error, Recorder, Reply, Reset, Script
from orchestrator.rehearsal import write_set_up
from orchestrator.sandbox import Sandbox, sandbox
from tests.conformance.memories import FILES

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

NAMES = [adapter.name for adapter in registry().values() if adapter.redirect is not None]
FAULTS: dict[str, Reply | None] = {
    "401": Error(401),
    "429": Error(429, headers={"Retry-After": "1"}),
    "529": Error(529),
    "refused": None,
    "reset": Reset(),
    "cut": Cut(),
}
# What may be said of each; a backend that goes on retrying is ended by the limit, which is also a name.
NAMED = {
    "401": {"auth", "limit"},
    "429": {"rate-limited", "limit"},
    "529": {"overloaded", "limit"},
    "refused": {"unreachable", "limit"},
    "reset": {"unreachable", "cut", "limit"},
    "cut": {"cut", "unreachable", "limit", "failed"},
}
_LIMIT_SECONDS = 24
_MARGIN_SECONDS = 45


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with sandbox(dict(os.environ), FILES) as made:
        yield made


@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", NAMES)
def test_every_fault_of_the_model_ends_with_a_name(
    name: str, box: Sandbox, require_backend: Callable[[str], Path], tell: Callable[[str], None]
) -> None:
    program = require_backend(name)
    with ExitStack() as stack:
        agents = {}
        for fault, reply in FAULTS.items():
            url = _closed_url(stack) if reply is None else stack.enter_context(Recorder(Script(final=reply))).url
            agents[fault] = _spawn(box, name, program, url, fault)
        ended = box.orch_json("wait", *agents.values(), "--json", timeout=300)["agents"]
    outcomes = {fault: next(a for a in ended if a["id"] == agents[fault]) for fault in FAULTS}
    tell(f"{name}: " + ", ".join(f"{fault} {_told(agent)}" for fault, agent in outcomes.items()))
    wrong = {fault: _told(agent) for fault, agent in outcomes.items() if agent["outcome"] not in NAMED[fault]}
    assert not wrong
    for agent in outcomes.values():
        assert agent["reason"]
        assert _seconds(agent) < _LIMIT_SECONDS + _MARGIN_SECONDS, agent


def _spawn(box: Sandbox, name: str, program: Path, url: str, branch: str) -> str:
    home = box.root / "homes" / branch
    home.mkdir(parents=True)
    write_set_up(box, registry()[name], program, url, home=home)
    path = box.home / ".config" / "orch" / "config.yml"
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    value["limits"] = {"minutes": _LIMIT_SECONDS / 60}
    box.write_config(value)
    agent = box.orch_json("spawn", "--backend", name, "--branch", f"fault/{branch}", "--json", "--", "Do something.")
    return str(agent["agent"]["id"])


def _seconds(agent: dict[str, Any]) -> float:
    """How long the agent ran."""
    return (datetime.fromisoformat(agent["ended"]) - datetime.fromisoformat(agent["started"])).total_seconds()


def _told(agent: dict[str, Any]) -> str:
    return f"{agent['outcome']} ({agent['reason']})"


def _closed_url(stack: ExitStack) -> str:
    """An address of this machine where nothing listens: it is bound until the stack ends, so that nobody else does."""
    bound = stack.enter_context(socket.socket())
    bound.bind(("127.0.0.1", 0))
    return f"http://127.0.0.1:{bound.getsockname()[1]}"
