"""Fixtures of the spawn: a backend that runs its task as a shell script, and the agents that it leaves behind."""

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.conftest import Orch


def until(condition: Callable[[], Any], *, seconds: float = 20, what: str = "") -> Any:
    """Wait until the condition holds and return its value; the test fails after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    pytest.fail(f"not within {seconds:g} s: {what or condition}")


class Shell:
    """Spawns agents whose task is a shell script, in the repository of the test."""

    def __init__(self, orch: Orch) -> None:
        self.orch = orch

    def spawn(self, script: str, *options: str, **more: Any) -> dict[str, Any]:
        """Spawn one and return its record; the exit code must be 0."""
        return self._agent(self.orch.ok("spawn", "-b", "sh", "--json", *options, "--", script, **more).stdout)

    def show(self, agent_id: str) -> dict[str, Any]:
        """The record of an agent as it is now."""
        return self._agent(self.orch.ok("show", "--json", agent_id).stdout)

    def ended(self, agent_id: str, *, seconds: float = 30) -> dict[str, Any]:
        """Wait for the agent's end and return its record."""
        self.orch("wait", "--timeout", str(seconds), agent_id, timeout=seconds + 30)
        found = self.show(agent_id)
        assert found["status"] == "ended", found
        return found

    def output(self, agent_id: str) -> bytes:
        """What its backend printed."""
        return self.orch.ok("logs", "--raw", agent_id).raw

    def _agent(self, text: str) -> dict[str, Any]:
        agent = json.loads(text)["agent"]
        assert isinstance(agent, dict)
        return agent


@pytest.fixture
def sh_backend(home: Path) -> None:
    """A backend `sh` in the user's configuration: `/bin/sh -c TASK`."""
    folder = home / ".config" / "orch"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yml").write_text("backends: {sh: {command: [/bin/sh, -c]}}\n")


@pytest.fixture
def shell(sh_backend: None, orch: Orch, home: Path) -> Iterator[Shell]:
    """Spawner of shell scripts; what they left running is killed afterwards."""
    yield Shell(orch)
    _kill_all(home)


def _kill_all(home: Path) -> None:
    """Kill what carries this test's home in its environment, except ourselves: nothing else can be meant."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            environ = process.environ()
            if process.pid != os.getpid() and environ.get("HOME") == str(home) and "ORCH_AGENT" in environ:
                process.send_signal(signal.SIGKILL)
