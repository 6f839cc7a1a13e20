"""Merging an agent's work into a branch: computed first, then one ref moves, or nothing does."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from orchestrator.agent import Agent, Status
from orchestrator.beliefs import MEMORY_FILE
from orchestrator.brought import require_same_memory
from orchestrator.errors import GitProblem, UsageProblem, WorkAtRisk, WorktreeProblem
from orchestrator.gate import OPERATIONS
from orchestrator.git import Git, last_line
from orchestrator.integration import has_content
from orchestrator.liveness import observed, require_over
from orchestrator.locks import held
from orchestrator.memory_merge import memory_carried_over
from orchestrator.mergetree import Merged, merge_commits, pick_commit
from orchestrator.process import ProcessFault
from orchestrator.project import Project
from orchestrator.records import Records, now
from orchestrator.registrations import Registration, registrations
from orchestrator.worktree import git_directory

Way = Literal["merge", "squash", "rebase", "ff-only"]
_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class Landed:
    """What a merge did: `commit` is the target's tip now; `already` when there was nothing left to do."""

    agent: Agent
    into: str
    way: Way
    commit: str
    before: str
    already: bool = False
    holder: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Source:
    """What is merged: the commit that the agent's worktree, or its branch, stands at."""

    commit: str
    branch: str


def target_branch(project: Project, agent: Agent, into: str | None) -> str:
    """The branch to merge into: the one that is named, the one that the work started from, else the current one."""
    git = project.git()
    if into is not None:
        if git.commit(f"refs/heads/{into}") is None:
            raise UsageProblem(f"there is no branch {into}", "git branch lists them")
        return into
    for name in (agent.base_name, project.git(project.root).branch(), git.branch()):
        if name and name != agent.branch and git.commit(f"refs/heads/{name}") is not None:
            return name
    raise UsageProblem(f"agent {agent.id} started from {agent.base_name},which is no branch", "name it: --into NAME")


def require_source(project: Project, records: Records, agent: Agent) -> _Source:
    """The commit to merge. Refuses a running agent, uncommitted work, and an operation in progress."""
    require_over(records, agent)
    if agent.status is Status.REMOVED:
        raise UsageProblem(f"agent {agent.id} is removed", f"orch restore {agent.id}")
    worktree = Path(agent.worktree)
    branch = agent.branch or "(detached)"
    if not (worktree / ".git").is_file():
        tip = project.git().commit(f"refs/heads/{agent.branch}") if agent.branch else None
        if tip is None:
            raise WorktreeProblem(f"agent {agent.id} has neither a worktree nor a branch any more", "orch ls --all")
        return _Source(commit=tip, branch=branch)
    git = project.git(worktree)
    gitdir = git_directory(project, worktree)
    for name, what in OPERATIONS.items():
        if (gitdir / name).exists():
            raise WorkAtRisk(f"{what} is in progress in {worktree}", "finish it there first")
    if git.status():
        raise WorkAtRisk(
            f"agent {agent.id} left uncommitted changes, which a merge would leave out",
            f"orch merge {agent.id} --commit MESSAGE commits them first; orch diff {agent.id} shows them",
        )
    head = git.commit("HEAD")
    if head is None:
        raise WorktreeProblem(f"the worktree of agent {agent.id} has no commit", f"look into {worktree}")
    return _Source(commit=head, branch=git.branch() or branch)


def commit_rest(project: Project, records: Records, agent: Agent, message: str) -> str | None:
    """Commit everything that the agent left uncommitted, on its branch; None when there was nothing."""
    require_over(records, agent)
    if not (Path(agent.worktree) / ".git").is_file():
        return None
    git = project.git(Path(agent.worktree))
    if not git.status():
        return None
    try:
        git.run("add", "--all", timeout=1800)
        git.run("commit", "--quiet", "-m", message, timeout=1800)
    except ProcessFault as exc:
        raise GitProblem(f"the commit in {agent.worktree} failed: {last_line(exc)}", "nothing was merged") from exc
    return git.commit("HEAD")


