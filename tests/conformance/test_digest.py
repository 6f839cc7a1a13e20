"""The digest of a run of the real backends, each field checked against git and against what the model was asked."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapters import registry
from orchestrator.recorder import Recorder, RunCommand, Script, Text, Tokens
from orchestrator.rehearsal import write_set_up
from orchestrator.sandbox import Sandbox, sandbox
from tests.conformance.memories import FILES

pytestmark = pytest.mark.conformance

_COMMAND = "echo one > one && git add one && git commit -qm 'Add one' && echo more >> NOTES.txt && echo left > left.txt"
# What aider (it has no shell tool) makes of the model's words: a whole new file, which it commits itself.
_EDIT = "Here it is.\n\none.txt\n```\none\n```\n"


def _digest(box: Sandbox, agent_id: str) -> dict[str, Any]:
    """The digest, which the supervisor writes a moment after the end."""
    shown = box.orch_json("show", "--json", agent_id)
    assert isinstance(shown["digest"], dict)
    return shown["digest"]


@pytest.mark.parametrize("name", ["claude", "codex", "aider"])
def test_every_field_of_a_real_run(name: str, require_backend: Callable[[str], Path]) -> None:
    program = require_backend(name)
    used = Tokens(input=1000, cached=300, output=70)
    with sandbox(dict(os.environ), FILES) as box, Recorder() as recorder:
        write_set_up(box, registry()[name], program, recorder.url)
        if name == "aider":
            recorder.play(Script.of(final=Text(_EDIT, used)))
        else:
            recorder.play(Script.of(RunCommand(_COMMAND), final=Text("The very last words.", used)))
        begun = time.monotonic()
        agent = box.orch_json(
            "spawn", "--backend", name, "--branch", "one", "--wait", "--json", "--", "Work on NOTES.txt."
        )["agent"]
        spent = time.monotonic() - begun
        digest = _digest(box, agent["id"])
        worktree = box.git(Path(agent["worktree"]))
        assert (digest["outcome"], digest["reason"]) == ("completed", "")
        assert 0 < digest["seconds"] <= spent
        assert digest["head"] == worktree.text("rev-parse", "HEAD")
        commits = worktree.text("log", "--reverse", "--format=%H %s", f"{agent['base']}..HEAD").splitlines()
        assert [f"{commit} {subject}" for commit, subject in digest["commits"]] == commits
        status = worktree.text("status", "--porcelain", "--untracked-files=all").splitlines()
        assert [f"{state} {path}" for state, path in digest["uncommitted"]] == status
        worktree.run("add", "--all")
        files = worktree.text("diff", "--cached", "--no-renames", "--numstat", agent["base"]).splitlines()
        assert [f"{added}\t{deleted}\t{path}" for _, path, added, deleted in digest["files"]] == files
        assert digest["usage"] == agent["usage"]
        assert digest["checks"] is None
        if name == "aider":
            assert "Here it is." in digest["message"]
            assert digest["usage"]["output"] > 0
            return
        assert digest["message"] == "The very last words."
        assert (digest["commit_count"], len(status)) == (1, 2)
        # The first answer, with the tool call, reports the recorder's own 20 tokens.
        assert (digest["usage"]["output"], digest["usage"]["cached"]) == (90, 300)
