"""Worktrees: made on a branch of their own from an explicit base, undone without losing work."""

import os
import shutil
import time
from pathlib import Path

from orchestrator.errors import GitProblem, WorktreeProblem
from orchestrator.git import Git, last_line
from orchestrator.largefiles import WITHOUT_LARGE_FILES, needs_large_files, pointer_notes
from orchestrator.place import Place
from orchestrator.process import ProcessFault
from orchestrator.project import Project
from orchestrator.registrations import registrations
from orchestrator.submodules import fill_submodules

_CHECKOUT_SECONDS = 1800.0
_RETRY_PAUSES = (0.1, 0.2, 0.4, 0.8)
_IN_USE = (b"commondir", b".lock", b"cannot lock ref")


def registered_worktrees(project: Project) -> tuple[Path, ...]:
    """The paths of every worktree that git lists, the main one first."""
    return tuple(entry.path for entry in registrations(project))


def create_worktree(project: Project, place: Place) -> Path:
    """Register worktree and branch, without checking anything out; return the worktree's git directory.

    The caller holds the project's lock: parallel `git worktree add` fails about one time in five.
    `--no-track` because a base such as `origin/main` would else become the upstream that a bare push goes to.
    It runs in the person's own worktree, so that a sparse checkout there is inherited.
    """
    try:
        place.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise WorktreeProblem(
            f"cannot make the folder {place.path.parent}: {exc.strerror}",
            "set worktrees.dir to a folder that can be written",
        ) from exc
    _add_worktree(project, place)
    return git_directory(project, place.path)


def _add_worktree(project: Project, place: Place) -> None:
    git = project.git(project.root)
    new: tuple[str, ...] = ("--no-track", "-b", place.branch, str(place.path), place.base)
    for pause in (*_RETRY_PAUSES, None):
        try:
            git.run("worktree", "add", "--quiet", "--no-checkout", *new)
            return
        except ProcessFault as exc:
            said = b"" if exc.finished is None else exc.finished.stderr
            if pause is None or not any(sign in said for sign in _IN_USE):
                raise WorktreeProblem(f"git worktree add failed: {last_line(exc)}", _add_hint(project)) from exc
            # Another program works on the repository at this moment; our lock holds back only our own.
            time.sleep(pause)
            if git.commit(f"refs/heads/{place.branch}") == place.base:
                # Git makes the branch first, and leaves it when the rest fails.
                new = (str(place.path), place.branch)


def _add_hint(project: Project) -> str:
    return "" if os.access(project.common_dir, os.W_OK) else f"{project.common_dir} cannot be written: check its owner"


def git_directory(project: Project, worktree: Path) -> Path:
    """The worktree's own git directory (`<common>/worktrees/NAME`), real path."""
    return Path(os.path.realpath(project.git(worktree).text("rev-parse", "--path-format=absolute", "--git-dir")))


def check_out(project: Project, place: Place) -> tuple[str, ...]:
    """Fill the worktree, then run the person's post-checkout hook as `git worktree add` would; return warnings.

    A hook that fails is reported and tolerated: the worktree is complete, and the hook's other work is the person's.
    """
    git = project.git(place.path)
    notes = (*_fill(git, place), *fill_submodules(project, place))
    null = "0" * len(place.base)
    try:
        hook = git.run(
            "hook",
            "run",
            "--ignore-missing",
            "post-checkout",
            "--",
            null,
            place.base,
            "1",
            check=False,
            timeout=_CHECKOUT_SECONDS,
        )
    except ProcessFault as exc:
        return (*notes, f"the post-checkout hook did not end: {exc.message}")
    if hook.code == 0:
        return notes
    said = os.fsdecode(hook.stderr).strip().splitlines()
    return (*notes, f"the post-checkout hook failed with exit code {hook.code}" + (f": {said[-1]}" if said else ""))


def _fill(git: Git, place: Place) -> tuple[str, ...]:
    try:
        git.run("-c", "core.hooksPath=/dev/null", "checkout", "--quiet", timeout=_CHECKOUT_SECONDS)
    except ProcessFault as exc:
        if not needs_large_files(git, place.base):
            raise GitProblem(f"the checkout in {place.path} failed: {last_line(exc)}", "the spawn was undone") from exc
        # git-lfs is configured, but cannot run or cannot download: its pointers are better than no agent.
        git.run(*WITHOUT_LARGE_FILES, "checkout", "--quiet", "--force", timeout=_CHECKOUT_SECONDS)
        return (f"git-lfs failed ({last_line(exc)}), so the checkout was made without it", *pointer_notes(git, place))
    return pointer_notes(git, place) if needs_large_files(git, place.base) else ()


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
    elif not os.path.lexists(place.path) and any(entry.path == place.path for entry in registrations(project)[1:]):
        # A hook has deleted the directory: this registration goes, no other.
        git.run("worktree", "remove", "--force", str(place.path), check=False)
    if place.path.is_dir() and not any(place.path.iterdir()):
        place.path.rmdir()
    if git.commit(f"refs/heads/{place.branch}") == place.base and not _checked_out(project, place.branch):
        git.run("update-ref", "-d", f"refs/heads/{place.branch}", place.base, check=False)
    remove_empty_parent(place.path.parent)
    return True


def _checked_out(project: Project, branch: str) -> bool:
    listed = project.git().worktrees()
    return f"branch refs/heads/{branch}".encode() in listed.split(b"\0")


def remove_empty_parent(folder: Path) -> None:
    if folder.name.endswith(".worktrees") and folder.is_dir() and not any(folder.iterdir()):
        shutil.rmtree(folder, ignore_errors=True)
