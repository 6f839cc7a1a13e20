"""What orch has put into a project's git configuration, against what it stands for and what this version would put."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from orchestrator.agent import Agent, Status
from orchestrator.errors import GitProblem
from orchestrator.finding import Finding
from orchestrator.locks import held
from orchestrator.project import Project
from projection import filter as block_filter
from projection.faults import HygieneFault
from projection.gitfiles import render_agent_config, render_plain_config
from projection.hygiene import leftovers, repair_hygiene


def find_drift(project: Project, agents: tuple[Agent, ...]) -> Iterator[Finding]:
    """Entries without an agent, agents without the entry, and files that an older orch wrote."""
    for leftover in leftovers(project.common_dir):
        yield Finding(
            state="warning",
            area="git configuration",
            text=leftover.what,
            hint="orch doctor --fix repairs it",
            repair=partial(_repair, project),
        )
    for path, content in _expected(project, agents):
        if path.is_file() and path.read_bytes() != content:
            yield Finding(
                state="warning",
                area="git configuration",
                text=f"{path} is not what this version of orch writes",
                hint="orch doctor --fix writes it anew",
                repair=partial(_write, project, path, content),
            )


def _expected(project: Project, agents: tuple[Agent, ...]) -> Iterator[tuple[Path, bytes]]:
    script = project.state / "filter.py"
    yield script, Path(block_filter.__file__).read_bytes()
    for agent in agents:
        if agent.status is Status.REMOVED:
            continue
        folder = project.agents / agent.id
        path = folder / "gitconfig"
        # One without a block, but with hidden files, has another.
        if not path.is_file() or path.read_bytes() != render_plain_config(folder):
            yield path, render_agent_config(folder, script, sys.executable)


def _repair(project: Project) -> str:
    with held(project.lock):
        try:
            repair_hygiene(project.common_dir)
        except HygieneFault as exc:
            raise GitProblem(exc.message, exc.hint) from exc
    return "repaired"


def _write(project: Project, path: Path, content: bytes) -> str:
    with held(project.lock):
        draft = path.with_name(f".{path.name}.new")
        draft.write_bytes(content)
        draft.replace(path)
    return "written anew"
