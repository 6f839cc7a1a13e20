"""What an agent has changed: its branch and its worktree against its base, seen through a throw-away index."""

import os
from dataclasses import dataclass
from pathlib import Path

from orchestrator.agent import Agent
from orchestrator.errors import WorktreeProblem
from orchestrator.git import Git
from orchestrator.kept import head_of_kept
from orchestrator.project import Project


@dataclass(frozen=True, kw_only=True)
class Changes:
    """All that differs from the base. `commits` are full ids, oldest first; `files` are (status letter, path)."""

    agent_id: str
    base: str
    commits: tuple[str, ...]
    files: tuple[tuple[str, str], ...]
    diff: bytes


def load_changes(project: Project, agent: Agent, *, stat: bool = False) -> Changes:
    """Compare with the base: commits, staged, unstaged and untracked files together.

    The agent's own index is not touched, nor anything else of it. Once the worktree is gone, the branch is compared.
    Raises WorktreeProblem when neither is there any more.
    """
    worktree = Path(agent.worktree)
    shape = ["--stat"] if stat else ["--patch", "--binary"]
    if worktree.is_dir():
        git = project.git(worktree)
        tree = snapshot_tree(git, worktree)
        head = git.commit("HEAD") or agent.base
    else:
        git = project.git()
        found = git.commit(f"refs/heads/{agent.branch}") or git.commit(f"refs/orch/kept/{agent.id}")
        if found is None:
            raise WorktreeProblem(f"agent {agent.id} has neither a worktree nor a branch any more", "orch ls --all")
        head, tree = head_of_kept(git, found), found
    listed = git.run("diff", "--name-status", "-z", "--no-renames", agent.base, tree).stdout
    return Changes(
        agent_id=agent.id,
        base=agent.base,
        commits=tuple(git.text("rev-list", "--reverse", f"{agent.base}..{head}").split()),
        files=_pairs(listed),
        diff=git.run("diff", *shape, agent.base, tree).stdout,
    )


def snapshot_tree(git: Git, worktree: Path) -> str:
    """Write the worktree's content (untracked files too, ignored ones not) as a tree object; return its id.

    It goes through a copy of the index, so what the agent has staged stays as it is.
    """
    index = Path(git.text("rev-parse", "--path-format=absolute", "--git-path", "index"))
    with git.folder("index") as folder:
        copy = folder / "index"
        if index.exists():
            copy.write_bytes(index.read_bytes())
        other = git.with_environ({"GIT_INDEX_FILE": os.fspath(copy)})
        other.run("add", "--all", "--ignore-errors", "--", ".", check=False)
        return other.text("write-tree")


def _pairs(listed: bytes) -> tuple[tuple[str, str], ...]:
    fields = listed.split(b"\0")[:-1]
    return tuple(
        (os.fsdecode(status), os.fsdecode(path)) for status, path in zip(fields[::2], fields[1::2], strict=True)
    )
