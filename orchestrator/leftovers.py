"""What a killed orch, git or agent has left in a project, and the repairs that lose nothing."""

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from orchestrator.agent import Agent, Status
from orchestrator.drift import find_drift
from orchestrator.errors import OrchError, WorktreeProblem
from orchestrator.finding import Finding
from orchestrator.gate import claimed
from orchestrator.identity import AGENT_VARIABLE, is_alive
from orchestrator.liveness import observed
from orchestrator.locks import held
from orchestrator.operation import interrupted_text
from orchestrator.project import Project
from orchestrator.records import Records
from orchestrator.registrations import Registration, registrations
from orchestrator.scratch import abandoned, remove_abandoned
from orchestrator.worktree import remove_empty_parent

# A spawn is over long before; what is younger may belong to one that is under way.
_STALE_SECONDS = 600.0


def find_leftovers(project: Project) -> Iterator[Finding]:
    """Everything that nobody stands behind any more; one `ok` where there is nothing."""
    records = Records(path=project.records)
    try:
        agents = records.agents()
        found = [*_broken_records(records), *_dead_supervisors(records, agents)]
    except OrchError as exc:
        # Without the records nothing can be told apart: no worktree is called an orphan on that ground.
        yield Finding(state="fault", area="records", text=exc.message, hint=f"move {project.records} away")
        return
    found += [
        *_strays(project, agents),
        *_worktrees(project, agents),
        *_folders(project, agents),
        *_scratch(project),
        *_git_locks(project),
        *find_drift(project, agents),
    ]
    yield from found or [Finding(state="ok", area="leftovers", text="none")]


def _broken_records(records: Records) -> Iterator[Finding]:
    with records.reading("agents") as connection:
        if connection is None:
            return
        said = [str(row[0]) for row in connection.execute("PRAGMA quick_check")]
    if said != ["ok"]:
        yield Finding(
            state="fault",
            area="records",
            text=f"{records.path} is damaged: {said[0]}",
            hint=f"sqlite3 {records.path} .recover",
        )


def _dead_supervisors(records: Records, agents: tuple[Agent, ...]) -> Iterator[Finding]:
    for agent in agents:
        if not agent.live or is_alive(agent.supervisor_pid, agent.supervisor_started):
            continue
        if agent.supervisor_pid is None and not _old(agent):
            continue
        yield Finding(
            state="fault",
            area=f"agent {agent.id}",
            text=f"is recorded as {agent.status.value}, but its supervisor is gone",
            hint="orch doctor --fix records that",
            repair=partial(_record_lost, records, agent),
        )


def _record_lost(records: Records, agent: Agent) -> str:
    now = observed(records, agent)
    return f"recorded as {now.outcome.value if now.outcome is not None else now.status.value}"


def _old(agent: Agent) -> bool:
    from datetime import UTC, datetime

    return (datetime.now(UTC) - datetime.fromisoformat(agent.created)).total_seconds() > _STALE_SECONDS


def _strays(project: Project, agents: tuple[Agent, ...]) -> Iterator[Finding]:
    """Processes that carry the id of an agent of this project that is over."""
    import psutil

    over = {agent.id for agent in agents if not agent.live}
    lost = {agent.id for agent in agents if agent.live and not is_alive(agent.supervisor_pid, agent.supervisor_started)}
    for process in psutil.process_iter():
        try:
            environ = process.environ()
            name = process.name()
        except (psutil.Error, OSError):
            continue
        agent_id = environ.get(AGENT_VARIABLE)
        if environ.get("ORCH_PROJECT") != str(project.common_dir) or process.pid == os.getpid():
            continue
        if agent_id in over | lost:
            yield Finding(
                state="warning",
                area=f"agent {agent_id}",
                text=f"is over, but its process {name} (pid {process.pid}) still runs",
                hint=f"orch stop {agent_id}",
            )


