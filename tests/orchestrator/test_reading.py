"""Commands that only read, where nothing of ours can be written."""

import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adapters.adapter import Outcome
from orchestrator.liveness import observed
from orchestrator.records import Records
from tests.conftest import Orch
from tests.orchestrator.conftest import Shell

# The superuser is above all modes unless this capability is given up.
_AS_ANYBODY = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
Run = Callable[..., subprocess.CompletedProcess[str]]


def _modes(state: Path, *, writable: bool) -> None:
    for path in (state, *state.rglob("*")):
        mode = path.stat().st_mode
        path.chmod(mode | 0o200 if writable else mode & ~0o222)


@pytest.fixture
def reading(repo: Path) -> Iterator[Run]:
    """Runs orch as somebody who may not write into the project's state."""
    state = repo / ".git" / "orch"

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        _modes(state, writable=False)
        command = [*_AS_ANYBODY, sys.executable, "-I", "-m", "orchestrator", *args]
        return subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False, timeout=60)

    yield run
    _modes(state, writable=True)


@pytest.fixture
def agent_id(shell: Shell, orch: Orch) -> str:
    orch.ok("memory", "add", "Tests need docker.")
    spawned = shell.spawn("echo done")
    shell.ended(spawned["id"])
    return str(spawned["id"])


def test_what_only_reads_needs_no_right_to_write(agent_id: str, reading: Run, orch: Orch) -> None:
    entry = json.loads(orch.ok("memory", "list", "--json").stdout)["entries"][0]["id"]
    commands = [
        ["ls"],
        ["ls", "--all", "--json"],
        ["show", agent_id],
        ["logs", agent_id],
        ["diff", agent_id],
        ["wait", agent_id],
        ["memory"],
        ["memory", "list"],
        ["memory", "show", entry],
        ["memory", "history"],
        ["memory", "lint"],
        ["doctor"],
    ]
    plain = [orch(*words) for words in commands]
    for words, usual in zip(commands, plain, strict=True):
        done = reading(*words)
        assert (done.returncode, done.stdout) == (usual.code, usual.stdout), (words, done.stderr)
        assert done.stderr == usual.stderr, words


def test_what_writes_says_why_it_cannot(agent_id: str, reading: Run) -> None:
    for words in (["memory", "add", "Something else."], ["stop", agent_id], ["rm", agent_id]):
        done = reading(*words)
        assert done.returncode == 4, (words, done.stderr)
        assert "check the owner and mode" in done.stderr, words


@pytest.mark.parametrize("fresh", [False, True], ids=["used before", "fresh"])
def test_on_a_read_only_file_system_the_hint_says_so(orch: Orch, repo: Path, sh_backend: None, fresh: bool) -> None:
    if not fresh:
        orch.ok("memory", "add", "Tests need docker.")
    mounted = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"'
    inside = ["unshare", "--map-root-user", "--mount", "sh", "-c", mounted, str(repo)]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    for words in (["memory", "add", "More."], ["spawn", "-b", "sh", "--", "true"]):
        command = [*inside, sys.executable, "-I", "-m", "orchestrator", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode != 0
        assert "mounted read-only" in done.stderr.splitlines()[-1], (words, done.stderr)


@pytest.mark.parametrize(
    ("code", "place", "says"), [(errno.EROFS, None, True), (errno.EACCES, None, False), (None, "/proc", False)]
)
def test_only_a_read_only_mount_is_called_one(code: int | None, place: str | None, says: bool) -> None:
    from projection.faults import write_hint

    cause = sqlite3.OperationalError("no") if code is None else OSError(code, "no")
    found = write_hint(cause, "check the mode", place=Path(place) if place else None)
    assert ("mounted read-only" in found) is says


def test_a_proposal_that_cannot_be_settled_is_told_in_one_line(
    agent_id: str, repo: Path, orch: Orch, reading: Run
) -> None:
    from orchestrator.proposals import Proposals

    Proposals(records=Records(path=repo / ".git/orch/records.db")).add("A claim.", section="", agent="gone")
    listed = reading("memory", "list")
    assert listed.returncode == 0
    assert "A claim." in listed.stdout
    assert len(listed.stderr.splitlines()) == 1
    assert "could not be settled" in listed.stderr


def test_a_project_without_state_reads_as_empty(repo: Path) -> None:
    mode = (repo / ".git").stat().st_mode
    for folder in (repo / ".git", repo):
        folder.chmod(mode & ~0o222)
    try:
        for words in (["ls"], ["memory"], ["memory", "list"]):
            command = [*_AS_ANYBODY, sys.executable, "-I", "-m", "orchestrator", *words]
            done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False, timeout=60)
            assert (done.returncode, done.stdout) == (0, ""), (words, done.stderr)
    finally:
        for folder in (repo, repo / ".git"):
            folder.chmod(mode)


_EVENTS = """
import sys
from pathlib import Path
from orchestrator.records import Records
print([event.kind for event in Records(path=Path(sys.argv[1])).events()])
"""


@pytest.mark.parametrize("shared_memory", [True, False])
def test_what_a_killed_writer_left_in_the_log_is_read(tmp_path: Path, shared_memory: bool) -> None:
    state = tmp_path / "state"
    records = Records(path=state / "records.db")
    records.add_event("first")
    with closing(sqlite3.connect(records.path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO events (at, agent, kind, detail) VALUES ('', NULL, 'second', '{}')")
        shutil.copytree(state, tmp_path / "left")
    left = tmp_path / "left" / "records.db"
    assert (tmp_path / "left" / "records.db-wal").stat().st_size
    if not shared_memory:
        (tmp_path / "left" / "records.db-shm").unlink()
    _modes(left.parent, writable=False)
    command = [*_AS_ANYBODY, sys.executable, "-c", _EVENTS, str(left)]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=60)
    _modes(left.parent, writable=True)
    assert done.stdout == "['first', 'second']\n", done.stderr


def test_a_lost_agent_is_seen_as_lost_by_a_reader(agent_id: str, repo: Path, reading: Run) -> None:
    from orchestrator.agent import Status

    records = Records(path=repo / ".git/orch/records.db")
    running = records.change_agent(
        agent_id, lambda a: a.changed(status=Status.RUNNING, outcome=None, supervisor_pid=2**22 + 1)
    )
    listed = json.loads(reading("ls", "--all", "--json").stdout)["agents"]
    assert [each["outcome"] for each in listed] == ["lost"]
    _modes(records.path.parent, writable=True)
    assert observed(records, running).outcome is Outcome.LOST
