"""Worktrees: made on a branch of their own from an explicit base, undone without losing work."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import GitProblem, ProjectProblem, UsageProblem, WorktreeProblem
from orchestrator.git import last_line
from orchestrator.process import ProcessFault
from orchestrator.project import Project

_SLUG_WORDS = 5
_SLUG_LENGTH = 40


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an agent works: a branch from a commit, and a path. `base_name` is what the person called the commit."""

    branch: str
    path: Path
    base: str
    base_name: str


def slug(text: str) -> str:
    """A short name for a task: its first words, ASCII, lower case; "task" when nothing is left."""
    words = re.findall(r"[a-z0-9]+", text[:400].lower())
    return "-".join(words[:_SLUG_WORDS])[:_SLUG_LENGTH].strip("-") or "task"


def plan_place(
    project: Project, *, agent_id: str, task: str, branch: str | None, base: str | None, directory: str | None
) -> Place:
    """Choose branch, path and base commit, and check that nothing is in the way; changes nothing.

    Raises ProjectProblem (no commit), UsageProblem (bad branch or base), WorktreeProblem (branch or path exists).
    """
    git = project.git(project.root)
    base_name = base if base is not None else (git.branch() or "HEAD")
    commit = git.commit(base if base is not None else "HEAD")
    if commit is None:
        if base is None and git.commit("HEAD") is None:
            raise ProjectProblem(
                "this repository has no commit yet, so there is nothing to branch from",
                "git commit --allow-empty -m 'first commit'",
            )
        raise UsageProblem(f"--base {base_name!r} names no commit", "git branch --all lists the branches")
    name = branch if branch is not None else _free_branch(project, f"{slug(task)}-{agent_id}")
    _check_branch(project, name)
    path = _parent_directory(project, directory) / _folder(name)
    _check_path(project, path)
    return Place(branch=name, path=path, base=commit, base_name=base_name)


def _free_branch(project: Project, name: str) -> str:
    # A branch that is itself called `orch` leaves no room for `orch/…` (refs are paths).
    taken = project.git().commit("refs/heads/orch") is not None
    return f"orch-{name}" if taken else f"orch/{name}"


def _folder(branch: str) -> str:
    return branch.removeprefix("orch/").replace("/", "-")


def _parent_directory(project: Project, directory: str | None) -> Path:
    base = project.main if project.main is not None else project.common_dir
    if directory:
        return Path(os.path.normpath(base / Path(directory).expanduser()))
    if project.main is None:
        # A bare layout keeps its worktrees beside the git directory.
        return base.parent if base.name in (".git", ".bare") else base.parent / f"{project.name}.worktrees"
    return base.parent / f"{project.name}.worktrees"


def _check_branch(project: Project, name: str) -> None:
    git = project.git()
    if name.startswith("-") or not git.succeeds("check-ref-format", f"refs/heads/{name}"):
        raise UsageProblem(f"{name!r} is no valid branch name", "git help check-ref-format tells the rules")
    if git.commit(f"refs/heads/{name}") is not None or git.succeeds("show-ref", "--quiet", f"refs/heads/{name}"):
        raise WorktreeProblem(
            f"the branch {name} exists already", f"choose another --branch, or start from it with --base {name}"
        )
    for parent in _parents(name):
        if git.succeeds("show-ref", "--verify", "--quiet", f"refs/heads/{parent}"):
            raise WorktreeProblem(
                f"the branch {parent} leaves no room for {name} (git keeps refs as paths)", "choose another --branch"
            )
    below = git.text("for-each-ref", "--count=1", "--format=%(refname:short)", f"refs/heads/{name}/")
    if below:
        raise WorktreeProblem(
            f"the branch {below} leaves no room for {name} (git keeps refs as paths)", "choose another --branch"
        )


def _parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _check_path(project: Project, path: Path) -> None:
    registered = any(entry == path for entry in registered_worktrees(project))
    if os.path.lexists(path):
        what = "a registered worktree of this repository" if registered else "in the way"
        raise WorktreeProblem(
            f"the path {path} exists already and is {what}", "choose another --branch, or move it away"
        )
    if registered:
        raise WorktreeProblem(
            f"git still lists a worktree at {path}, but the directory is gone",
            f"git worktree remove --force {path} (or restore the directory)",
        )


