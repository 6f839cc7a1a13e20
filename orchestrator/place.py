"""Where an agent is to work: a branch, a path and a base commit, chosen and checked before anything is changed."""

import os
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import ProjectProblem, UsageProblem, WorktreeProblem
from orchestrator.git import Git
from orchestrator.project import Project, load_superproject
from orchestrator.registrations import Registration, registrations

_SLUG_WORDS = 5
_SLUG_LENGTH = 40
# Most file systems take 255 bytes for a name; what stands below has to fit into 4096 with it.
_FOLDER_BYTES = 100


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an agent works: a branch from a commit, and a path. `base_name` is what the person called the commit.

    `notes` are one-line facts that the person should read.
    """

    branch: str
    path: Path
    base: str
    base_name: str
    notes: tuple[str, ...] = ()


def slug(text: str) -> str:
    """A short name for a task: its first words, ASCII, lower case; "task" when nothing is left."""
    words = re.findall(r"[a-z0-9]+", text[:400].lower())
    return "-".join(words[:_SLUG_WORDS])[:_SLUG_LENGTH].strip("-") or "task"


def plan_place(
    project: Project, *, agent_id: str, task: str, branch: str | None, base: str | None, directory: str | None
) -> Place:
    """Choose branch, path and base commit, and check that nothing is in the way; changes nothing.

    Raises ProjectProblem (no commit), UsageProblem (bad branch or base), WorktreeProblem (branch, path or registration
    in the way).
    """
    git = project.git(project.root)
    base_name = base if base is not None else (git.branch() or "HEAD")
    commit = git.commit(base if base is not None else "HEAD")
    if commit is None:
        raise _no_base(git, base, base_name)
    branches = git.text("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").splitlines()
    name = branch if branch is not None else _free_branch(branches, f"{slug(task)}-{agent_id}")
    listed = registrations(project)
    superproject = load_superproject(project)
    parent = _parent_directory(project, directory, superproject)
    path = parent / _folder(name, agent_id)
    if any(entry.path == path and entry.branch != name and not entry.missing for entry in listed):
        # `feat/x` and `feat-x` would share a folder.
        path = parent / f"{path.name}-{agent_id}"
    _check_branch(git, name, branches, path, listed)
    _check_path(path, listed)
    notes = (
        *_submodule_notes(project, superproject),
        *_nesting_notes(project, path),
        *(_behind(git) if base is None else ()),
    )
    return Place(branch=name, path=path, base=commit, base_name=base_name, notes=notes)


def _no_base(git: Git, base: str | None, base_name: str) -> ProjectProblem | UsageProblem:
    if base is not None:
        return UsageProblem(f"--base {base_name!r} names no commit", "git branch --all lists the branches")
    others = git.text("for-each-ref", "--count=1", "--format=%(refname:short)", "refs/heads", "refs/remotes")
    if others:
        return UsageProblem(f"HEAD is on {base_name}, which has no commit yet", f"name one: --base {others}")
    return ProjectProblem(
        "this repository has no commit yet, so there is nothing to branch from",
        "git commit --allow-empty -m 'first commit'",
    )


def _behind(git: Git) -> tuple[str, ...]:
    """A note where the branch is behind its upstream, as of the last fetch: nothing is fetched here."""
    upstream = git.run("rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}", check=False)
    if upstream.code != 0:
        return ()
    count = git.run("rev-list", "--count", "HEAD..@{upstream}", check=False)
    if count.code != 0 or count.text == "0":
        return ()
    commits = "1 commit" if count.text == "1" else f"{count.text} commits"
    return (f"the base is {commits} behind {upstream.text}; --base {upstream.text} starts from there",)


def _free_branch(branches: list[str], name: str) -> str:
    # A branch that is itself called `orch` (or, on some disks, `Orch`) leaves no room for `orch/…`: refs are paths.
    first = {branch.split("/")[0] for branch in branches if _folded(branch.split("/")[0]) == "orch"}
    taken = "orch" in branches or bool(first - {"orch"})
    return f"orch-{name}" if taken else f"orch/{name}"


def _folder(branch: str, agent_id: str) -> str:
    name = branch.removeprefix("orch/").replace("/", "-")
    if len(os.fsencode(name)) <= _FOLDER_BYTES:
        return name
    return os.fsencode(name)[:_FOLDER_BYTES].decode("utf-8", "ignore").rstrip("-. ") + f"-{agent_id}"


def _parent_directory(project: Project, directory: str | None, superproject: Path | None) -> Path:
    # Git lists worktrees by their real path, and the record has to name them as git does.
    return Path(os.path.realpath(_chosen_directory(project, directory, superproject)))


def _chosen_directory(project: Project, directory: str | None, superproject: Path | None) -> Path:
    base = project.main if project.main is not None else project.common_dir
    if directory:
        return Path(os.path.normpath(base / Path(directory).expanduser()))
    if superproject is not None:
        # Beside the superproject: in it, they would be untracked files of its checkout.
        return superproject.parent / f"{superproject.name}.{project.name}.worktrees"
    if project.main is None and base.name in (".git", ".bare"):
        # Such a bare layout keeps its worktrees beside the git directory.
        return base.parent
    return base.parent / f"{project.name}.worktrees"


def _folded(name: str) -> str:
    """A name as a file system sees it that knows neither case nor the two ways to write an accent."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _check_branch(git: Git, name: str, branches: list[str], path: Path, listed: tuple[Registration, ...]) -> None:
    if name.startswith("-") or not git.succeeds("check-ref-format", f"refs/heads/{name}"):
        raise UsageProblem(f"{name!r} is no valid branch name", "git help check-ref-format tells the rules")
    if name in branches or git.succeeds("show-ref", "--verify", "--quiet", f"refs/heads/{name}"):
        raise WorktreeProblem(
            f"the branch {name} exists already{_where(name, path, listed)}",
            f"choose another --branch, or start from it with --base {name}",
        )
    parts = name.split("/")
    for other in branches:
        theirs = other.split("/")
        at = next((at for at, pair in enumerate(zip(parts, theirs, strict=False)) if pair[0] != pair[1]), None)
        if at is None:
            raise WorktreeProblem(
                f"the branch {other} leaves no room for {name} (git keeps refs as paths)", "choose another --branch"
            )
        if _folded(parts[at]) == _folded(theirs[at]):
            raise WorktreeProblem(
                f"the branch {name} differs from {other} only by case, which some disks cannot tell apart",
                f"choose another --branch, such as {'/'.join([*theirs[: at + 1], *parts[at + 1 :]])}-2",
            )


