"""What is kept of an agent when its worktree goes: the shape of `refs/orch/kept/<id>`.

The ref names a commit whose tree is the worktree's content, for people (`git diff REF^1 REF`, `git show REF:path`). Its
first parent is the HEAD of then; its second one is a commit that holds, as plain bytes, what git's own objects cannot
say: the index as it was, modes, files that git ignores, a rebase in progress, the git directories of submodules. From
that second commit `orch restore` brings everything back.
"""

import json
import os
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from orchestrator.errors import GitProblem
from orchestrator.git import Git
from orchestrator.project import Project

PREFIX = "refs/orch/kept/"
MANIFEST = "manifest.json"
FILES = "files"
_VERSION = 1


def kept_ref(agent_id: str) -> str:
    """The ref under which an agent's work is kept when its worktree goes."""
    return f"{PREFIX}{agent_id}"


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing on disk. `path` is relative to the worktree (`area` tree) or to its git directory (`area` git).

    `kind` is file, link, folder (an empty one of git's) or gone (deleted there, though the index has it). `mode` are
    the permission bits. The content is the blob `files/<number>` of the second commit.
    """

    area: str
    path: str
    kind: str
    mode: int = 0
    number: int = -1


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What the second commit holds. `head` is the ref that HEAD named, None when detached; `nested` are the paths of
    repositories inside the worktree (submodules and others); `name` is that of its git directory."""

    agent: dict[str, Any]
    worktree: str
    name: str
    head: str | None
    head_commit: str | None
    branch: str | None
    branch_tip: str | None
    nested: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()
    version: int = field(default=_VERSION)

    def to_bytes(self) -> bytes:
        """JSON; undecodable bytes of a path are written as lone surrogates."""
        value = asdict(self)
        value["items"] = [[item.area, item.path, item.kind, item.mode, item.number] for item in self.items]
        return json.dumps(value, ensure_ascii=True, default=str, indent=0).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote. Raises ValueError, KeyError or TypeError for anything else."""
        value = json.loads(data)
        if value["version"] != _VERSION:
            raise ValueError(f"version {value['version']}")
        value["items"] = tuple(
            Item(area=area, path=path, kind=kind, mode=int(mode), number=int(number))
            for area, path, kind, mode, number in value["items"]
        )
        value["nested"], value["notes"] = tuple(value["nested"]), tuple(value["notes"])
        known = {entry.name for entry in fields(cls)}
        return cls(**{name: each for name, each in value.items() if name in known})


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A kept agent: the commit that the ref names, and the manifest, None where only a branch's tip was kept."""

    ref: str
    commit: str
    manifest: Manifest | None = None
    second: str | None = None


def load_kept(project: Project, agent_id: str) -> Kept | None:
    """What is kept of the agent, None when nothing is. Raises GitProblem when the ref holds something else."""
    git = project.git()
    ref = kept_ref(agent_id)
    commit = git.commit(ref)
    if commit is None:
        return None
    second = git.commit(f"{commit}^2")
    if second is None:
        return Kept(ref=ref, commit=commit)
    found = git.run("cat-file", "blob", f"{second}:{MANIFEST}", check=False)
    if found.code != 0:
        return Kept(ref=ref, commit=commit)
    try:
        manifest = Manifest.from_bytes(found.stdout)
    except (ValueError, KeyError, TypeError) as exc:
        raise GitProblem(f"{ref} was not written by this version of orch ({exc})", f"git show {ref}") from exc
    for item in manifest.items:
        _check(item.path, ref)
    for path in manifest.nested:
        _check(path, ref)
    return Kept(ref=ref, commit=commit, manifest=manifest, second=second)


def _check(path: str, ref: str) -> None:
    """An agent can write refs too: no path may lead out of the worktree."""
    parts = path.split("/")
    if path.startswith("/") or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise GitProblem(f"{ref} holds the path {path!r}, which leads out of the worktree", f"git show {ref}")


def head_of_kept(git: Git, commit: str) -> str:
    """The commit that was checked out when a kept commit was made; the commit itself where it is a plain one."""
    if git.succeeds("cat-file", "-e", f"{commit}^2:{MANIFEST}"):
        return git.commit(f"{commit}^1") or commit
    return commit


def blob_contents(git: Git, second: str, numbers: tuple[int, ...]) -> dict[int, bytes]:
    """The contents of `files/<number>` by number, from one git process."""
    if not numbers:
        return {}
    asked = "".join(f"{second}:{FILES}/{number}\n" for number in numbers).encode()
    data = git.run("cat-file", "--batch", stdin=asked, timeout=1800).stdout
    found: dict[int, bytes] = {}
    at = 0
    for number in numbers:
        line, _, _ = data[at : at + 200].partition(b"\n")
        size = os.fsdecode(line).rsplit(" ", 1)[-1]
        if not size.isdigit():
            raise GitProblem(f"{second} lacks {FILES}/{number}", f"git fsck; git show {second}")
        begin = at + len(line) + 1
        found[number] = data[begin : begin + int(size)]
        at = begin + int(size) + 1
    return found
