"""Which channel a command comes through: a person's terminal, or an agent."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.errors import UsageProblem

if TYPE_CHECKING:
    from orchestrator.records import Records

AGENT_VARIABLE = "ORCH_AGENT"

_ID = re.compile(r"[0-9a-z]{1,32}\Z")


def agent_behind(environ: Mapping[str, str], records: "Records") -> str | None:
    """The id of the agent that runs this command, None for a person.

    The environment says so; and so does that of every process above this one, which an agent cannot change: it can set
    the variable for a command of its own, or unset it. So the outermost one counts, and one further in only where the
    records say that the outer one spawned it, or began its run.

    Raises UsageProblem where the variable holds what is no agent's id.
    """
    named = _named(environ)
    if not named:
        return None
    from orchestrator.lineage import leaders

    outer, *inner = reversed(named)
    for each in inner:
        if outer in leaders(records.agent(each)):
            outer = each
    return outer


def require_person(environ: Mapping[str, str], what: str, *, hint: str = "orch memory add proposes") -> None:
    """Raise UsageProblem when an agent runs this command: only a person may do `what`."""
    named = _named(environ)
    if named:
        raise UsageProblem(f"agent {named[-1]} cannot {what}: that is a person's decision", hint)


def _named(environ: Mapping[str, str]) -> list[str]:
    """The agents that this command and the processes above it say that they run for, outwards, each once."""
    found = [environ.get(AGENT_VARIABLE, ""), *_of_ancestors()]
    wrong = next((each for each in found if each and not _ID.match(each)), None)
    if wrong is not None:
        raise UsageProblem(f"{AGENT_VARIABLE} holds no agent's id: {wrong[:40]!r}", f"unset {AGENT_VARIABLE}")
    return list(dict.fromkeys(filter(None, found)))


def _of_ancestors() -> Iterator[str]:
    if not Path("/proc/self/environ").exists():
        yield from _by_psutil()
        return
    pid = os.getppid()
    while pid > 1:
        yield _variable_of(pid)
        pid = _parent_of(pid)


def _variable_of(pid: int) -> str:
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return ""
    wanted = f"{AGENT_VARIABLE}=".encode()
    for part in data.split(b"\0"):
        if part.startswith(wanted):
            return os.fsdecode(part[len(wanted) :])
    return ""


def _parent_of(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return 0
    # The name in parentheses may hold spaces and parentheses itself; the state and the parent's pid follow it.
    return int(stat.rpartition(b")")[2].split()[1])


def _by_psutil() -> Iterator[str]:
    import psutil

    for process in psutil.Process().parents():
        try:
            yield str(process.environ().get(AGENT_VARIABLE, ""))
        except (psutil.Error, OSError):
            continue
