"""Temporary folders: below the project's state, gone after use, found and cleaned after a kill."""

import json
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

from orchestrator.scratch import abandoned, remove_abandoned, scratch_folder
from tests.conftest import Orch
from tests.orchestrator.conftest import Shell


def _findings(orch: Orch, *options: str) -> list[tuple[str, str]]:
    found = json.loads(orch.ok("doctor", "--json", *options).stdout)["findings"]
    return [(each["state"], each["text"]) for each in found if each["area"] == "state"]


@pytest.mark.parametrize(
    ("command", "step"), [(["diff"], "add"), (["rm", "--keep"], "update-index"), (["rm", "--keep"], "hash-object")]
)
def test_what_a_killed_command_leaves_is_found_and_cleaned(
    shell: Shell, orch: Orch, repo: Path, tmp_path: Path, command: list[str], step: str
) -> None:
    agent = shell.spawn("echo new > new; echo other > b; git add b")
    shell.ended(agent["id"])
    programs, temporary = tmp_path / "programs", tmp_path / "temporary"
    programs.mkdir()
    temporary.mkdir()
    killing = f'#!/bin/sh\n[ "$1" = {step} ] && kill -9 $PPID\nexec {shutil.which("git")} "$@"\n'
    (programs / "git").write_text(killing)
    (programs / "git").chmod(0o755)
    environ = {"PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": str(temporary)}
    assert orch(*command, agent["id"], environ=environ).code == -signal.SIGKILL
    assert list(temporary.iterdir()) == []
    (left,) = (repo / ".git" / "orch" / "scratch").iterdir()
    assert _findings(orch) == [("warning", f"{left} was left by a command that was killed")]
    assert _findings(orch, "--fix") == [("repaired", f"{left} was left by a command that was killed: removed")]
    assert not left.exists()
    assert orch.ok(*command, agent["id"]).code == 0
    assert not left.parent.exists()


def test_what_is_in_use_is_no_leftover(tmp_path: Path) -> None:
    parent = tmp_path / "orch" / "scratch"
    parent.parent.mkdir()
    with scratch_folder(parent, "index") as folder:
        assert folder.parent == parent
        assert list(abandoned(parent)) == []
        assert "stays" in remove_abandoned(folder)
        assert folder.is_dir()
    assert not parent.exists()


def test_nothing_is_made_in_a_project_that_has_no_state(tmp_path: Path) -> None:
    with scratch_folder(tmp_path / "orch" / "scratch", "index") as folder:
        assert folder.parent == Path(tempfile.gettempdir())
    assert list(tmp_path.iterdir()) == []
    assert not folder.exists()
