"""Starting an agent's supervisor, and the proof that the backend behind it really runs."""

import os
import time
from pathlib import Path

from adapters.adapter import Command, Outcome
from orchestrator.agent import Agent, Status
from orchestrator.config_schema import Config
from orchestrator.errors import BackendProblem
from orchestrator.identity import end_tree, is_alive
from orchestrator.launchfile import LaunchFile
from orchestrator.process import launch_detached, python_command, signal_quietly
from orchestrator.project import Project
from orchestrator.records import Records

_CONFIRM_SECONDS = 60.0
# A backend that cannot work (no login, a bad flag) mostly says so within this time.
_SETTLE_SECONDS = 0.4
_STOP_SECONDS = 20.0
_RECORD_SECONDS = 10.0


def launch_supervisor(
    project: Project,
    config: Config,
    agent: Agent,
    command: Command,
    environ: dict[str, str],
    folder: Path,
    *,
    seam_made: bool,
) -> int:
    """Start the supervisor, detached, with the agent's own environment; return its pid."""
    LaunchFile(
        agent_id=agent.id,
        backend=agent.backend,
        common_dir=str(project.common_dir),
        argv=command.argv,
        cwd=agent.worktree,
        stdin=None if command.stdin is None else str(folder / "stdin"),
        # 0 is how a person writes "no limit".
        minutes=config.limits.minutes or None,
        requests=config.limits.requests or None,
        seam_file=agent.seam_file,
        seam_made=seam_made,
    ).write(folder)
    return launch_detached(
        python_command("supervise", str(project.common_dir), agent.id),
        cwd=folder,
        environ={**environ, **command.environ},
        log=folder / "supervisor.log",
    )


def confirm_running(records: Records, agent: Agent, folder: Path, supervisor: int) -> Agent:
    """Wait until the backend's process is known to run, or to have ended; return the agent as recorded then.

    Raises BackendProblem, with the last thing that was printed, when it did not come up.
    """
    deadline = time.monotonic() + _CONFIRM_SECONDS
    pause = 0.005
    while time.monotonic() < deadline:
        current = records.agent(agent.id)
        if current is None:
            raise BackendProblem(f"the record of agent {agent.id} has gone")
        if current.status is Status.RUNNING:
            return _settled(records, current)
        if current.status is Status.ENDED:
            return _checked(current, folder)
        if not _exists(supervisor):
            break
        time.sleep(pause)
        pause = min(0.1, pause * 1.5)
    raise BackendProblem(
        f"the supervisor of agent {agent.id} did not come up: {_last_line(folder / 'supervisor.log')}",
        "its worktree and branch are taken back; what it had started may still run: ps",
    )


def _settled(records: Records, agent: Agent) -> Agent:
    """One more look: what ends at once with an error is reported at once."""
    until = time.monotonic() + _SETTLE_SECONDS
    while is_alive(agent.pid, agent.pid_started):
        if time.monotonic() >= until:
            return records.agent(agent.id) or agent
        time.sleep(0.02)
    # The backend has ended; its supervisor needs a moment to end what it left, and to write down how it was.
    until = time.monotonic() + _RECORD_SECONDS
    current = agent
    while time.monotonic() < until and current.live:
        time.sleep(0.02)
        current = records.agent(agent.id) or agent
    return current


def _checked(agent: Agent, folder: Path) -> Agent:
    if agent.pid is None and agent.outcome is Outcome.FAILED:
        raise BackendProblem(f"{agent.backend} did not start: {agent.reason}", f"the program is {agent.executable}")
    return agent


def undo_launch(records: Records, agent_id: str, supervisor: int | None = None) -> None:
    """End a supervisor and its agent, for the undoing of a spawn."""
    agent = records.agent(agent_id)
    roots = [pid for pid in (supervisor, agent.pid if agent else None) if pid is not None]
    if supervisor is not None and _exists(supervisor):
        import signal

        signal_quietly(supervisor, signal.SIGTERM)
        until = time.monotonic() + _STOP_SECONDS
        while time.monotonic() < until and _exists(supervisor):
            time.sleep(0.02)
    end_tree(roots, records.mark(agent_id), spare=frozenset({os.getpid()}), grace=2.0)


def _exists(pid: int) -> bool:
    from orchestrator.identity import start_time

    return start_time(pid) is not None


def _last_line(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return "it left no log"
    return lines[-1] if lines else "it left no log"
