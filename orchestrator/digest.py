"""The digest of a finished agent: what it did, from git and its record, for people and for what learns from it."""

import logging
import os
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memory.secrets import find_secret
from orchestrator.agent import Agent
from orchestrator.changes import snapshot_tree
from orchestrator.errors import OrchError
from orchestrator.git import Git
from orchestrator.project import Project, load_project
from orchestrator.records import Records, now

_log = logging.getLogger("orch.digest")

_KEY = "digest"
# A digest is read by people and put into prompts; an agent may have touched a hundred thousand files.
_MOST = 500


@dataclass(frozen=True, kw_only=True)
class Digest:
    """What an agent did. `seconds` is the wall time of its latest run.

    `commits` are (id, subject) since the base, oldest first. `files` are (status letter, path, lines added, lines
    deleted) against the base, committed or not; lines are None for binary ones. `uncommitted` are (the two letters of
    `git status`, path). Long lists are cut, their counts are not. `checks` are the latest results of `orch check`, None
    when it did not run. `message` is what the agent said last, None when it holds a secret (`held` says of what kind).
    `usage` is the token use as the adapter reported it.
    """

    at: str
    outcome: str
    reason: str
    seconds: float | None
    head: str | None
    commits: tuple[tuple[str, str], ...] = ()
    commit_count: int = 0
    files: tuple[tuple[str, str, int | None, int | None], ...] = ()
    file_count: int = 0
    uncommitted: tuple[tuple[str, str], ...] = ()
    uncommitted_count: int = 0
    checks: tuple[dict[str, Any], ...] | None = None
    message: str | None = None
    held: str | None = None
    usage: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON object with every field."""
        return asdict(self)


def load_digest(project: Project, records: Records, agent: Agent) -> Digest:
    """Make the digest of an agent that has ended, from its worktree, or its branch where that is gone.

    Nothing of the worktree is changed. Raises an OrchError when git cannot answer.
    """
    worktree = Path(agent.worktree)
    there = (worktree / ".git").is_file()
    git = project.git(worktree if there else None)
    head = git.commit("HEAD" if there else f"refs/heads/{agent.branch}")
    commits = _commits(git, agent.base, head) if head else ()
    content = snapshot_tree(git, worktree) if there else head
    files = _files(git, agent.base, content) if content else ()
    uncommitted = _uncommitted(git) if there else ()
    held = _secret(agent.message)
    return Digest(
        at=now(),
        outcome=agent.outcome.value if agent.outcome is not None else agent.status.value,
        reason=agent.reason,
        seconds=_seconds(agent),
        head=head,
        commits=commits[:_MOST],
        commit_count=len(commits),
        files=files[:_MOST],
        file_count=len(files),
        uncommitted=uncommitted[:_MOST],
        uncommitted_count=len(uncommitted),
        checks=_checks(records, agent),
        message=None if held else agent.message,
        held=held,
        usage=agent.usage,
    )


def write_digest(records: Records, common_dir: Path, agent_id: str) -> dict[str, Any] | None:
    """Make the digest and store it in the agent's record. A failure is logged and noted there, never raised."""
    try:
        agent = records.require_agent(agent_id)
        digest = load_digest(load_project(common_dir), records, agent).to_json()
        records.change_agent(agent.id, lambda a: a.changed(extra={**a.extra, _KEY: digest}))
    except (OrchError, OSError, ValueError) as exc:
        _log.warning("no digest of agent %s: %s", agent_id, exc)
        return None
    return digest


def digest_of(agent: Agent) -> dict[str, Any] | None:
    """The stored digest of an agent's latest run; None while it runs, and where none could be made."""
    found = agent.extra.get(_KEY)
    return found if isinstance(found, dict) and not agent.live else None


def note_checks(records: Records, agent_id: str, checks: list[dict[str, Any]]) -> None:
    """Put the results of checks that ran later into the stored digest."""

    def change(agent: Agent) -> Agent:
        known = digest_of(agent)
        return agent if known is None else agent.changed(extra={**agent.extra, _KEY: {**known, "checks": checks}})

    records.change_agent(agent_id, change)


def _commits(git: Git, base: str, head: str) -> tuple[tuple[str, str], ...]:
    listed = git.run("log", "--reverse", "-z", "--format=%H %s", f"{base}..{head}").stdout
    pairs = (os.fsdecode(record).partition(" ") for record in listed.split(b"\0") if record)
    return tuple((commit, subject) for commit, _, subject in pairs)


def _files(git: Git, base: str, content: str) -> tuple[tuple[str, str, int | None, int | None], ...]:
    names = git.run("diff", "--name-status", "-z", "--no-renames", base, content).stdout.split(b"\0")[:-1]
    letters = {path: os.fsdecode(letter) for letter, path in zip(names[::2], names[1::2], strict=True)}
    counts = git.run("diff", "--numstat", "-z", "--no-renames", base, content).stdout.split(b"\0")[:-1]
    found = []
    for record in counts:
        added, deleted, path = record.split(b"\t", 2)
        lines = (None, None) if added == b"-" else (int(added), int(deleted))
        found.append((letters.get(path, "M"), os.fsdecode(path), *lines))
    return tuple(found)


def _uncommitted(git: Git) -> tuple[tuple[str, str], ...]:
    records = iter(git.status().split(b"\0"))
    found = []
    for record in records:
        if len(record) < 4:
            continue
        found.append((os.fsdecode(record[:2]), os.fsdecode(record[3:])))
        if record[:1] in b"RC":
            next(records, None)  # the name before
    return tuple(found)


def _checks(records: Records, agent: Agent) -> tuple[dict[str, Any], ...] | None:
    since = agent.begun or agent.created
    ran = [event for event in records.events(agent.id) if event.kind == "checked" and event.at >= since]
    return tuple(ran[-1].detail.get("checks", ())) if ran else None


def _secret(text: str | None) -> str | None:
    found = find_secret(text) if text else None
    return None if found is None else found[1]


def _seconds(agent: Agent) -> float | None:
    if agent.started is None or agent.ended is None:
        return None
    spent = datetime.fromisoformat(agent.ended) - datetime.fromisoformat(agent.started)
    return round(spent.total_seconds(), 3)
