"""Renewing the mirrors when the memory has changed: at no cost where there is none, and no change fails by it."""

from collections.abc import Callable, Mapping

from orchestrator.config import may_set
from orchestrator.errors import OrchError
from orchestrator.project import Project


def renew(project: Project, environ: Mapping[str, str], tell: Callable[[str], None]) -> None:
    """Bring the mirrors up to date, or take them out where they are switched off; what cannot be done is told."""
    if not project.mirrors.exists() and not may_set(project.config_path, environ, "mirror"):
        return
    from orchestrator.mirror import renew_mirrors
    from orchestrator.settings import load_settings

    try:
        renew_mirrors(project, load_settings(project, environ), environ)
    except OrchError as exc:
        tell(f"the mirror stays as it is: {exc.message}")
