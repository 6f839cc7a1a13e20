"""What every command starts from: the project it runs in, its configuration, and its records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.config import environment
from orchestrator.config_schema import Config
from orchestrator.project import Project, here, load_project
from orchestrator.records import Records
from orchestrator.settings import load_settings


@dataclass(frozen=True, kw_only=True)
class Context:
    """The project, its configuration with this command's flags on top, its records and the environment."""

    project: Project
    config: Config
    records: Records
    environ: dict[str, str]


def load_context(flags: Mapping[str, Any] | None = None) -> Context:
    """Load all of it for the current directory. Raises ProjectProblem and ConfigProblem."""
    environ = environment()
    project = load_project(here())
    config = load_settings(project, environ, flags)
    return Context(project=project, config=config, records=Records(path=project.records), environ=environ)


def load_records() -> tuple[Project, Records]:
    """Only the project and its records: for commands that no configuration can change, nor a broken one stop."""
    project = load_project(here())
    return project, Records(path=project.records)
