"""Deleting what a permit of the gate names, in steps that can each be repeated after a crash."""

import os
import shutil
from pathlib import Path

from orchestrator.errors import OrchError, WorktreeProblem
from orchestrator.gate import Permit, claimed, looks_like_git_directory, protected_branches
from orchestrator.project import Project
from orchestrator.registrations import registrations
from orchestrator.worktree import remove_empty_parent


def aside_path(worktree: Path, agent_id: str) -> Path:
    """Where a worktree is moved first: from that moment nobody works in it by its name."""
    return worktree.with_name(f".{worktree.name}.removed-{agent_id}")


def delete_worktree(project: Project, permit: Permit) -> None:
    """Delete directory and registration. The caller holds the project's lock and has kept the content.

    Raises WorktreeProblem when something has changed since the permit was given: then nothing more is deleted.
    """
    path = permit.worktree
    if path is None:
        return
    aside = aside_path(path, permit.agent_id)
    if not os.path.lexists(aside):
        _require_same(path, permit)
        try:
            path.rename(aside)
        except OSError as exc:
            raise WorktreeProblem(f"{path} cannot be moved away: {exc.strerror}", "is it a mount point?") from exc
    _require_same(aside, permit)
    _delete_tree(aside)
    forget(project, path, permit)
    remove_empty_parent(path.parent)


def _require_same(path: Path, permit: Permit) -> None:
    found = path.lstat() if os.path.lexists(path) else None
    same = found is not None and (found.st_dev, found.st_ino) == permit.identity
    if not same or path.is_symlink() or not path.is_dir() or looks_like_git_directory(path):
        raise WorktreeProblem(f"{path} is not what it was a moment ago; it was not touched", "orch doctor")


def _delete_tree(path: Path) -> None:
    failed: list[OSError] = []
    # A read-only folder (a Go module cache, say) does not let its files go.
    for folder, _, _ in os.walk(path):
        info = Path(folder).lstat()
        if info.st_mode & 0o700 != 0o700:
            Path(folder).chmod(info.st_mode | 0o700)

    def note(_function: object, _path: str, info: tuple[type[BaseException], BaseException, object]) -> None:
        if isinstance(info[1], OSError):
            failed.append(info[1])

    shutil.rmtree(path, onerror=note)
    if failed:
        raise OrchError(
            f"{failed[0].filename} cannot be deleted: {failed[0].strerror}", "its content is kept; repeat the command"
        )


def forget(project: Project, path: Path, permit: Permit) -> None:
    """Take the registration away: this one alone, where `git worktree prune` would take all whose place is missing."""
    if permit.gitdir is None or claimed(permit.gitdir) != permit.agent_id or os.path.lexists(path):
        return
    if any(each.path == path for each in registrations(project)[1:]):
        project.git().run("worktree", "remove", "--force", str(path))


def delete_branch(project: Project, permit: Permit) -> bool:
    """Delete the branch if its tip still is the one that was kept; never one that is protected or checked out."""
    if permit.branch is None or permit.tip is None or permit.branch in protected_branches(project):
        return False
    if any(each.branch == permit.branch for each in registrations(project)):
        return False
    git = project.git()
    return git.run("update-ref", "-d", f"refs/heads/{permit.branch}", permit.tip, check=False).code == 0
