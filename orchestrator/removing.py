"""Removing an agent's worktree and branch: everything in it is kept first, and each step is journalled."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.agent import Agent, Status
from orchestrator.capture import capture
from orchestrator.deleting import aside_path, delete_branch, delete_worktree, forget
from orchestrator.errors import UsageProblem, WorkAtRisk
from orchestrator.gate import Permit, require_removable
from orchestrator.kept import kept_ref
from orchestrator.liveness import require_over
from orchestrator.locks import held
from orchestrator.operation import operation, without_operation, write_step
from orchestrator.project import Project
from orchestrator.records import Records
from orchestrator.seams import remove_agent_hygiene

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Removed:
    """What a removal did. `kept` is the ref that holds what was there; `notes` are one-line facts for the person."""

    agent: Agent
    kept: str | None
    branch_deleted: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Removal:
    """How to remove. `keep`: also with work in it. `include`: patterns of ignored files to keep. `teardown`: runs the
    project's own commands before. `here`: the person's directory."""

    keep: bool = False
    include: Sequence[str] = ()
    teardown: Callable[[Agent], object] | None = None
    here: Path | None = None


def remove_agent(project: Project, records: Records, agent: Agent, removal: Removal, *, tell: Tell) -> Removed:
    """Remove worktree and branch of one agent; its record, output and logs stay.

    Refuses with WorkAtRisk while there is uncommitted or unmerged work, unless `keep` is set; with WorktreeProblem
    whatever is not a worktree that orch made for this agent; and a running agent. Whatever goes is kept first, work or
    not. After a crash, the same call goes on.
    """
    require_over(records, agent)
    with held(project.lock, tell):
        # It may have been resumed while we waited.
        agent = require_over(records, records.agent(agent.id) or agent)
        if agent.status is Status.REMOVED and operation(agent) is None:
            raise UsageProblem(f"agent {agent.id} is removed already", f"orch restore {agent.id} brings it back")
        return _removed(project, records, agent, removal, tell)


def _removed(project: Project, records: Records, agent: Agent, removal: Removal, tell: Tell) -> Removed:
    begun = operation(agent)
    if begun is not None and begun["kind"] == "rm" and begun["step"] == "kept" and not os.path.lexists(agent.worktree):
        return _finish(project, records, agent, _permit_of(agent, begun), begun.get("ref"), ())
    if (
        begun is not None
        and begun["kind"] == "restore"
        and begun["step"] == "branch"
        and os.path.lexists(agent.worktree)
    ):
        # It was registered, and not yet marked as ours: nothing proves that it is.
        raise UsageProblem(
            f"orch restore of agent {agent.id} was interrupted", f"first let it go on: orch restore {agent.id}"
        )
    # A half-restored worktree always differs; an interrupted removal goes on as it was meant.
    keep = removal.keep or (begun is not None and (begun["kind"] == "restore" or bool(begun.get("keep"))))
    permit = require_removable(project, agent, keep=keep, here=removal.here)
    if begun is not None and begun["kind"] == "restore":
        # Half restored: the kept state is still the whole one, and must not be kept anew from a half.
        ref: str | None = kept_ref(agent.id)
    else:
        if removal.teardown is not None and permit.worktree is not None and begun is None:
            removal.teardown(agent)
            # What ran there may have changed anything.
            permit = require_removable(project, agent, keep=keep, here=removal.here)
        write_step(records, agent.id, "rm", "begun", keep=keep)
        ref = _keep(project, agent, permit, removal.include)
    identity = None if permit.identity is None else list(permit.identity)
    write_step(
        records,
        agent.id,
        "rm",
        "kept",
        ref=ref,
        identity=identity,
        gitdir=None if permit.gitdir is None else str(permit.gitdir),
        branch=permit.branch,
        tip=permit.tip,
    )
    notes = (permit.stays,) if permit.stays else ()
    return _finish(project, records, agent, permit, ref, notes)


def _permit_of(agent: Agent, begun: dict[str, Any]) -> Permit:
    """The permit that the interrupted command had, from its journal; every deletion checks identities again.

    The directory is away from its place by then: it stands aside, or is gone.
    """
    identity = begun.get("identity")
    aside = aside_path(Path(agent.worktree), agent.id)
    return Permit(
        agent_id=agent.id,
        worktree=Path(agent.worktree) if os.path.lexists(aside) else None,
        gitdir=Path(begun["gitdir"]) if begun.get("gitdir") else None,
        identity=None if identity is None else (int(identity[0]), int(identity[1])),
        branch=begun.get("branch"),
        tip=begun.get("tip"),
        risks=(),
    )


def _keep(project: Project, agent: Agent, permit: Permit, include: Sequence[str]) -> str | None:
    if permit.worktree is not None and permit.gitdir is not None:
        before = project.git(permit.worktree).status()
        kept = capture(project, agent, permit.gitdir, include=include)
        if project.git(permit.worktree).status() != before:
            raise WorkAtRisk(f"something still changes files in {permit.worktree}", "end it, then repeat the command")
        return kept.ref
    if permit.tip is None:
        return None
    ref = kept_ref(agent.id)
    project.git().run("update-ref", "-m", "orch: keep", ref, permit.tip)
    return ref


def _finish(
    project: Project, records: Records, agent: Agent, permit: Permit, ref: str | None, notes: tuple[str, ...]
) -> Removed:
    delete_worktree(project, permit)
    forget(project, Path(agent.worktree), permit)
    deleted = delete_branch(project, permit)
    remove_agent_hygiene(project, agent.id)
    agent = records.change_agent(agent.id, lambda a: without_operation(a).changed(status=Status.REMOVED))
    records.add_event("removed", agent.id, kept=ref, branch_deleted=deleted)
    left = None if permit.branch is None or deleted else project.git().commit(f"refs/heads/{permit.branch}")
    if left is not None:
        why = "could not be deleted" if left == permit.tip else "has moved on meanwhile"
        notes = (*notes, f"the branch {permit.branch} {why} and stays")
    return Removed(agent=agent, kept=ref, branch_deleted=deleted, notes=notes)
