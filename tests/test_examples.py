"""Each example does what it says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Orch, git

EXAMPLES = ROOT / "examples"


@pytest.fixture
def reporter(repo: Path) -> Path:
    """The repository with the backend of examples/own-backend, committed."""
    (repo / ".orch").mkdir()
    (repo / "tools").mkdir()
    shutil.copy(EXAMPLES / "own-backend" / "config.yml", repo / ".orch" / "config.yml")
    shutil.copy(EXAMPLES / "own-backend" / "agent.sh", repo / "tools" / "agent.sh")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Add a backend")
    return repo


def test_a_backend_of_your_own(orch: Orch, reporter: Path) -> None:
    orch.ok("spawn", "--backend", "reporter", "--branch", "report", "--wait", "Look at the tests")
    assert "Task: Look at the tests" in git(reporter, "show", "report:REPORT.md")
    assert git(reporter, "log", "--format=%s", "main..report") == "Report on: Look at the tests"


def test_a_backend_of_your_own_reads_the_memory(orch: Orch, reporter: Path) -> None:
    (reporter / ".orch" / "memory.md").write_text("# Project memory\n\n- Tests need no network.\n")
    git(reporter, "add", "--all")
    git(reporter, "commit", "--quiet", "--message", "Remember")
    orch.ok("spawn", "--backend", "reporter", "--branch", "report", "--wait", "Look")
    lines = len(orch.ok("memory").stdout.splitlines())
    assert lines > 1
    assert f"Read before the work: {lines} lines" in git(reporter, "show", "report:REPORT.md")


def test_many_agents(orch: Orch, reporter: Path) -> None:
    programs = Path(sys.executable).parent
    done = subprocess.run(
        [EXAMPLES / "many-agents" / "review.sh", "reporter", "README.md", "tools/agent.sh"],
        cwd=reporter,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "+Task: Review README.md" in done.stdout
    assert "+Task: Review tools/agent.sh" in done.stdout


def test_every_example_is_run_here() -> None:
    assert {path.name for path in EXAMPLES.iterdir()} == {"own-backend", "many-agents"}
