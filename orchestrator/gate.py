"""The one gate in front of everything that deletes: what is not proven to be ours is never touched, force included.

`require_removable` answers with a `Permit`, and only a permit can be handed to what deletes (`orchestrator.deleting`).
Two kinds of answer: a refusal that nothing overrides (it is not ours, it is locked, it is or holds something of the
person's), and risks, which keeping the work first overrides.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from orchestrator.agent import Agent
from orchestrator.errors import WorkAtRisk, WorktreeProblem
from orchestrator.git import Git
from orchestrator.integration import is_integrated
from orchestrator.nested import find_nested
from orchestrator.process import ProcessFault
from orchestrator.project import Project
from orchestrator.registrations import Registration, registrations

MARK = "orch-agent"
# What git keeps in a worktree's git directory while it is in the middle of something.
OPERATIONS = {
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase or `git am`",
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}


@dataclass(frozen=True, kw_only=True)
class Permit:
    """What may be deleted, and exactly that. `worktree` and `gitdir` are None when the worktree is gone already;
    `identity` is device and inode of its directory; `tip` is the branch's commit, None when it is not to be deleted.
    """

    agent_id: str
    worktree: Path | None
    gitdir: Path | None
    identity: tuple[int, int] | None
    branch: str | None
    tip: str | None
    risks: tuple[str, ...]
    stays: str = ""


def claim(gitdir: Path, agent_id: str) -> None:
    """Record at creation, in the worktree's own git directory, that orch made it for this agent."""
    (gitdir / MARK).write_text(agent_id + "\n")


def claimed(gitdir: Path) -> str | None:
    """The agent that a worktree was made for, None when orch did not make it."""
    try:
        return (gitdir / MARK).read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def require_removable(project: Project, agent: Agent, *, keep: bool, here: Path | None = None) -> Permit:
    """Check everything; `here` is the person's current directory.

    Raises WorktreeProblem where the worktree is not the agent's own, and WorkAtRisk where work would be lost and `keep`
    is not set.
    """
    permit = inspect(project, agent, here=here)
    if permit.risks and not keep:
        raise WorkAtRisk(
            f"agent {agent.id} has work that is nowhere else: {', '.join(permit.risks)}",
            f"orch diff {agent.id} shows it; orch rm --keep {agent.id} removes it and keeps all of it for orch restore",
        )
    return permit


def inspect(project: Project, agent: Agent, *, here: Path | None = None) -> Permit:
    """The permit with its risks, whatever they are. Raises WorktreeProblem for what is never deleted."""
    path = Path(agent.worktree)
    listed = registrations(project)
    there = os.path.lexists(path)
    gitdir = _own_git_directory(project, agent, path, listed, there=there)
    if there and gitdir is not None:
        _refuse_holding(project, path, listed, here)
    branch, stays = _own_branch(project, agent, listed)
    tip = project.git().commit(f"refs/heads/{branch}") if branch else None
    info = path.lstat() if there else None
    return Permit(
        agent_id=agent.id,
        worktree=path if there else None,
        gitdir=gitdir,
        identity=None if info is None else (info.st_dev, info.st_ino),
        branch=branch if tip else None,
        tip=tip,
        risks=tuple(_risks(project, agent, path if there else None, gitdir, tip)),
        stays=stays,
    )


def _own_git_directory(
    project: Project, agent: Agent, path: Path, listed: tuple[Registration, ...], *, there: bool
) -> Path | None:
    """The worktree's git directory, proven from both sides; None when there is nothing at the path, nor registered."""
    entry = next((each for each in listed[1:] if each.path == path), None)
    if listed and listed[0].path == path:
        raise _not_ours(path, "is the main checkout")
    if entry is None:
        if there:
            raise _not_ours(path, "is no linked worktree that git lists for this repository")
        return None
    if entry.locked:
        raise WorktreeProblem(
            f"the worktree {path} is locked, so it was not touched", f"if that is over: git worktree unlock '{path}'"
        )
    gitdir = _registered_git_directory(project, path)
    if gitdir is None or claimed(gitdir) != agent.id:
        raise _not_ours(path, f"was not made by orch for agent {agent.id}")
    if not there:
        return gitdir
    if path.is_symlink() or not path.is_dir():
        raise _not_ours(path, "is no directory")
    if looks_like_git_directory(path):
        raise _not_ours(path, "is a git directory")
    link = path / ".git"
    if link.is_symlink() or not link.is_file():
        raise _not_ours(path, "has no `.git` file, as every linked worktree has")
    if os.path.realpath(_pointed(link)) != os.path.realpath(gitdir):
        raise _not_ours(path, "belongs to another repository, by its `.git` file")
    return gitdir


