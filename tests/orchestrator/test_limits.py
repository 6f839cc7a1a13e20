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


def test_too_many_requests_end_an_agent(orch: Orch, tmp_path: Path) -> None:
    """By what claude prints in its stream: each message of the model has an id, and comes in several lines."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\n"
        "[ \"$1\" = --version ] && { echo '2.1.197 (Claude Code)'; exit 0; }\n"
        "for n in 1 1 2 2 3 3 4 4 5 5 6 6; do\n"
        '  echo "{\\"type\\": \\"assistant\\", \\"message\\": {\\"id\\": \\"msg_$n\\"}}"\n'
        "  sleep 0.2\n"
        "done\n"
        "sleep 60\n"
    )
    program.chmod(0o755)
    environ = {"PATH": f"{program.parent}:/usr/bin:/bin", "ORCH_LIMITS_REQUESTS": "3"}
    result = orch("spawn", "--backend", "claude", "--wait", "--json", "a task", environ=environ)
    assert result.code == 17
    agent = json.loads(result.stdout)["agent"]
    assert (agent["outcome"], agent["reason"]) == ("limit", "limits.requests: more than 3 requests to the model")
    assert '"msg_4"' in orch("logs", agent["id"]).stdout
    assert '"msg_5"' not in orch("logs", agent["id"]).stdout