def _worktrees(project: Project, agents: tuple[Agent, ...]) -> Iterator[Finding]:
    """Worktrees that are gone, removals that were interrupted, and worktrees of ours that belong to no agent."""
    for agent in agents:
        interrupted = interrupted_text(agent)
        if interrupted:
            yield Finding(state="warning", area=f"agent {agent.id}", text=interrupted)
        elif agent.status is not Status.REMOVED and not os.path.lexists(agent.worktree):
            yield Finding(
                state="warning",
                area=f"agent {agent.id}",
                text=f"its worktree {agent.worktree} is gone",
                hint=f"orch rm {agent.id} forgets it (commits on its branch are kept)",
            )
    known = {agent.id for agent in agents}
    standing = {agent.worktree for agent in agents if agent.status is not Status.REMOVED}
    claims = {path: claimed(gitdir) for path, gitdir in _git_directories(project)}
    for each in registrations(project)[1:]:
        maker = claims.get(each.path)
        named = each.branch is not None and each.branch.startswith("orch/")
        if str(each.path) in standing or maker in known or each.missing or not _stale(each.path / ".git"):
            continue
        if maker is not None or named:
            yield Finding(
                state="warning",
                area="worktree",
                text=f"{each.path} belongs to no agent",
                hint=f"look into it, then: git worktree remove {each.path}",
                # Only what carries our mark is ours to remove; a branch may be called orch/… by anybody.
                repair=partial(_remove_orphan, project, each) if maker is not None and not each.locked else None,
            )


def _git_directories(project: Project) -> Iterator[tuple[Path, Path]]:
    """Each registered worktree and its git directory."""
    for folder in (project.common_dir / "worktrees").glob("*"):
        with contextlib.suppress(OSError):
            yield Path(os.fsdecode((folder / "gitdir").read_bytes()).rstrip("\n")).parent, folder


def _remove_orphan(project: Project, orphan: Registration) -> str:
    """Remove a worktree that holds nothing; git itself refuses where there is any change in it."""
    git, path = project.git(), orphan.path
    if orphan.branch is None:
        raise WorktreeProblem(f"{path} is on no branch, so it is left alone")
    branch = f"refs/heads/{orphan.branch}"
    with held(project.lock):
        tip = git.text("rev-parse", "--verify", branch)
        # A spawn that was killed before the checkout leaves nothing but the `.git` file.
        empty = [entry.name for entry in path.iterdir()] == [".git"]
        git.run("worktree", "remove", *(["--force"] if empty else []), str(path))
        remove_empty_parent(path.parent)
        held_by = git.text("for-each-ref", f"--contains={tip}", "--format=%(refname)", "refs/heads", "refs/remotes")
        if any(ref != branch for ref in held_by.splitlines()):
            git.run("update-ref", "-d", branch, tip)
            return f"removed it and its branch {orphan.branch}, which had no commit of its own"
    return f"removed it; its branch {orphan.branch} has commits and stays"


def _folders(project: Project, agents: tuple[Agent, ...]) -> Iterator[Finding]:
    """State folders of agents that never came to be."""
    known = {agent.id for agent in agents}
    if not project.agents.is_dir():
        return
    for folder in sorted(project.agents.iterdir()):
        if folder.name in known or not folder.is_dir() or not _stale(folder):
            continue
        yield Finding(
            state="warning",
            area="state",
            text=f"{folder} belongs to no agent",
            hint="orch doctor --fix removes it",
            repair=partial(_remove_folder, folder),
        )


def _scratch(project: Project) -> Iterator[Finding]:
    """Temporary folders of commands that were killed."""
    for folder in abandoned(project.scratch):
        yield Finding(
            state="warning",
            area="state",
            text=f"{folder} was left by a command that was killed",
            hint="orch doctor --fix removes it",
            repair=partial(remove_abandoned, folder),
        )


def _remove_folder(folder: Path) -> str:
    shutil.rmtree(folder)
    return "removed"


def _git_locks(project: Project) -> Iterator[Finding]:
    """Lock files of a git that was killed: git refuses to work until they go. Never removed by us: git may live."""
    folders = [project.common_dir, *(project.common_dir / "worktrees").glob("*")]
    locks = [lock for folder in folders for lock in folder.glob("*.lock")]
    locks += (project.common_dir / "refs").rglob("*.lock")
    for lock in sorted(locks):
        if lock.is_file() and _stale(lock):
            yield Finding(
                state="fault",
                area="git lock",
                text=f"{lock} is {int((time.time() - lock.stat().st_mtime) / 60)} minutes old",
                hint=f"when no git command runs here: rm {lock}",
            )


def _stale(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime > _STALE_SECONDS
    except OSError:
        return False