def merge_agent(
    project: Project,
    records: Records,
    agent: Agent,
    *,
    into: str,
    way: Way,
    tested: str | None = None,
    with_memory: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Landed:
    """Merge; the target moves from its old tip to the finished result in one step, or stays as it is.

    `tested` is the commit that the checks ran on, `with_memory` that a person takes the branch's edits of the memory
    for theirs; without it they raise MemoryProblem. Raises GitProblem that names the files in conflict, WorktreeProblem
    when the worktree that has the target checked out is in the way. After a crash the same call does what is left.
    """
    with held(project.lock, tell):
        agent = records.agent(agent.id) or agent
        source = require_source(project, records, agent)
        if tested is not None and source.commit != tested:
            raise WorkAtRisk(f"the work of agent {agent.id} has changed since it was checked", "repeat the command")
        git = project.git()
        ref = f"refs/heads/{into}"
        before = git.text("rev-parse", "--verify", ref)
        holder = next((each for each in registrations(project) if each.branch == into), None)
        if git.succeeds("merge-base", "--is-ancestor", source.commit, before) or has_content(git, ref, source.commit):
            return _noted(records, agent, source, into, way, before, before, holder, already=True)
        try:
            result = _result(git, agent, source, before, into, way)
            if not with_memory:
                require_same_memory(project, records, before, result, agent=agent.id)
            records.add_event("merging", agent.id, into=into, way=way, before=before, commit=result)
            _move(project, records, ref, before, result, holder)
        except ProcessFault as exc:
            raise GitProblem(
                f"the merge of agent {agent.id} into {into} failed: {last_line(exc)}", f"{into} is as it was"
            ) from exc
        return _noted(records, agent, source, into, way, before, result, holder)


def _noted(
    records: Records,
    agent: Agent,
    source: _Source,
    into: str,
    way: Way,
    before: str,
    commit: str,
    holder: Registration | None,
    *,
    already: bool = False,
) -> Landed:
    merged = {"into": into, "way": way, "commit": commit, "source": source.commit, "at": now()}
    known = agent.extra.get("merged")
    if not already or not isinstance(known, dict) or known.get("source") != source.commit:
        agent = records.change_agent(agent.id, lambda a: a.changed(extra={**a.extra, "merged": merged}))
        records.add_event("merged", agent.id, **{name: value for name, value in merged.items() if name != "at"})
    return Landed(
        agent=agent,
        into=into,
        way=way,
        commit=commit,
        before=before,
        already=already,
        holder=None if holder is None else str(holder.path),
    )


def _result(git: Git, agent: Agent, source: _Source, before: str, into: str, way: Way) -> str:
    if way == "ff-only":
        if not git.succeeds("merge-base", "--is-ancestor", before, source.commit):
            raise GitProblem(
                f"{into} has commits that agent {agent.id} does not have, so it cannot be fast-forwarded",
                f"orch merge {agent.id} --rebase",
            )
        return source.commit
    if way == "rebase":
        return _rebased(git, agent, source, before, into)
    merged = merge_commits(git, before, source.commit)
    _refuse_conflicts(agent, merged, into)
    parents = [before] if way == "squash" else [before, source.commit]
    message = _squash_message(git, agent, source, before) if way == "squash" else _merge_message(agent, source, into)
    return _commit(git, merged.tree, parents, message)


def _refuse_conflicts(agent: Agent, merged: Merged, into: str, where: str = "") -> None:
    if not merged.conflicts:
        return
    shown = ", ".join(merged.conflicts[:_NAMED])
    more = f" and {len(merged.conflicts) - _NAMED} more" if len(merged.conflicts) > _NAMED else ""
    raise GitProblem(
        f"agent {agent.id} conflicts with {into}{where} in {shown}{more}; {into} is as it was",
        f"in {agent.worktree}: git merge {into}, resolve and commit, then repeat the command",
    )


def _rebased(git: Git, agent: Agent, source: _Source, before: str, into: str) -> str:
    """Each commit of the agent that the target does not have yet, made anew on top of it; merges are left out."""
    missing = ("--topo-order", "--no-merges", "--cherry-pick", "--right-only", f"{before}...{source.commit}")
    listed = git.text("rev-list", "--reverse", *missing)
    tip = before
    for commit in listed.split():
        merged = pick_commit(git, tip, commit)
        subject = git.text("show", "-s", "--format=%s", commit)
        _refuse_conflicts(agent, merged, into, f" at its commit {commit[:10]} ({subject})")
        if merged.tree == git.text("rev-parse", f"{tip}^{{tree}}"):
            continue
        facts = git.text("show", "-s", "--format=%an%x00%ae%x00%ad", "--date=raw", commit).split("\0")
        author = dict(zip(("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"), facts, strict=True))
        message = git.run("show", "-s", "--format=%B", commit).stdout
        tip = _commit(git.with_environ(author), merged.tree, [tip], message)
    return tip


def _commit(git: Git, tree: str, parents: list[str], message: bytes) -> str:
    sign = ["-S"] if git.run("config", "--type=bool", "--get", "commit.gpgSign", check=False).text == "true" else []
    named = [word for parent in parents for word in ("-p", parent)]
    return git.run("commit-tree", *sign, *named, "-F", "-", tree, stdin=message).text


def _task_line(agent: Agent) -> str:
    return next((line.strip() for line in agent.task.splitlines() if line.strip()), "")[:72]


def _merge_message(agent: Agent, source: _Source, into: str) -> bytes:
    text = f"Merge branch '{source.branch}' into {into}\n\nAgent {agent.id} ({agent.backend}): {_task_line(agent)}\n"
    return text.encode("utf-8", "surrogateescape")


def _squash_message(git: Git, agent: Agent, source: _Source, before: str) -> bytes:
    messages = git.run("log", "--reverse", "--no-merges", "--format=%B%x00", f"{before}..{source.commit}").stdout
    each = [message.strip() for message in messages.split(b"\0") if message.strip()]
    if len(each) == 1:
        return each[0] + b"\n"
    subjects = b"".join(b"- " + message.split(b"\n")[0] + b"\n" for message in each)
    return (_task_line(agent) or f"Work of agent {agent.id}").encode("utf-8", "surrogateescape") + b"\n\n" + subjects


def _move(project: Project, records: Records, ref: str, before: str, result: str, holder: Registration | None) -> None:
    """Move the target: through git in the worktree that has it checked out, else the ref alone, compared first."""
    if holder is None:
        project.git().run("update-ref", "-m", "orch merge", ref, result, before)
        return
    both = _check_holder(project, records, holder, before, result)
    with memory_carried_over(project, before, result) if both else nullcontext():
        # Git checks everything before it changes anything, and it goes on to its end should we be killed.
        project.git(holder.path).run("merge", "--quiet", "--ff-only", result, timeout=1800)


def _check_holder(project: Project, records: Records, holder: Registration, before: str, result: str) -> bool:
    """Refuse a checkout that is in the way; whether the memory, and nothing else, has changes there as well."""
    name = f"{holder.branch} is checked out at {holder.path}"
    if holder.missing:
        raise WorktreeProblem(f"{name}, which is gone", f"git worktree remove --force '{holder.path}'")
    other = next((each for each in records.agents() if each.worktree == str(holder.path)), None)
    if other is not None and observed(records, other).live:
        raise WorktreeProblem(f"{name}, where agent {other.id} works", f"orch wait {other.id}")
    gitdir = git_directory(project, holder.path)
    for file, what in OPERATIONS.items():
        if (gitdir / file).exists():
            raise WorktreeProblem(f"{name}, where {what} is in progress", "finish it first")
    git = project.git(holder.path)
    listed = git.run("diff", "--name-only", "-z", "--no-renames", before, result).stdout
    wanted = {os.fsdecode(path) for path in listed.split(b"\0") if path}
    changed = {os.fsdecode(record[3:]) for record in git.status().split(b"\0") if len(record) > 3}
    both = sorted(path for path in wanted if path in changed)
    if both == [MEMORY_FILE] and holder.path == project.main:
        return True
    if both:
        raise WorktreeProblem(
            f"{name}, with changes of its own in {', '.join(both[:_NAMED])}",
            f"commit or stash them in {holder.path}, then repeat the command",
        )
    return False
