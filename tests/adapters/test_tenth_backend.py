"""A tenth backend is one module and one recording: shown on a copy of the sources, with no other edit."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import ROOT, git

MODULE = '''"""A backend for this test: a shell that runs its task."""

from adapters.adapter import Adapter, Command, FileSeam, Launch


def _command(launch: Launch) -> Command:
    return Command(argv=(launch.executable, "-s"), stdin=launch.task.encode())


ADAPTER = Adapter(
    name="tenth",
    title="The tenth",
    executables=("sh",),
    install="it comes with the system",
    tested=("1", "1"),
    proof="contract",
    command=_command,
    file_seam=FileSeam(name="TENTH.md"),
    default_seam="file",
    reads=("TENTH.md",),
    version_args=(),
    resumes=False,
)
'''
LAUNCH = {
    "launch": {"task": "true"},
    "command": {"argv": ["/usr/bin/program", "-s"], "environ": {}, "stdin": "true", "files": {}},
}
ENDING = {
    "name": "completed",
    "exit_code": 0,
    "outcome": "completed",
    "reason": "",
    "message": None,
    "output": "done\n",
}


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python whose `orchestrator` is a copy of this checkout with a tenth backend in it, also when run with -I."""
    copy = tmp_path / "copy"
    for name in ("orchestrator", "adapters", "projection", "memory", "tests", "scripts"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    (copy / "adapters" / "tenth.py").write_text(MODULE)
    recording = {"launches": [LAUNCH], "endings": [ENDING]}
    (copy / "tests" / "adapters" / "recordings" / "tenth.json").write_text(json.dumps(recording))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    site = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    # A path file is honoured by -I too; the copy stands before the packages of the venv that runs this test.
    (site / "copy.pth").write_text(f"{copy}\n{sysconfig.get_paths()['purelib']}\n")
    return tmp_path / "venv" / "bin" / "python"


def test_a_tenth_backend_is_one_module_and_one_recording(python: Path, repo: Path, tmp_path: Path) -> None:
    def orch(*args: str) -> str:
        done = subprocess.run(
            [python, "-I", "-m", "orchestrator", *args], cwd=repo, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    (repo / ".orch").mkdir()
    (repo / ".orch" / "memory.md").write_text("# Project memory\n\n- Fixtures live in testdata/.\n")
    (repo / ".orch" / "config.yml").write_text("backends:\n  tenth:\n    env: {TENTH: yes please}\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Remember")

    copied = tmp_path / "seen"
    task = f'cp TENTH.md "{copied}"; git status --porcelain >> "{copied}"; echo "$TENTH" >> "{copied}"'
    agent = json.loads(orch("spawn", "--backend", "tenth", "--wait", "--json", task))["agent"]
    assert agent["outcome"] == "completed"
    text = orch("memory")
    assert copied.read_text() == f"<!-- orch:memory begin -->\n{text}\n<!-- orch:memory end -->\nyes please\n"

    pages = tmp_path / "pages"
    pages.mkdir()
    subprocess.run(
        [python, tmp_path / "copy" / "scripts" / "generate-docs", "--into", pages], check=True, env=dict(os.environ)
    )
    assert "| tenth | The tenth: `sh` |" in (pages / "backends.md").read_text()
    tests = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/adapters/test_recordings.py", "-k", "tenth"],
        cwd=tmp_path / "copy",
        capture_output=True,
        text=True,
        check=False,
    )
    assert tests.returncode == 0, tests.stdout
    assert "6 passed" in tests.stdout
