"""Choosing the seam: a pure plan from what the base commit holds and what the backend can read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from adapters.adapter import Adapter, FileSeam
from projection.block import has_markers, render_block
from projection.faults import PlacementFault, SeamFault
from projection.filter import BEGIN, BOM, bare, is_text
from projection.placement import check_name

Setting = Literal["auto", "file", "launch"]
Kind = Literal["none", "file", "launch"]


@dataclass(frozen=True, kw_only=True)
class HeadEntry:
    """What stands at the seam's file name, in the base commit or in an existing worktree.

    `content` is that of a plain file. `attributes` are git's for that path, without ours (`filter`,
    `working-tree-encoding`), those that are set to a value. `beside` are the names of everything next to it.
    `documents` are the plain files next to it, or the file itself, that the backend reads anyway.
    """

    kind: Literal["absent", "file", "symlink", "directory", "submodule", "special"] = "absent"
    content: bytes = b""
    writable: bool = True
    attributes: Mapping[str, str] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()
    documents: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SeamPlan:
    """How the text reaches the backend, and why so, in one line. `made` says that the file will be ours alone."""

    kind: Kind
    reason: str
    file: str | None = None
    made: bool = False
    block: bytes = b""


def plan_seam(adapter: Adapter, setting: Setting, *, head_entry: HeadEntry, text: str, other_docs: int = 0) -> SeamPlan:
    """Choose how `text` is carried to the backend.

    `auto` takes the backend's default seam, and the launch seam where the file cannot be used safely. `other_docs` is
    the size in bytes of the other files that count towards the cap of the file.
    Where the repository's own files carry the very text already, nothing is added: it would be met twice.
    Raises SeamFault when the setting, or any seam, is impossible; BlockFault when the text cannot be a block.
    """
    if not text:
        return SeamPlan(kind="none", reason="there is nothing to carry")
    if adapter.file_seam is None and adapter.launch_seam is None:
        return SeamPlan(kind="none", reason=f"{adapter.name} has no seam: it does not get the memory")
    carrier = _committed_carrier(head_entry, text)
    if carrier is not None:
        return SeamPlan(kind="file", reason=f"the repository's own {carrier} holds exactly this text in a block")
    if setting == "launch":
        return _forced_launch(adapter)
    if setting == "file" or adapter.launch_seam is None or (adapter.file_seam and adapter.default_seam == "file"):
        return _by_file(adapter, setting, head_entry, text, other_docs)
    return _launch(adapter, "the default")


def _committed_carrier(entry: HeadEntry, text: str) -> str | None:
    """The name of a committed document that holds the very text, in a block of ours."""
    if not any(BEGIN in content for content in entry.documents.values()):
        return None
    block = [bare(line) for line in render_block(text).splitlines()]
    for name, content in sorted(entry.documents.items()):
        lines = [bare(line) for line in content.removeprefix(BOM).splitlines()]
        if any(lines[at : at + len(block)] == block for at, line in enumerate(lines) if line == BEGIN):
            return name
    return None


def _by_file(adapter: Adapter, setting: Setting, entry: HeadEntry, text: str, other_docs: int) -> SeamPlan:
    seam = adapter.file_seam
    if seam is None:
        raise SeamFault(f"{adapter.name} reads no file that could carry the memory", "use projection.seam: auto")
    block = render_block(text)
    obstacle = _obstacle(seam, entry, block, other_docs)
    if obstacle is None:
        reason = "the default" if setting == "auto" else "projection.seam is file"
        made = entry.kind == "absent"
        return SeamPlan(kind="file", reason=f"{reason}: a block in {seam.name}", file=seam.name, made=made, block=block)
    what, hint = obstacle
    if setting == "auto" and adapter.launch_seam is not None:
        return _launch(adapter, what)
    other = "use projection.seam: launch, or " if adapter.launch_seam is not None else ""
    raise SeamFault(f"the memory cannot be carried to {adapter.name} in {seam.name}: {what}", other + hint)


def _forced_launch(adapter: Adapter) -> SeamPlan:
    if adapter.launch_seam is None:
        raise SeamFault(
            f"{adapter.name} has no launch seam: it can get the memory from a file only", "use projection.seam: auto"
        )
    return _launch(adapter, "projection.seam is launch")


def _launch(adapter: Adapter, reason: str) -> SeamPlan:
    described = adapter.launch_seam.describe if adapter.launch_seam is not None else ""
    return SeamPlan(kind="launch", reason=f"{reason}: {described}")


def _obstacle(seam: FileSeam, entry: HeadEntry, block: bytes, other_docs: int) -> tuple[str, str] | None:
    """Why the file cannot be used, and what helps (with `--no-memory` as the last resort); None when it can be."""
    try:
        check_name(seam.name)
    except PlacementFault as exc:
        return exc.message, exc.hint
    return _wrong_kind(seam, entry) or _wrong_content(seam, entry) or _unread(seam, entry, block, other_docs)


_SPAWN_WITHOUT = "spawn with --no-memory"


def _wrong_kind(seam: FileSeam, entry: HeadEntry) -> tuple[str, str] | None:
    if entry.kind not in ("absent", "file"):
        article = "a symbolic link" if entry.kind == "symlink" else f"a {entry.kind}"
        what = "a special file" if entry.kind == "special" else article
        return f"{seam.name} is {what}, and a block is written into plain files only", _SPAWN_WITHOUT
    if not entry.writable:
        return f"{seam.name} cannot be written", f"make it writable: chmod u+w {seam.name}"
    return None


def _wrong_content(seam: FileSeam, entry: HeadEntry) -> tuple[str, str] | None:
    if not is_text(entry.content):
        return f"{seam.name} is no UTF-8 text", _SPAWN_WITHOUT
    if has_markers(entry.content):
        return (
            f"the repository's own {seam.name} holds a block of orch's memory already",
            f"delete the lines from '<!-- orch:memory begin -->' to '… end -->' in {seam.name} and commit that",
        )
    driver = entry.attributes.get("filter")
    if driver is not None:
        return f"{seam.name} has the git filter {driver!r}, beside which no other can run", _SPAWN_WITHOUT
    encoding = entry.attributes.get("working-tree-encoding")
    if encoding is not None and encoding.upper() not in ("UTF-8", "UTF8"):
        return f"{seam.name} is checked out as {encoding}", _SPAWN_WITHOUT
    return None


def _unread(seam: FileSeam, entry: HeadEntry, block: bytes, other_docs: int) -> tuple[str, str] | None:
    total = len(entry.content) + len(block) + other_docs
    if seam.cap is not None and total > seam.cap:
        return (
            f"with the block, {seam.name} and what is read beside it have {total} bytes, and only {seam.cap} are read",
            f"shorten {seam.name}, or set a smaller memory.budget.bytes",
        )
    shadow = next((name for name in seam.shadowed_by if name in entry.beside), None)
    if shadow is not None:
        return f"{shadow} is read in place of {seam.name}", f"move what {shadow} says to {seam.name}"
    hidden = next((name for name in seam.hides if name in entry.beside), None)
    if entry.kind == "absent" and hidden is not None:
        return f"a new {seam.name} would keep the backend from reading {hidden}", f"commit {seam.name} first"
    return None
