"""Git, run as a program: arguments in, bytes out, with an environment that points nowhere else."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.config import environment
from orchestrator.process import Finished, ProcessFault, run, scrubbed

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_REGISTRATION_SECONDS = 3.0


@dataclass(frozen=True, kw_only=True)
class Git:
    """Git commands in one directory. Every method raises ProcessFault when git fails, unless it says otherwise.

    `scratch` is where the project's temporary folders are; None outside a project.
    """

    cwd: Path
    environ: tuple[tuple[str, str], ...] = ()
    scratch: Path | None = None

    def with_environ(self, environ: Mapping[str, str]) -> "Git":
        """The same git with some variables set."""
        return replace(self, environ=(*self.environ, *environ.items()))

    def at(self, cwd: Path) -> "Git":
        """Git in another directory, of the same project."""
        return Git(cwd=cwd, scratch=self.scratch)

    def folder(self, purpose: str) -> "AbstractContextManager[Path]":
        """A temporary folder for the time of a block, for a throw-away index and such things."""
        from orchestrator.scratch import scratch_folder

        return scratch_folder(self.scratch, purpose)

    def run(self, *args: str, check: bool = True, stdin: bytes | None = None, timeout: float = 120) -> Finished:
        """Run `git ARGS` here; `timeout` in seconds."""
        environ = {**git_environment(), **dict(self.environ)}
        return run(["git", *args], cwd=self.cwd, environ=environ, check=check, stdin=stdin, timeout=timeout)

    def text(self, *args: str) -> str:
        """Standard output of `git ARGS`, without its last newline; undecodable bytes kept by surrogateescape."""
        return self.run(*args).text

    def succeeds(self, *args: str) -> bool:
        """Whether `git ARGS` exits with 0."""
        return self.run(*args, check=False).code == 0

    def commit(self, rev: str) -> str | None:
        """The full id of the commit that `rev` names, None when it names none."""
        # `--end-of-options` makes git take a revision that starts with `-` as what it is.
        found = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}", check=False)
        return found.text if found.code == 0 else None

    def branch(self) -> str | None:
        """The branch that is checked out here, None on a detached HEAD."""
        found = self.run("symbolic-ref", "--quiet", "--short", "HEAD", check=False)
        return found.text if found.code == 0 else None

    def config(self, key: str) -> str | None:
        """The last value of a configuration key, paths expanded; None when unset."""
        kind = ["--type=path"] if key.endswith("File") else []
        found = self.run("config", *kind, "--get", key, check=False)
        return found.text if found.code == 0 else None

    def worktrees(self) -> bytes:
        """`git worktree list --porcelain -z`, the main one first.

        Git 2.39 fails when it meets a registration that another process is just writing (`failed to read
        …/commondir`), so it is asked again for a while.
        """
        listing = ("worktree", "list", "--porcelain", "-z")
        until = time.monotonic() + _REGISTRATION_SECONDS
        while time.monotonic() < until:
            found = self.run(*listing, check=False)
            if found.code == 0 or b"commondir" not in found.stderr + found.stdout:
                break
            time.sleep(0.02)
        return self.run(*listing).stdout if found.code != 0 else found.stdout

    def status(self) -> bytes:
        """`git status --porcelain -z`, untracked files each, submodules included."""
        return self.run("status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=none").stdout


def git_environment() -> dict[str, str]:
    """The environment for our own git processes: no `GIT_DIR` of a calling hook, no prompts, stable messages."""
    environ = scrubbed(environment())
    environ["GIT_TERMINAL_PROMPT"] = "0"
    environ["GIT_OPTIONAL_LOCKS"] = "0"
    environ["LC_ALL"] = "C"
    return environ


def last_line(fault: ProcessFault) -> str:
    """The last thing that git said on stderr, without `fatal: `."""
    if fault.finished is None:
        return fault.message
    lines = [line.strip() for line in os.fsdecode(fault.finished.stderr).splitlines() if line.strip()]
    return lines[-1].removeprefix("fatal: ").removeprefix("error: ") if lines else fault.message
