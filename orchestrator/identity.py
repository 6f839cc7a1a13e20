"""Processes that can be told apart from later ones with the same pid, and the tree that belongs to an agent."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.channel import AGENT_VARIABLE as AGENT_VARIABLE

if TYPE_CHECKING:
    import psutil

PROJECT_VARIABLE = "ORCH_PROJECT"


def start_time(pid: int) -> float | None:
    """When the process `pid` started, in seconds; None when there is none, or only its zombie.

    Only good for telling two processes with the same pid apart: on Linux it counts from the boot, elsewhere from the
    epoch. (Linux keeps the former; the latter is computed with a boot time that moves when the clock is set.)
    """
    if sys.platform == "linux":
        return _linux_start_time(pid)
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


def _linux_start_time(pid: int) -> float | None:
    try:
        data = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The second field is the name in parentheses, which may itself hold spaces and parentheses.
    fields = data[data.rindex(b")") + 2 :].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19]) / os.sysconf("SC_CLK_TCK")


def is_alive(pid: int | None, started: float | None) -> bool:
    """Whether exactly that process still runs: the pid and the start time must both match."""
    if pid is None or started is None:
        return False
    found = start_time(pid)
    return found is not None and abs(found - started) < 0.001


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What the processes of an agent carry in their environment. `project` is the common directory: ids are short, and
    an agent of another project may have the same.
    """

    agent_id: str
    project: str

    def matches(self, environ: Mapping[str, str]) -> bool:
        """Whether a process with this environment belongs to the agent."""
        return environ.get(AGENT_VARIABLE) == self.agent_id and environ.get(PROJECT_VARIABLE) == self.project


def tree(roots: Iterable[int], mark: Mark, *, spare: frozenset[int] = frozenset()) -> list["psutil.Process"]:
    """Every process of an agent: the descendants of `roots`, and all that carry its mark.

    Tools start children in sessions of their own, which a signal to the process group misses. A descendant with the
    mark of another agent, and all below it, is that one's: an agent may itself have spawned it. `spare` are pids that
    are not to be counted (the supervisor itself).
    """
    import psutil

    known: dict[int, psutil.Process] = {}
    below: dict[int, list[int]] = {}
    environs: dict[int, dict[str, str]] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            below.setdefault(process.ppid(), []).append(process.pid)
            known[process.pid] = process
            environs[process.pid] = process.environ()
    pending = [*roots, *(pid for pid, environ in environs.items() if mark.matches(environ))]
    found: set[int] = set()
    while pending:
        pid = pending.pop()
        environ = environs.get(pid, {})
        if pid in found or pid not in known or (AGENT_VARIABLE in environ and not mark.matches(environ)):
            continue
        found.add(pid)
        pending += below.get(pid, [])
    return [known[pid] for pid in sorted(found - spare) if _running(known[pid])]


def _running(process: "psutil.Process") -> bool:
    import psutil

    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What became of a tree of processes: names of those that ended, and of those that could not be ended."""

    ended: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()


def _pause() -> None:
    time.sleep(0.05)


def end_tree(
    roots: Iterable[int],
    mark: Mark,
    *,
    spare: frozenset[int],
    grace: float = 8.0,
    meanwhile: Callable[[], object] = _pause,
) -> Ended:
    """End every process of an agent: SIGTERM, after `grace` seconds SIGKILL, and say what survived.

    Processes that are started while the others end are found again and ended too. `meanwhile` is called between the
    looks and takes a moment: whoever holds the terminal reads on there, for a program that prints while it ends
    would else wait for ever for room.
    """
    names: dict[int, str] = {}
    first = list(roots)
    deadline = time.monotonic() + grace
    killed_until = deadline + 4.0
    signalled: set[int] = set()
    # What a program starts in order to end gently (a `git stash`) is left alone for half of the time.
    late = deadline - grace / 2
    while True:
        alive = tree(first, mark, spare=spare)
        if not alive:
            break
        hard = time.monotonic() >= deadline
        first_look = not signalled
        for process in alive:
            names.setdefault(process.pid, _describe(process))
            if hard or (process.pid not in signalled and (first_look or time.monotonic() >= late)):
                _signal(process, signal.SIGKILL if hard else signal.SIGTERM)
                signalled.add(process.pid)
        if time.monotonic() >= killed_until:
            break
        meanwhile()
    left = {process.pid for process in tree(first, mark, spare=spare)}
    return Ended(
        ended=tuple(name for pid, name in names.items() if pid not in left),
        survivors=tuple(name for pid, name in names.items() if pid in left),
    )


def _signal(process: "psutil.Process", number: signal.Signals) -> None:
    import psutil

    # psutil checks the start time before it signals, so a reused pid is never hit.
    with contextlib.suppress(psutil.Error):
        process.send_signal(number)


def _describe(process: "psutil.Process") -> str:
    import psutil

    try:
        return f"{process.name()} (pid {process.pid})"
    except psutil.Error:
        return f"pid {process.pid}"
