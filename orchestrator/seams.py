"""Choosing the seam for an agent, and the life of the block where the seam is a file."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from adapters.adapter import Adapter
from orchestrator.base_entry import load_entry, load_worktree_entry, user_file
from orchestrator.config_schema import Config
from orchestrator.errors import GitProblem, SeamProblem
from orchestrator.git import Git
from orchestrator.place import Place
from orchestrator.project import Project
from orchestrator.worktree import git_directory
from projection.faults import HygieneFault, ProjectionFault
from projection.filter import clean
from projection.hygiene import (
    Hygiene,
    hide_paths,
    is_hidden,
    remove_block_hygiene,
    remove_hygiene,
    unhide,
    write_hygiene,
)
from projection.placement import remove_block, write_block
from projection.seam import HeadEntry, SeamPlan, plan_seam

__all__ = [
    "SeamPlan",
    "change_seam",
    "choose_seam",
    "hide_files",
    "place_block",
    "remove_agent_block",
    "remove_agent_hygiene",
    "unhide",
    "write_block_hygiene",
]


@contextmanager
def _mapped() -> Iterator[None]:
    try:
        yield
    except HygieneFault as exc:
        raise GitProblem(exc.message, exc.hint) from exc
    except ProjectionFault as exc:
        raise SeamProblem(exc.message, exc.hint) from exc


def choose_seam(project: Project, config: Config, adapter: Adapter, place: Place, text: str) -> SeamPlan:
    """Plan how the text reaches the backend; changes nothing. Raises SeamProblem where no way is open."""
    if not text:
        return plan_seam(adapter, "auto", head_entry=HeadEntry(), text="")
    name = None if adapter.file_seam is None else adapter.file_seam.name
    entry = load_entry(project, place.base, name, adapter.reads)
    with _mapped():
        return plan_seam(adapter, config.seam(adapter.name), head_entry=entry, text=text)


def write_block_hygiene(project: Project, agent_id: str, gitdir: Path, plan: SeamPlan) -> None:
    """Write the git configuration of the agent's worktree, before its checkout. The caller holds the project's lock."""
    if plan.file is None:
        return
    with _mapped():
        write_hygiene(_hygiene(project, agent_id, gitdir), plan.file, plan.block, sys.executable, hide=plan.made)


def hide_files(project: Project, agent_id: str, gitdir: Path, names: tuple[str, ...]) -> None:
    """Let git not see these files in the agent's worktree. The caller holds the project's lock."""
    if not names:
        return
    with _mapped():
        hide_paths(_hygiene(project, agent_id, gitdir), names)


def _hygiene(project: Project, agent_id: str, gitdir: Path) -> Hygiene:
    return Hygiene(
        common_dir=project.common_dir,
        gitdir=gitdir,
        agent_dir=project.agents / agent_id,
        agent_id=agent_id,
        user_excludes=user_file(project, "core.excludesFile", "ignore"),
        user_attributes=user_file(project, "core.attributesFile", "attributes"),
    )


def place_block(project: Project, place: Place, plan: SeamPlan) -> None:
    """Make the file with the block where the checkout did not: the base commit has none, or git left it out."""
    if plan.file is None:
        return
    path = place.path / plan.file
    git = project.git(place.path)
    if not plan.made and not path.is_symlink() and not path.exists():
        # A sparse checkout leaves it out. A block alone would then be, to git, the deletion of all the rest.
        git.run("checkout", "--ignore-skip-worktree-bits", "--", f":(literal){plan.file}")
    with _mapped():
        placed = write_block(place.path, plan.file, plan.block)
    if placed.changed and not plan.made:
        refresh_entry(git, plan.file)


def remove_agent_block(project: Project, agent_id: str, worktree: Path, name: str) -> None:
    """Take an agent's block out of its worktree, with the git configuration for it; a file that orch made goes.

    For a handoff to another backend, and for a resume with nothing to carry. The caller holds the project's lock.
    """
    folder = project.agents / agent_id
    with _mapped():
        placed = remove_block(worktree, name, made=is_hidden(folder, name), old=_block_of(folder))
        remove_block_hygiene(_hygiene(project, agent_id, git_directory(project, worktree)))
    if placed.changed and (worktree / name).exists():
        refresh_entry(project.git(worktree), name)


def change_seam(
    project: Project,
    config: Config,
    adapter: Adapter,
    agent_id: str,
    worktree: Path,
    text: str,
    *,
    old_file: str | None = None,
) -> SeamPlan:
    """Choose the seam for a worktree that exists, and carry the text there if it is a file; git sees no change.

    `old_file` is where the agent's block is now: it goes first, so that no backend meets two. Where no way is open
    (SeamProblem), nothing has been changed. The caller holds the project's lock.
    """
    name = None if adapter.file_seam is None else adapter.file_seam.name
    entry = load_worktree_entry(project, worktree, name, adapter.reads)
    folder = project.agents / agent_id
    if old_file is not None:
        entry = _without_block(entry, name, old_file, _block_of(folder), made=is_hidden(folder, old_file))
    with _mapped():
        plan = plan_seam(adapter, config.seam(adapter.name), head_entry=entry, text=text)
    if old_file is not None:
        remove_agent_block(project, agent_id, worktree, old_file)
    if plan.file is None:
        return plan
    write_block_hygiene(project, agent_id, git_directory(project, worktree), plan)
    with _mapped():
        placed = write_block(worktree, plan.file, plan.block)
    if placed.changed:
        refresh_entry(project.git(worktree), plan.file)
    return plan


def _without_block(entry: HeadEntry, name: str | None, old_file: str, block: bytes | None, *, made: bool) -> HeadEntry:
    """The entry as it will be once the agent's block is gone."""
    if old_file not in entry.documents and name != old_file:
        return replace(entry, beside=entry.beside - {old_file}) if made else entry
    left = clean(entry.documents.get(old_file, b""), block)
    gone = made and not left.strip()
    documents = {each: data for each, data in entry.documents.items() if each != old_file}
    if not gone:
        documents[old_file] = left
    if name != old_file:
        return replace(entry, documents=documents, beside=entry.beside - {old_file} if gone else entry.beside)
    if entry.kind != "file":
        return entry
    return replace(entry, documents=documents, content=left, kind="absent" if gone else "file")


def _block_of(folder: Path) -> bytes | None:
    block = folder / "block"
    return block.read_bytes() if block.is_file() else None


def refresh_entry(git: Git, name: str) -> None:
    """Let git compare the file's content anew after we changed it on disk; stages nothing.

    Git takes a tracked file of another size for modified without a look; an entry without a size makes it look.
    """
    entries = git.run("ls-files", "-z", "--stage", "--", f":(literal){name}").stdout.split(b"\0")
    if len(entries) != 2:
        return  # not tracked, or a conflict that has to stay one
    mode, blob, _ = entries[0].partition(b"\t")[0].decode().split(" ")
    git.run("update-index", "--cacheinfo", f"{mode},{blob},{name}")
    git.run("update-index", "-q", "--refresh", check=False)


def remove_agent_hygiene(project: Project, agent_id: str) -> None:
    """Take the agent's git configuration away. The caller holds the project's lock."""
    with _mapped():
        remove_hygiene(project.common_dir, agent_id)
