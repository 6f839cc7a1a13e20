"""The paths that entries name, checked against the repository: which of them are there no more."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memory.paths import named_paths
from orchestrator.process import ProcessFault
from orchestrator.project import Project

_PATIENCE_SECONDS = 20.0
_GLOB = frozenset("*?[")


@dataclass(kw_only=True)
class Grounds:
    """Answers which path of a text has gone; `texts` are all that may be asked about, so that git walks once.
    `keep` writes what was found into the machine-local state, for the next time.

    A path has gone when it is not in the main checkout, and the history of HEAD says that it once was: a name that
    git never knew (a generated folder, a content type) is no evidence of anything.
    """

    project: Project
    texts: Sequence[str] = ()
    keep: bool = True
    _gone: frozenset[str] | None = field(default=None, init=False)

    def missing(self, text: str) -> str | None:
        """The first path in `text` that has gone, None when none has."""
        absent = [path for path in named_paths(text) if not _exists(self.project, path)]
        if not absent:
            return None
        if self._gone is None:
            every = {path for each in self.texts for path in named_paths(each) if not _exists(self.project, path)}
            self._gone = _once_there(self.project, every | set(absent), keep=self.keep)
        return next((path for path in absent if path in self._gone), None)


def _exists(project: Project, path: str) -> bool:
    main = project.main
    if _GLOB & set(path):
        if main is not None and "**" not in path and any(True for _ in main.glob(path)):
            return True
        return bool(project.git().run("ls-files", "-z", "--", f":(glob){path}", check=False).stdout)
    if main is not None:
        return os.path.lexists(main / path)
    return project.git().succeeds("cat-file", "-e", f"HEAD:{path.rstrip('/')}")


def _once_there(project: Project, paths: set[str], *, keep: bool) -> frozenset[str]:
    """Those of the paths that the history of HEAD has deleted; answers are kept for the next time."""
    git = project.git()
    head = git.commit("HEAD")
    if head is None:
        return frozenset()
    cache = project.state / "paths.json"
    gone, never = _cached(cache, head)
    asked = paths - gone - never
    if not asked:
        return frozenset(paths & gone)
    globs = {path for path in asked if _GLOB & set(path)}
    try:
        found = _deleted(project, asked - globs)
        found |= {path for path in globs if _deleted_glob(project, path)}
    except ProcessFault:
        return frozenset(paths & gone)  # a history too long to walk: no evidence, so nothing is stale
    gone |= found
    if keep:
        _write_cache(cache, head, gone, never | (asked - found))
    return frozenset(paths & gone)


def _deleted(project: Project, paths: Iterable[str]) -> set[str]:
    wanted = sorted(paths)
    if not wanted:
        return set()
    names = project.git().run(
        *("log", "-z", "--format=", "--name-only", "--no-renames", "--diff-filter=D", "HEAD", "--"),
        *(f":(literal){path.rstrip('/')}" for path in wanted),
        timeout=_PATIENCE_SECONDS,
    )
    deleted = {os.fsdecode(name).strip("\n") for name in names.stdout.split(b"\0") if name.strip(b"\n")}
    parents = {str(parent) for name in deleted for parent in Path(name).parents}
    return {path for path in wanted if path.rstrip("/") in deleted or path.rstrip("/") in parents}


def _deleted_glob(project: Project, pattern: str) -> bool:
    found = project.git().run(
        *("log", "-1", "--format=%H", "--no-renames", "--diff-filter=D", "HEAD", "--", f":(glob){pattern}"),
        timeout=_PATIENCE_SECONDS,
    )
    return bool(found.stdout.strip())


def renamed_to(project: Project, path: str) -> str | None:
    """Where git saw a path go, None when it was deleted; followed while the new name has gone as well."""
    git = project.git()
    seen = {path}
    for _ in range(10):
        commit = git.run(
            *("log", "-1", "--format=%H", "--no-renames", "--diff-filter=D", "HEAD", "--", f":(literal){path}"),
            check=False,
        ).text
        if not commit:
            return None
        listed = git.run(
            *("diff-tree", "-r", "-z", "-M", "--root", "--no-commit-id", "--name-status", "--diff-filter=R", commit)
        ).stdout.split(b"\0")
        moves = {os.fsdecode(old): os.fsdecode(new) for old, new in zip(listed[1::3], listed[2::3], strict=False)}
        if path not in moves or moves[path] in seen:
            return None
        path = moves[path]
        if _exists(project, path):
            return path
        seen.add(path)
    return None


def _cached(path: Path, head: str) -> tuple[set[str], set[str]]:
    """What is known: paths that history once had (for good), and those that it never had (until HEAD moves)."""
    try:
        data = json.loads(path.read_bytes())
        return set(data["gone"]), set(data["never"]) if data["head"] == head else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set(), set()


def _write_cache(path: Path, head: str, gone: set[str], never: set[str]) -> None:
    from orchestrator.memory_file import replace_file

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps({"head": head, "gone": sorted(gone), "never": sorted(never)}).encode())
    except OSError:
        return  # only a cache
