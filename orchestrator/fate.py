"""What became of a branch: merged (by merge, rebase or squash), discarded, or still open."""

from enum import StrEnum

from orchestrator.git import Git
from orchestrator.integration import has_content
from orchestrator.process import ProcessFault


class Fate(StrEnum):
    """Where a branch stands against HEAD."""

    OPEN = "open"
    MERGED = "merged"
    DISCARDED = "discarded"


def branch_tip(git: Git, branch: str) -> str | None:
    """The commit at the tip of a local branch, None when it is gone."""
    return git.commit(f"refs/heads/{branch}")


def fate(git: Git, branch: str, *, base: str | None, tip: str | None) -> Fate:
    """What became of `branch`, which was last seen at `tip` (None: never) and started at `base`.

    A branch that never got a commit counts as merged once it is gone: nothing of it was thrown away.
    """
    living = branch_tip(git, branch)
    last = living or tip
    if last is None or git.commit(last) is None:
        return Fate.OPEN if living or last else Fate.DISCARDED
    if last == base:
        return Fate.OPEN if living else Fate.MERGED
    try:
        if _is_merged(git, last):
            return Fate.MERGED
    except ProcessFault:
        return Fate.OPEN
    if living or _held_elsewhere(git, last):
        return Fate.OPEN
    return Fate.DISCARDED


def _is_merged(git: Git, tip: str) -> bool:
    return git.succeeds("merge-base", "--is-ancestor", tip, "HEAD") or has_content(git, "HEAD", tip)


def _held_elsewhere(git: Git, tip: str) -> bool:
    """Whether another branch, a tag or a remote branch holds the commit: then it was not thrown away."""
    return bool(git.text("for-each-ref", "--count=1", f"--contains={tip}", "refs/heads", "refs/tags", "refs/remotes"))
