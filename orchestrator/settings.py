"""The configuration of a project, wherever its shared file is."""

from collections.abc import Mapping

from orchestrator.config import load_config
from orchestrator.config_schema import Config
from orchestrator.project import Project


def load_settings(project: Project, environ: Mapping[str, str], flags: Mapping[str, object] | None = None) -> Config:
    """As `load_config`; in a bare layout, with no main checkout, the default branch's tree holds the shared file."""
    return load_config(project.config_path, environ, flags, committed=_committed(project))


def _committed(project: Project) -> bytes | None:
    if project.main is not None:
        return None
    found = project.git().run("cat-file", "blob", "HEAD:.orch/config.yml", check=False)
    return found.stdout if found.code == 0 else None
