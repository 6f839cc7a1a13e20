"""With the memory off or empty a backend meets what it would meet if orch had no memory feature at all."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from adapters import registry
from tests.conformance.scripted import commit_memory, surroundings
from tests.conftest import Orch, git
from tests.projection.spawned import commit_file

pytestmark = [pytest.mark.slow]

# Stands in for the backend: writes down everything that it was given.
RECORDER = """#!{python} -I
import json, os, subprocess, sys
from pathlib import Path
if sys.argv[1:] == ["--version"]:
    print("1.0.0")
    raise SystemExit
def git(*args):
    return subprocess.run(["git", *args], capture_output=True).stdout.decode("utf-8", "surrogateescape")
top = Path.cwd()
common = Path(os.environ["ORCH_PROJECT"])
state = common / "orch" / "agents" / os.environ["ORCH_AGENT"]
found = {{
    "argv": sys.argv,
    "stdin": sys.stdin.buffer.read().decode(),
    "environ": {{k: v for k, v in os.environ.items() if k not in ("PWD", "OLDPWD", "_", "SHLVL")}},
    "worktree": {{str(p.relative_to(top)): [oct(p.lstat().st_mode), p.read_bytes().decode("latin-1")]
        for p in sorted(top.rglob("*")) if p.is_file()}},
    "config": git("config", "--list", "--show-origin"),
    "config bytes": (common / "config").read_bytes().decode(),
    "info": {{p.name: p.read_bytes().decode() for p in sorted((common / "info").iterdir())}},
    "attributes": git("check-attr", "--all", "AGENTS.md", "CRUSH.md", "GEMINI.md", "README.md"),
    "status": git("status", "--porcelain", "--ignored"),
    "index": git("ls-files", "--stage"),
    "state": sorted(p.name for p in state.iterdir()),
    "git": sorted(p.name for p in (common / "orch").iterdir() if not p.name.startswith("records.db")),
}}
Path(os.environ["RECORD"]).write_text(json.dumps(found, indent=1, sort_keys=True))
"""

# The same program, with the whole projection and everything that reads a memory put out of action.
WITHOUT_THE_FEATURE = """
import sys
from orchestrator import injection, seams, spawning
from projection.seam import SeamPlan

def trap(module):
    for name, value in list(vars(module).items()):
        if callable(value) and getattr(value, "__module__", "").startswith(("projection", "memory")):
            if not isinstance(value, type):
                def refuse(*_args, _name=name, **_options):
                    raise AssertionError(f"{_name} was called")
                setattr(module, name, refuse)

nothing = injection.Injection(text="", render=injection.Render(text=""))
spawning.load_carried = lambda *_args, **_options: nothing
spawning.choose_seam = lambda *_args: SeamPlan(kind="none", reason="")
spawning.write_block_hygiene = lambda *_args: None
spawning.place_block = lambda *_args: None
trap(seams)
trap(injection)
sys.argv[0] = "orch"
from orchestrator.__main__ import main
main()
"""

BACKENDS = [*registry(), "own-file", "own-flag", "own-env"]


class Stage:
    """A repository with a tracked context file, and a recorder in the place of every backend."""

    def __init__(self, repo: Path, home: Path) -> None:
        self.repo = repo
        self.record = home / "record.json"
        programs = home / "programs"
        programs.mkdir()
        for name in {adapter.executables[0] for adapter in registry().values()} | {"own"}:
            (programs / name).write_text(RECORDER.format(python=sys.executable))
            (programs / name).chmod(0o755)
        self.environ = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "RECORD": str(self.record)}
        seams: dict[str, object] = {
            "own-file": {"file": "AGENTS.md"},
            "own-flag": {"flag": "--memory"},
            "own-env": {"env": "OWN_MEMORY"},
        }
        path = home / ".config" / "orch" / "config.yml"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"backends": {name: {"command": ["own"], "seam": seams[name]} for name in seams}}))

    def spawn(self, backend: str, *options: str, without: bool = False) -> dict[str, object]:
        """What the backend was given, with what differs between any two agents made equal."""
        self.record.unlink(missing_ok=True)
        start = ["-I", "-c", WITHOUT_THE_FEATURE] if without else ["-I", "-m", "orchestrator"]
        argv = [
            sys.executable,
            *start,
            "spawn",
            "-b",
            backend,
            "--branch",
            "w",
            "--wait",
            "--json",
            *options,
            "The task.",
        ]
        done = subprocess.run(argv, cwd=self.repo, env={**os.environ, **self.environ}, capture_output=True, check=False)
        assert done.stdout, done.stderr.decode()  # a recorder's exit code means little to most adapters
        agent = json.loads(done.stdout)["agent"]
        # Four hexadecimal digits may well stand inside of a hash too.
        data = re.sub(rf"(?<![0-9a-f]){agent['id']}(?![0-9a-f])", "ID", self.record.read_text())
        data = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", data)
        Orch(self.repo).ok("rm", "--keep", agent["id"])
        found = json.loads(data)
        assert isinstance(found, dict)
        found["environ"].pop("ORCH_MEMORY_INJECT", None)  # the person's own, below
        return {"record": {key: agent[key] for key in ("seam", "render_digest", "render_bytes", "seam_file")}, **found}


@pytest.fixture
def stage(repo: Path, home: Path) -> Stage:
    commit_file(repo, "AGENTS.md", b"# Ours\r\nno final newline")
    return Stage(repo, home)


@pytest.mark.parametrize("backend", BACKENDS)
def test_off_empty_and_absent_are_the_same(stage: Stage, backend: str) -> None:
    repo = stage.repo
    no_memory = surroundings(repo)
    without = stage.spawn(backend, without=True)
    assert stage.spawn(backend) == without, "no memory file"
    assert surroundings(repo) == no_memory

    commit_memory(repo)
    carried = stage.spawn(backend)
    reference = stage.spawn(backend, without=True)
    assert stage.spawn(backend, "--no-memory") == reference
    stage.environ["ORCH_MEMORY_INJECT"] = "false"
    assert stage.spawn(backend) == reference
    del stage.environ["ORCH_MEMORY_INJECT"]
    # The guard of the guard: with the memory on, something does differ.
    assert carried != reference
    assert carried["record"] != reference["record"]

    (repo / ".orch" / "memory.md").write_text("# Project memory\n\nProse, but no entry.\n")
    git(repo, "commit", "--quiet", "--all", "--message", "Empty")
    assert stage.spawn(backend) == stage.spawn(backend, without=True)
