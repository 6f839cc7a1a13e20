"""Agents that really run, as processes under a supervisor, with a shell script for a mind."""

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.conftest import Orch


def live_agent(
    orch: Orch,
    facts: Sequence[str],
    *,
    commit: bool = False,
    options: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Spawn an agent that proposes facts (and commits a file where asked), wait for its end, return its record."""
    program = f"{shlex.quote(sys.executable)} -I -m orchestrator"
    lines = [f"{program} memory add {shlex.quote(fact)}" for fact in facts]
    if commit:
        lines += ["echo work >> work.txt", "git add work.txt", "git commit --quiet --message Work"]
    task = "\n".join(["set -e", *lines])
    settings = Path(os.environ["XDG_CONFIG_HOME"]) / "orch" / "config.yml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    # It is shown the memory by a file's path in the environment, as any agent of a person's own.
    settings.write_text(
        "backends:\n  scripted:\n    command: [sh, -s]\n    prompt: stdin\n    seam: {env: THE_MEMORY}\n"
    )
    result = orch.ok("spawn", "--backend", "scripted", "--wait", "--json", *options, "--", task, environ=environ)
    agent = json.loads(result.stdout)["agent"]
    assert agent["outcome"] == "completed", agent
    return {name: str(agent[name]) for name in ("id", "branch", "worktree")}
