"""The examination of a machine and a project, in a fixed order."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from orchestrator.errors import ProjectProblem
from orchestrator.finding import Finding
from orchestrator.project import Project, load_project


def examine(cwd: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Look at everything, in a fixed order; changes nothing. Outside a repository only the machine is looked at."""
    from orchestrator.leftovers import find_leftovers
    from orchestrator.surroundings import look_at_backends, look_at_config, look_at_git, look_at_memory, look_at_mirrors

    yield from look_at_git(cwd)
    project = _project(cwd)
    config, findings = look_at_config(project, environ)
    yield from findings
    yield from look_at_backends(config, environ)
    if project is None:
        yield Finding(state="absent", area="project", text=f"{cwd} is not in a git repository", hint="cd into one")
        return
    yield from look_at_memory(project, config)
    yield from look_at_mirrors(project, config, environ)
    yield from find_leftovers(project)


def _project(cwd: Path) -> Project | None:
    try:
        return load_project(cwd)
    except ProjectProblem:
        return None
