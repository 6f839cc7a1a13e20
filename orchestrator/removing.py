"""Removing an agent's worktree and branch, without losing work."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.agent import Agent, Status
from orchestrator.changes import snapshot_tree
from orchestrator.errors import UsageProblem, WorkAtRisk, WorktreeProblem
from orchestrator.git import Git
from orchestrator.liveness import observed
from orchestrator.locks import held
from orchestrator.project import Project
from orchestrator.records import Records
from orchestrator.seams import remove_agent_hygiene
from orchestrator.worktree import registered_worktrees, remove_empty_parent


@dataclass(frozen=True, kw_only=True)
class Removed:
    """What a removal did. `kept` is the ref that holds the work, None when there was none to keep."""

    agent: Agent
    kept: str | None
    branch_deleted: bool


def kept_ref(agent_id: str) -> str:
    """The ref under which an agent's work is kept when its worktree goes."""
    return f"refs/orch/kept/{agent_id}"


def remove_agent(
    project: Project, records: Records, agent: Agent, *, keep: bool, tell: Callable[[str], None]
) -> Removed:
    """Remove worktree, branch and state of one agent.

    Refuses with WorkAtRisk while there is uncommitted or unmerged work, unless `keep` stores all of it under a ref
    first. Refuses a running agent, and whatever is not a worktree that orch made for this agent.
    """
    if observed(records, agent).live:
        raise UsageProblem(f"agent {agent.id} is still running", f"orch stop {agent.id}")
    if agent.status is Status.REMOVED:
        raise UsageProblem(f"agent {agent.id} is removed already")
    with held(project.lock, tell):
        worktree = _require_own(project, agent)
        work = _work(project, agent, worktree)
        if work and not keep:
            raise WorkAtRisk(
                f"agent {agent.id} has work that is nowhere else: {', '.join(work)}",
                f"orch diff {agent.id} shows it; orch rm --keep {agent.id} keeps it under {kept_ref(agent.id)}",
            )
        kept = _keep(project, agent, worktree) if work else None
        if worktree is not None:
            project.git().run("worktree", "remove", "--force", str(worktree))
            remove_empty_parent(worktree.parent)
        deleted = _delete_branch(project, agent)
        remove_agent_hygiene(project, agent.id)
    records.change_agent(agent.id, lambda a: a.changed(status=Status.REMOVED))
    records.add_event("removed", agent.id, kept=kept)
    shutil.rmtree(project.agents / agent.id, ignore_errors=True)
    return Removed(agent=agent, kept=kept, branch_deleted=deleted)


def _require_own(project: Project, agent: Agent) -> Path | None:
    """The agent's worktree, None when it is gone; refuses anything that is not a linked worktree listed by git."""
    path = Path(agent.worktree)
    if not os.path.lexists(path):
        return None
    if path not in registered_worktrees(project)[1:] or not (path / ".git").is_file():
        raise WorktreeProblem(f"{path} is no linked worktree of this repository; it was not touched")
    return path


def _work(project: Project, agent: Agent, worktree: Path | None) -> list[str]:
    found = []
    if worktree is not None and project.git(worktree).status():
        found.append("uncommitted changes")
    tip = _tip(project, agent, worktree)
    if tip is not None and not _reachable(project.git(), tip, agent.branch):
        found.append("commits that no other branch has")
    return found


def _tip(project: Project, agent: Agent, worktree: Path | None) -> str | None:
    if worktree is not None:
        return project.git(worktree).commit("HEAD")
    return project.git().commit(f"refs/heads/{agent.branch}") if agent.branch else None


def _reachable(git: Git, commit: str, own_branch: str | None) -> bool:
    """Whether another branch, a tag or a remote branch holds the commit."""
    refs = git.text(
        "for-each-ref", f"--contains={commit}", "--format=%(refname)", "refs/heads", "refs/tags", "refs/remotes"
    )
    return any(ref and ref != f"refs/heads/{own_branch}" for ref in refs.splitlines())


def _keep(project: Project, agent: Agent, worktree: Path | None) -> str:
    """Write everything that the worktree holds as a commit on top of its HEAD, under the agent's kept ref."""
    ref = kept_ref(agent.id)
    if worktree is None:
        tip = _tip(project, agent, None)
        project.git().run("update-ref", ref, str(tip))
        return ref
    git = project.git(worktree)
    head = git.text("rev-parse", "HEAD")
    tree = snapshot_tree(git, worktree)
    commit = head
    if tree != git.text("rev-parse", f"{head}^{{tree}}"):
        message = f"Uncommitted work of agent {agent.id}"
        identity = {
            "GIT_AUTHOR_NAME": "orch",
            "GIT_AUTHOR_EMAIL": "orch@localhost",
            "GIT_COMMITTER_NAME": "orch",
            "GIT_COMMITTER_EMAIL": "orch@localhost",
        }
        commit = git.with_environ(identity).text("commit-tree", "-p", head, "-m", message, tree)
    git.run("update-ref", ref, commit)
    return ref


def _delete_branch(project: Project, agent: Agent) -> bool:
    """Delete the branch that orch made, with a compare-and-swap on its tip; the tip is reachable or kept by now."""
    if agent.branch is None or not agent.branch_made:
        return False
    git = project.git()
    tip = git.commit(f"refs/heads/{agent.branch}")
    if tip is None:
        return False
    if not (_reachable(git, tip, agent.branch) or git.succeeds("merge-base", "--is-ancestor", tip, kept_ref(agent.id))):
        return False
    return git.run("update-ref", "-d", f"refs/heads/{agent.branch}", tip, check=False).code == 0
