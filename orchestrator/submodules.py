"""Filling the submodules of a new worktree from what the repository has of them already: no network is used.

`git worktree add` leaves them empty, and `git submodule update --init` would fetch each one again, since every linked
worktree keeps its own copies (git 2.39). Here they are cloned from the copy that another worktree has, by hard links.
The repository's own configuration is not written to.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.git import Git, last_line
from orchestrator.place import Place
from orchestrator.process import ProcessFault
from orchestrator.project import Project

_DEPTH = 8


@dataclass(frozen=True, kw_only=True)
class _Level:
    """A checkout with submodules: where it is, what it is called from the top, and where copies of them may be."""

    top: Path
    prefix: str
    stores: tuple[Path, ...]


def fill_submodules(project: Project, place: Place) -> tuple[str, ...]:
    """Fill the submodules of a new worktree, theirs too; return a warning that names those that stay empty."""
    if not (place.path / ".gitmodules").is_file():
        return ()
    linked = sorted((project.common_dir / "worktrees").glob("*/modules"))
    level = _Level(top=place.path, prefix="", stores=(project.common_dir / "modules", *linked))
    empty = list(_fill(level, _DEPTH))
    if not empty:
        return ()
    what = "stays empty" if len(empty) == 1 else "stay empty"
    command = f"cd '{place.path}' && git submodule update --init --recursive"
    return (f"submodule {', '.join(empty)} {what}; with the network: {command}",)


def _fill(level: _Level, depth: int) -> Iterator[str]:
    git = Git(cwd=level.top)
    for name, path in _submodules(git):
        shown = f"{level.prefix}{path}"
        stores = [store for base in level.stores if (store := base / name).is_dir()]
        if not stores or depth == 0:
            yield f"{shown} (there is no copy of it here)"
            continue
        try:
            _clone(git, name, path, stores[0])
        except ProcessFault as exc:
            yield f"{shown} ({last_line(exc)})"
            continue
        inner = _Level(top=level.top / path, prefix=f"{shown}/", stores=tuple(store / "modules" for store in stores))
        if (inner.top / ".gitmodules").is_file():
            yield from _fill(inner, depth - 1)


def _submodules(git: Git) -> list[tuple[str, str]]:
    """Name and path of each submodule that the index really has."""
    listed = git.run("config", "-z", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$", check=False)
    found = []
    for record in listed.stdout.split(b"\0")[:-1]:
        key, _, path = record.partition(b"\n")
        name = os.fsdecode(key.removeprefix(b"submodule.").removesuffix(b".path"))
        # A name is a path below the git directory; git refuses these too.
        if name.startswith("/") or ".." in name.split("/"):
            continue
        staged = git.run("ls-files", "-z", "--stage", "--", f":(literal){os.fsdecode(path)}").stdout
        if staged.startswith(b"160000 "):
            found.append((name, os.fsdecode(path)))
    return found


def _clone(git: Git, name: str, path: str, store: Path) -> None:
    key = f"submodule.{name}"
    given = {
        "protocol.file.allow": "always",
        f"{key}.url": str(store),
        f"{key}.active": "true",
        f"{key}.update": "checkout",
    }
    # By variables: `-c` cannot say a name with `=` in it.
    environ = {"GIT_CONFIG_COUNT": str(len(given))}
    for number, (setting, value) in enumerate(given.items()):
        environ |= {f"GIT_CONFIG_KEY_{number}": setting, f"GIT_CONFIG_VALUE_{number}": value}
    git.with_environ(environ).run("submodule", "--quiet", "update", "--init", "--", f":(literal){path}", timeout=1800)
    inside = Git(cwd=git.cwd / path)
    url = Git(cwd=store).run("--git-dir=.", "config", "--get", "remote.origin.url", check=False)
    if url.code == 0:
        inside.run("config", "remote.origin.url", url.text)
        if git.config(f"{key}.url") is None:
            # Only below the top: there the configuration is the agent's own copy.
            git.run("config", f"{key}.url", url.text)