def _not_ours(path: Path, why: str) -> WorktreeProblem:
    return WorktreeProblem(
        f"{path} {why}; it was not touched", "orch deletes only what it made: remove it with git if it is to go"
    )


def _registered_git_directory(project: Project, path: Path) -> Path | None:
    """The directory below `<common>/worktrees` whose `gitdir` file names this worktree."""
    for folder in sorted((project.common_dir / "worktrees").glob("*")):
        try:
            named = os.fsdecode((folder / "gitdir").read_bytes().rstrip(b"\n"))
        except OSError:
            continue
        if os.path.normpath(folder / named) == os.path.normpath(path / ".git"):
            return folder
    return None


def _pointed(link: Path) -> Path:
    content = os.fsdecode(link.read_bytes()).strip()
    return link.parent / content.removeprefix("gitdir: ")


def looks_like_git_directory(path: Path) -> bool:
    """Whether a directory is shaped as git's own ones are: deleting one destroys history (a submodule's, say)."""
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def _refuse_holding(project: Project, path: Path, listed: tuple[Registration, ...], here: Path | None) -> None:
    real = Path(os.path.realpath(path))
    inside = [each.path for each in listed if each.path != path and _is_below(each.path, real)]
    for other, what in (
        *((each, "the worktree") for each in inside),
        (project.common_dir, "the repository itself,"),
        *(((project.main, "the main checkout"),) if project.main is not None else ()),
    ):
        if _is_below(other, real):
            raise WorktreeProblem(f"{path} holds {what} {other}; it was not touched", "move that out of it first")
    if here is not None and _is_below(here, real):
        raise WorktreeProblem(f"you are in {path}, which is to be removed", "cd out of it first")


def _is_below(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(folder)


def _own_branch(project: Project, agent: Agent, listed: tuple[Registration, ...]) -> tuple[str | None, str]:
    """The branch that goes with the agent, and else why it stays."""
    if agent.branch is None or not agent.branch_made:
        return None, ""
    if agent.branch in protected_branches(project):
        return None, f"the branch {agent.branch} is the default branch and stays"
    holder = next((each for each in listed if each.branch == agent.branch and str(each.path) != agent.worktree), None)
    if holder is not None:
        return None, f"the branch {agent.branch} is checked out at {holder.path} and stays"
    return agent.branch, ""


def protected_branches(project: Project) -> frozenset[str]:
    """Branches that are never deleted: every remote's default, the main checkout's own, and the customary names."""
    git = project.git()
    found = {"main", "master", "trunk", git.branch(), git.config("init.defaultBranch")}
    for line in git.text("for-each-ref", "--format=%(symref)", "refs/remotes").splitlines():
        found.add(line.removeprefix("refs/remotes/").partition("/")[2])
    return frozenset(name for name in found if name)


def _risks(project: Project, agent: Agent, worktree: Path | None, gitdir: Path | None, tip: str | None) -> list[str]:
    found = []
    head = None
    if worktree is not None and gitdir is not None:
        git = project.git(worktree)
        try:
            if git.status():
                found.append("uncommitted changes")
            found += _nested_risks(git, worktree, project)
        except ProcessFault as exc:
            found.append(f"a state that git cannot read ({exc.message})")
        head = git.commit("HEAD")
        found += [f"{what} in progress" for name, what in OPERATIONS.items() if (gitdir / name).exists()]
    own = frozenset({f"refs/heads/{agent.branch}"}) if agent.branch_made and agent.branch else frozenset()
    commits = [each for each in dict.fromkeys((head, tip)) if each is not None]
    if any(not is_integrated(project, each, own=own, into=agent.base_name) for each in commits):
        found.append("commits that no other branch has")
    return found


def _nested_risks(git: Git, worktree: Path, project: Project) -> list[str]:
    """Commits of repositories inside that are in no other place: a clean status does not tell of them."""
    found = []
    for path in find_nested(git, worktree):
        inner = Git(cwd=worktree / path)
        head = inner.commit("HEAD")
        if head is None:
            found.append(f"a repository at {path}")
        elif not inner.text("for-each-ref", f"--contains={head}", "--count=1", "refs/remotes") and not _in_stores(
            project, head
        ):
            found.append(f"commits in {path} that are nowhere else")
    return found


def _in_stores(project: Project, commit: str) -> bool:
    stores = (store.parent for store in (project.common_dir / "modules").rglob("HEAD") if store.is_file())
    return any(
        Git(cwd=store).succeeds("--git-dir=.", "cat-file", "-e", f"{commit}^{{commit}}")
        for store in stores
        if looks_like_git_directory(store)
    )
