"""Locks between processes: waited for, handed over at once, given up in the end."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import locks
from orchestrator.errors import OrchError
from orchestrator.locks import held

# Holds the lock until its standard input ends, and says when it has it.
HOLDER = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, 2); print('held', flush=True); sys.stdin.read()"


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "state" / "a.lock"


@pytest.fixture
def holder(lock: Path) -> Iterator[subprocess.Popen[bytes]]:
    lock.parent.mkdir()
    child = subprocess.Popen([sys.executable, "-c", HOLDER, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        yield child
        child.kill()


def _open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_a_free_lock_is_taken_and_freed(lock: Path) -> None:
    for _ in range(2):
        with held(lock):
            pass


def test_a_lock_is_handed_over_as_soon_as_its_holder_ends(
    lock: Path, holder: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "_QUIET_SECONDS", 0.2)
    said: list[str] = []

    def tell(text: str) -> None:
        said.append(text)
        holder.kill()

    began = time.monotonic()
    with held(lock, tell):
        took = time.monotonic() - began
    assert said == ["waiting for another orch command that holds a.lock"]
    assert took < 5


def test_who_gives_up_says_so_and_leaves_the_lock_to_others(
    lock: Path, holder: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "_QUIET_SECONDS", 0.05)
    monkeypatch.setattr(locks, "_PATIENCE_SECONDS", 0.1)
    before = _open_files()
    with pytest.raises(OrchError, match="has held"), held(lock):
        pass
    holder.kill()
    holder.wait()
    monkeypatch.setattr(locks, "_PATIENCE_SECONDS", 20.0)
    with held(lock):
        pass
    end = time.monotonic() + 10
    while _open_files() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert _open_files() <= before
