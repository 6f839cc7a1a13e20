import threading
from pathlib import Path

import pytest

from orchestrator import git as git_module
from orchestrator.git import Git
from orchestrator.process import ProcessFault
from tests.conftest import git


def _half_made(repo: Path) -> Path:
    """A registration as another `git worktree add` has it for a moment."""
    git(repo, "worktree", "add", "--quiet", str(repo.parent / "wt"))
    commondir = repo / ".git" / "worktrees" / "wt" / "commondir"
    commondir.write_text("")
    return commondir


def test_a_registration_that_is_just_being_written_is_waited_for(repo: Path) -> None:
    commondir = _half_made(repo)
    timer = threading.Timer(0.3, commondir.write_text, args=("../..\n",))
    timer.start()
    assert Git(cwd=repo).worktrees().count(b"worktree /") == 2
    timer.join()


def test_one_that_is_never_finished_is_a_fault(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _half_made(repo)
    monkeypatch.setattr(git_module, "_REGISTRATION_SECONDS", 0.1)
    with pytest.raises(ProcessFault, match="commondir"):
        Git(cwd=repo).worktrees()