def _where(name: str, path: Path, listed: tuple[Registration, ...]) -> str:
    """What git and the disk say about an existing branch, where they disagree or where it is in use."""
    holder = next((entry for entry in listed if entry.branch == name), None)
    if holder is None:
        return f", and {path} too, which git does not list as a worktree" if os.path.lexists(path) else ""
    if holder.missing:
        return f", and git still lists a worktree of it at {holder.path}, where there is none any more"
    return f" and is checked out at {holder.path}"


def _check_path(path: Path, listed: tuple[Registration, ...]) -> None:
    entry = next((entry for entry in listed if entry.path == path), None)
    force = "--force --force" if entry is not None and entry.locked else "--force"
    if entry is not None and entry.missing:
        there = "holds no worktree any more" if os.path.lexists(path) else "is gone"
        of = f" of the branch {entry.branch}" if entry.branch else ""
        raise WorktreeProblem(
            f"git still lists a worktree{of} at {path}, but the directory {there}",
            f"bring the directory back, or, if that is what you want: git worktree remove {force} '{path}'",
        )
    if not os.path.lexists(path):
        return
    if entry is not None:
        raise WorktreeProblem(f"{path} is a worktree of this repository already", "choose another --branch")
    lost = " (it was a worktree, but git does not list it any more)" if (path / ".git").is_file() else ""
    raise WorktreeProblem(
        f"the path {path} is in the way: it exists, without a registration or a branch of that name{lost}",
        "move it away, or choose another --branch",
    )


def _submodule_notes(project: Project, superproject: Path | None) -> tuple[str, ...]:
    if superproject is None:
        return ()
    return (
        f"{project.main} is a submodule of {superproject}: "
        "the agent works on the submodule's own repository, and the superproject stays as it is",
    )


def _nesting_notes(project: Project, path: Path) -> tuple[str, ...]:
    """A note about a folder inside the main checkout; refused where it would show up there, or harm the repository."""
    if path.is_relative_to(project.common_dir) and path.parent != project.common_dir.parent:
        raise WorktreeProblem(
            f"worktrees.dir would put worktrees into the git directory {project.common_dir}",
            "set another worktrees.dir",
        )
    around = next((top for top in (project.main, project.root) if top is not None and path.is_relative_to(top)), None)
    if around is None or around == project.common_dir:
        return ()
    folder = path.parent.relative_to(around)
    git = project.git(around)
    if not git.succeeds("check-ignore", "--quiet", f"./{path.relative_to(around)}/"):
        raise WorktreeProblem(
            f"worktrees.dir is inside the checkout {around}, where the worktrees would be untracked files",
            f"unset worktrees.dir, or ignore the folder: echo '/{folder}/' >> {around}/.gitignore",
        )
    return (f"worktrees.dir is inside {around}: backends that read context files of parent folders read those too",)