def registered_worktrees(project: Project) -> tuple[Path, ...]:
    """The paths of every worktree that git lists, the main one first."""
    listed = project.git().run("worktree", "list", "--porcelain", "-z").stdout
    return tuple(
        Path(os.fsdecode(line.removeprefix(b"worktree ")))
        for line in listed.split(b"\0")
        if line.startswith(b"worktree ")
    )


def create_worktree(project: Project, place: Place) -> Path:
    """Register worktree and branch, without checking anything out; return the worktree's git directory.

    The caller holds the project's lock: parallel `git worktree add` fails about one time in five.
    `--no-track` because a base such as `origin/main` would else become the upstream that a bare push goes to.
    """
    place.path.parent.mkdir(parents=True, exist_ok=True)
    git = project.git()
    try:
        git.run(
            "worktree", "add", "--quiet", "--no-checkout", "--no-track", "-b", place.branch, str(place.path), place.base
        )
    except ProcessFault as exc:
        raise WorktreeProblem(f"git worktree add failed: {last_line(exc)}") from exc
    return git_directory(project, place.path)


def git_directory(project: Project, worktree: Path) -> Path:
    """The worktree's own git directory (`<common>/worktrees/NAME`), real path."""
    return Path(os.path.realpath(project.git(worktree).text("rev-parse", "--path-format=absolute", "--git-dir")))


def check_out(project: Project, place: Place) -> tuple[str, ...]:
    """Fill the worktree, then run the person's post-checkout hook as `git worktree add` would; return warnings.

    A hook that fails is reported and tolerated: the worktree is complete, and the hook's other work is the person's.
    """
    git = project.git(place.path)
    try:
        git.run("-c", "core.hooksPath=/dev/null", "checkout", "--quiet", timeout=1800)
    except ProcessFault as exc:
        raise GitProblem(f"the checkout in {place.path} failed: {last_line(exc)}", "the spawn was undone") from exc
    null = "0" * len(place.base)
    try:
        hook = git.run(
            "hook", "run", "--ignore-missing", "post-checkout", "--", null, place.base, "1", check=False, timeout=1800
        )
    except ProcessFault as exc:
        return (f"the post-checkout hook did not end: {exc.message}",)
    if hook.code == 0:
        return ()
    said = os.fsdecode(hook.stderr).strip().splitlines()
    return (f"the post-checkout hook failed with exit code {hook.code}" + (f": {said[-1]}" if said else ""),)


def has_changes(project: Project, worktree: Path) -> bool:
    """Whether the worktree holds anything that its HEAD does not: staged, unstaged or untracked."""
    return bool(project.git(worktree).status())


def undo_worktree(project: Project, place: Place, *, agent_ran: bool) -> bool:
    """Undo `create_worktree`, whatever part of it happened; False when work is in it, which is then all kept.

    Before the agent ran, only git and the person's own hook have written there, so nothing in it is work.
    The branch goes only while its tip is still the base.
    """
    git = project.git()
    if place.path.is_dir() and (place.path / ".git").is_file():
        if agent_ran and (project.git(place.path).commit("HEAD") != place.base or has_changes(project, place.path)):
            return False
        git.run("worktree", "remove", "--force", str(place.path), check=False)
    if place.path.is_dir() and not any(place.path.iterdir()):
        place.path.rmdir()
    if git.commit(f"refs/heads/{place.branch}") == place.base and not _checked_out(project, place.branch):
        git.run("update-ref", "-d", f"refs/heads/{place.branch}", place.base, check=False)
    remove_empty_parent(place.path.parent)
    return True


def _checked_out(project: Project, branch: str) -> bool:
    listed = project.git().run("worktree", "list", "--porcelain", "-z").stdout
    return f"branch refs/heads/{branch}".encode() in listed.split(b"\0")


def remove_empty_parent(folder: Path) -> None:
    if folder.name.endswith(".worktrees") and folder.is_dir() and not any(folder.iterdir()):
        shutil.rmtree(folder, ignore_errors=True)
