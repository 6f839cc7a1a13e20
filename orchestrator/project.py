"""The project: one repository, identified by its git common directory, whatever worktree a command runs in."""

import os
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import ProjectProblem
from orchestrator.git import Git
from orchestrator.process import ProcessFault


@dataclass(frozen=True, kw_only=True)
class Project:
    """A repository as orch sees it.

    `common_dir` is the absolute git common directory: the project's identity. `main` is the main checkout, None in
    a bare layout. `root` is the top of the worktree that the command runs in (`common_dir` when in none).
    """

    common_dir: Path
    main: Path | None
    root: Path

    @property
    def state(self) -> Path:
        """Everything machine-local of ours: shared by all worktrees, in no tree, gone with the clone."""
        return self.common_dir / "orch"

    @property
    def agents(self) -> Path:
        """The directories of the agents, one each."""
        return self.state / "agents"

    @property
    def lock(self) -> Path:
        """The lock for everything that changes worktrees, refs or git configuration."""
        return self.state / "worktrees.lock"

    @property
    def records(self) -> Path:
        """The records' database."""
        return self.state / "records.db"

    @property
    def memory_path(self) -> Path | None:
        """The memory file; None in a bare layout, where the default branch's tree holds it."""
        return None if self.main is None else self.main / ".orch" / "memory.md"

    @property
    def config_path(self) -> Path | None:
        """The shared config file; None in a bare layout."""
        return None if self.main is None else self.main / ".orch" / "config.yml"

    @property
    def name(self) -> str:
        """The repository's name: its folder's, without `.git`."""
        base = self.main if self.main is not None else self.common_dir
        if base.name in (".git", ".bare"):
            base = base.parent
        return base.name.removesuffix(".git") or "repository"

    def git(self, cwd: Path | None = None) -> Git:
        """Git, run in `cwd` (default: the main checkout, or the common directory of a bare layout)."""
        return Git(cwd=cwd or self.main or self.common_dir)


def load_project(cwd: Path) -> Project:
    """Find the project that `cwd` belongs to.

    Raises ProjectProblem outside a repository and where git is missing.
    """
    git = Git(cwd=cwd)
    try:
        found = git.text("rev-parse", "--path-format=absolute", "--git-common-dir", "--is-bare-repository")
    except ProcessFault as exc:
        raise _no_repository(cwd, exc) from exc
    common_text, _, _bare = found.rpartition("\n")
    common = Path(os.path.realpath(common_text))
    try:
        root = Path(git.text("rev-parse", "--path-format=absolute", "--show-toplevel"))
    except ProcessFault:
        root = common
    return Project(common_dir=common, main=_main_checkout(git, common), root=root)


def _no_repository(cwd: Path, fault: ProcessFault) -> ProjectProblem:
    if fault.finished is None:
        return ProjectProblem("git cannot be started", "install git 2.39 or later and put it on PATH")
    said = os.fsdecode(fault.finished.stderr)
    if "dubious ownership" in said:
        return ProjectProblem(
            f"git does not trust the owner of the repository at {cwd}",
            f"git config --global --add safe.directory {cwd}",
        )
    return ProjectProblem(f"{cwd} is not in a git repository", "cd into one, or make one: git init && git commit")


def _main_checkout(git: Git, common: Path) -> Path | None:
    """The first worktree that git lists is the main one; it is marked bare where there is no checkout."""
    listed = git.run("worktree", "list", "--porcelain", "-z").stdout
    first = listed.split(b"\0\0", 1)[0].split(b"\0")
    if b"bare" in first or not first[0].startswith(b"worktree "):
        return None
    main = Path(os.fsdecode(first[0].removeprefix(b"worktree ")))
    # `.bare/` layouts: core.bare may be unset, and git then names the directory that holds the git directory.
    if not (main / ".git").exists():
        return None
    return Path(os.path.realpath(main))
