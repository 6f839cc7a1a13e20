"""The project: one repository, identified by its git common directory, whatever worktree a command runs in."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.errors import ProjectProblem

if TYPE_CHECKING:
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
    def mirrors(self) -> Path:
        """The list of the files that carry a copy of the memory; there while there are any."""
        return self.state / "mirrors.json"

    @property
    def scratch(self) -> Path:
        """Where temporary folders are made."""
        return self.state / "scratch"

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

    def git(self, cwd: Path | None = None) -> "Git":
        """Git, run in `cwd` (default: the main checkout, or the common directory of a bare layout)."""
        from orchestrator.git import Git

        return Git(cwd=cwd or self.main or self.common_dir, scratch=self.scratch)


def here() -> Path:
    """The current directory. Raises ProjectProblem where it has been deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError as exc:
        raise ProjectProblem("the current directory has been deleted", "cd to the repository") from exc


def load_project(cwd: Path) -> Project:
    """Find the project that `cwd` belongs to.

    Raises ProjectProblem outside a repository and where git is missing.
    """
    plain = _plain_checkout(cwd)
    if plain is not None:
        return Project(common_dir=plain / ".git", main=plain, root=plain)
    # Only here: starting processes is not needed for a plain checkout, and takes its time to load.
    from orchestrator.git import Git

    git = Git(cwd=cwd)
    common, own, top = _places(git, cwd)
    root = common if top is None else top
    # A checkout whose git directory is the common one is the main one, wherever that directory stands. In a `.bare/`
    # layout without core.bare, git takes the folder around it for one, but nothing was ever checked out there.
    checked_out = top is not None and own == common and (common.name == ".git" or (common / "index").exists())
    main = Path(os.path.realpath(root)) if checked_out else _main_checkout(git, common)
    return Project(common_dir=common, main=main, root=root)


def _plain_checkout(cwd: Path) -> Path | None:
    """The top of an ordinary main checkout, seen without asking git; None for everything that is not surely one.

    Three runs of git take longer than most commands of ours. Whatever moves the checkout or the git directory (a
    setting, a file in place of the directory, another owner) is left to git, and so is a folder inside `.git`.
    """
    start = Path(os.path.realpath(cwd))
    if any(part.endswith(".git") or part == ".bare" for part in start.parts):
        return None
    for top in (start, *start.parents):
        if (top / "HEAD").exists() and (top / "objects").exists():
            return None  # git takes this folder itself for a git directory
        found = top / ".git"
        if not os.path.lexists(found):
            continue
        try:
            config = (found / "config").read_bytes().lower()
            own = not found.is_symlink() and found.stat().st_uid == top.stat().st_uid == os.geteuid()
        except OSError:
            return None
        whole = (
            all((found / name).exists() for name in ("HEAD", "objects", "refs")) and not (found / "commondir").exists()
        )
        odd = any(word in config for word in (b"worktree", b"bare = true", b"bare=true", b"include", b"\tbare\n"))
        return top if own and whole and not odd else None
    return None


_COMMON = ("rev-parse", "--path-format=absolute", "--git-common-dir")
_OWN = ("rev-parse", "--path-format=absolute", "--git-dir")
_TOP = ("rev-parse", "--path-format=absolute", "--show-toplevel")


def _places(git: "Git", cwd: Path) -> tuple[Path, Path, Path | None]:
    """The common git directory and the own one (real paths), and the top of the worktree, None where there is none."""
    from orchestrator.process import ProcessFault

    # All in one call where that can be read: every orch command begins with it. A path may hold a newline.
    found = git.run(*_COMMON, "--git-dir", "--show-toplevel", check=False)
    lines = found.text.split("\n")
    if found.code == 0 and len(lines) == 3:
        return Path(os.path.realpath(lines[0])), Path(os.path.realpath(lines[1])), Path(lines[2])
    try:
        common, own = (Path(os.path.realpath(git.text(*words))) for words in (_COMMON, _OWN))
    except ProcessFault as exc:
        raise _no_repository(cwd, exc) from exc
    top = git.run(*_TOP, check=False)
    return common, own, Path(top.text) if top.code == 0 else None


def _no_repository(cwd: Path, fault: "ProcessFault") -> ProjectProblem:
    if fault.finished is None:
        return ProjectProblem("git cannot be started", "install git 2.39 or later and put it on PATH")
    said = os.fsdecode(fault.finished.stderr)
    if "dubious ownership" in said:
        return ProjectProblem(
            f"git does not trust the owner of the repository at {cwd}",
            f"git config --global --add safe.directory {cwd}",
        )
    return ProjectProblem(f"{cwd} is not in a git repository", "cd into one, or make one: git init && git commit")


def _main_checkout(git: "Git", common: Path) -> Path | None:
    """The first worktree that git lists is the main one; it is marked bare where there is no checkout."""
    listed = git.worktrees()
    first = listed.split(b"\0\0", 1)[0].split(b"\0")
    if b"bare" in first or not first[0].startswith(b"worktree "):
        return None
    main = Path(os.fsdecode(first[0].removeprefix(b"worktree ")))
    # `.bare/` layouts: core.bare may be unset, and git then names the directory that holds the git directory.
    if not (main / ".git").exists():
        return _submodule_checkout(git, common)
    return Path(os.path.realpath(main))


def _submodule_checkout(git: "Git", common: Path) -> Path | None:
    """A submodule's checkout is named by its configuration; git (2.39) lists its git directory instead."""
    for name in ("config.worktree", "config"):
        found = git.run("config", "--file", str(common / name), "--get", "core.worktree", check=False)
        if found.code == 0 and (common / found.text / ".git").is_file():
            return Path(os.path.realpath(common / found.text))
    return None


def load_superproject(project: Project) -> Path | None:
    """The checkout that a submodule stands in, the outermost one; None for what is no submodule."""
    if project.main is None:
        return None
    outermost = None
    at = project.main
    for _ in range(20):
        from orchestrator.git import Git

        found = Git(cwd=at).run("rev-parse", "--show-superproject-working-tree", check=False)
        if found.code != 0 or not found.text:
            break
        at = outermost = Path(found.text)
    return outermost
