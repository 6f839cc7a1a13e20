"""Whether a commit's work is in another branch already: merged, squashed into one commit, or rebased."""

from orchestrator.git import Git
from orchestrator.mergetree import scratch_commit
from orchestrator.project import Project


def is_integrated(project: Project, commit: str, *, own: frozenset[str], into: str | None = None) -> bool:
    """Whether some ref other than `own` (full names) holds the commit, or a main line of the project its content.

    A branch, a tag, or a remote branch counts as a holder. `into` is the branch that the work was started from.
    """
    git = project.git()
    holders = git.text(
        "for-each-ref", f"--contains={commit}", "--format=%(refname)", "refs/heads", "refs/tags", "refs/remotes"
    )
    if any(ref not in own for ref in holders.splitlines()):
        return True
    return any(has_content(git, target, commit) for target in main_lines(project, into) if target not in own)


def main_lines(project: Project, into: str | None = None) -> tuple[str, ...]:
    """Full names of the branches that work is merged into: where it was started from, and the default branch."""
    git = project.git()
    names = [into, git.branch(), "main", "master"]
    wanted = [f"refs/heads/{name}" for name in names if name]
    wanted += git.text("for-each-ref", "--format=%(symref)", "refs/remotes").splitlines()
    return tuple(ref for ref in dict.fromkeys(wanted) if ref and git.commit(ref) is not None)


def has_content(git: Git, target: str, commit: str) -> bool:
    """Whether merging the commit into the target would change nothing, or each of its patches is there already.

    Covers a squash merge (one commit with the whole content) and a rebase (each commit again, with another parent).
    """
    base = git.run("merge-base", target, commit, check=False)
    trees = git.text("rev-parse", f"{base.text}^{{tree}}", f"{commit}^{{tree}}").split() if base.code == 0 else []
    # Nothing in sum is no proof: commits that are empty, or that undo each other, are nowhere else.
    if len(set(trees)) < 2:
        return False
    merged = git.run("merge-tree", "--write-tree", target, commit, check=False)
    if merged.code == 0 and merged.text == git.text("rev-parse", f"{target}^{{tree}}"):
        return True
    if _all_there(git, target, commit):
        return True
    # The whole as one patch: squashed, and the target has gone on since.
    return _all_there(git, target, scratch_commit(git, git.text("rev-parse", f"{commit}^{{tree}}"), base.text))


def _all_there(git: Git, target: str, commit: str) -> bool:
    lines = git.run("cherry", target, commit, check=False)
    found = lines.text.splitlines()
    merges = git.run("rev-list", "--count", "--merges", f"{target}..{commit}", check=False).text
    # `git cherry` leaves merges out, and a merge may hold work of its own.
    return lines.code == 0 and bool(found) and merges == "0" and all(line.startswith("- ") for line in found)
