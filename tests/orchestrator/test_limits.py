"""Limits of an agent: what 0 means."""

import json
from pathlib import Path

from tests.conftest import Orch


def test_a_limit_of_0_is_no_limit(orch: Orch, home: Path) -> None:
    config = home / ".config" / "orch" / "config.yml"
    config.parent.mkdir(parents=True)
    config.write_text(
        "backends: {plain: {command: [sh, -c, sleep 1], seam: none}}\nlimits: {minutes: 0, requests: 0}\n"
    )
    result = orch("spawn", "--backend", "plain", "--wait", "--json", "a task")
    assert json.loads(result.stdout)["agent"]["outcome"] == "completed", result
