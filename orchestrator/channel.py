"""Which channel a command comes through: a person's terminal, or an agent."""

import os
from collections.abc import Mapping
from pathlib import Path

from orchestrator.errors import UsageProblem

AGENT_VARIABLE = "ORCH_AGENT"

_MOST_ANCESTORS = 40


def agent_behind(environ: Mapping[str, str]) -> str | None:
    """The id of the agent that runs this command, None for a person.

    The environment says so; and so does that of every process above this one, since an agent can unset a variable
    for the command that it runs, but not in its own parents.
    """
    named = environ.get(AGENT_VARIABLE)
    return named or _ancestor_agent()


def require_person(environ: Mapping[str, str], what: str) -> None:
    """Raise UsageProblem when an agent runs this command: only a person may do `what`."""
    agent = agent_behind(environ)
    if agent is not None:
        raise UsageProblem(f"agent {agent} cannot {what}: that is a person's decision", "orch memory add proposes")


def _ancestor_agent() -> str | None:
    if not Path("/proc/self/environ").exists():
        return _ancestor_by_psutil()
    pid = os.getppid()
    for _ in range(_MOST_ANCESTORS):
        if pid <= 1:
            return None
        found = _variable_of(pid)
        if found:
            return found
        pid = _parent_of(pid)
    return None


def _variable_of(pid: int) -> str | None:
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    wanted = f"{AGENT_VARIABLE}=".encode()
    for part in data.split(b"\0"):
        if part.startswith(wanted):
            return os.fsdecode(part[len(wanted) :]) or None
    return None


def _parent_of(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return 0
    # The name in parentheses may hold spaces and parentheses itself; the state and the parent's pid follow it.
    return int(stat.rpartition(b")")[2].split()[1])


def _ancestor_by_psutil() -> str | None:
    import psutil

    for process in psutil.Process().parents()[:_MOST_ANCESTORS]:
        try:
            found = process.environ().get(AGENT_VARIABLE)
        except (psutil.Error, OSError):
            continue
        if found:
            return str(found)
    return None
