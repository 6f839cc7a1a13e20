"""Merging without any checkout: two commits in, a tree or the names of conflicting files out (`git merge-tree`)."""

import os
from dataclasses import dataclass

from orchestrator.git import Git, last_line
from orchestrator.process import ProcessFault

# The same bytes each time, for commits that only serve a computation and are never shown.
SCRATCH = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "orch"), ("EMAIL", "orch@localhost"), ("DATE", "2000-01-01T00:00:00Z"))
}


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The tree (with conflict markers in it where there are conflicts), and the paths in conflict."""

    tree: str
    conflicts: tuple[str, ...] = ()


def merge_commits(git: Git, ours: str, theirs: str) -> Merged:
    """Merge two commits by their merge base; histories without one are an error. Raises ProcessFault."""
    done = git.run("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs, check=False)
    if done.code not in (0, 1):
        raise ProcessFault(
            last_line(ProcessFault("git merge-tree failed", finished=done)), f"git merge-tree {ours} {theirs}", done
        )
    fields = [field for field in done.stdout.split(b"\0") if field]
    return Merged(
        tree=os.fsdecode(fields[0]),
        conflicts=tuple(dict.fromkeys(os.fsdecode(field) for field in fields[1:])) if done.code else (),
    )


def pick_commit(git: Git, onto: str, commit: str) -> Merged:
    """The change that `commit` makes to its first parent, made to `onto`: a cherry-pick.

    Git 2.39 cannot name the base of a merge-tree, so both sides are given a common parent that has its tree.
    """
    base = scratch_commit(git, git.text("rev-parse", f"{commit}^1^{{tree}}"))
    ours = scratch_commit(git, git.text("rev-parse", f"{onto}^{{tree}}"), base)
    theirs = scratch_commit(git, git.text("rev-parse", f"{commit}^{{tree}}"), base)
    return merge_commits(git, ours, theirs)


def scratch_commit(git: Git, tree: str, *parents: str) -> str:
    """A commit for a computation; nothing names it, so git collects it."""
    named = [word for parent in parents for word in ("-p", parent)]
    return git.with_environ(SCRATCH).text("commit-tree", *named, "-m", "orch: computed", tree)
