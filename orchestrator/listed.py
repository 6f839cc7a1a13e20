"""The patterns of ignored files that a project wants to have in every worktree, and kept when one goes."""

from orchestrator.carrying import LIST_NAME
from orchestrator.project import Project


def listed_patterns(project: Project, configured: tuple[str, ...]) -> tuple[str, ...]:
    """The lines of `.worktreeinclude`, then those of `worktrees.include`, as a `.gitignore` would have them."""
    source = project.main or project.root
    try:
        lines = (source / LIST_NAME).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        lines = []
    return (*lines, *configured)
