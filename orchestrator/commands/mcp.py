"""`orch mcp`: the memory as an MCP server."""

from pathlib import Path

import click


@click.command("mcp")
@click.option("--project", "place", type=click.Path(path_type=Path), help="The repository; default: the current one.")
def command(place: Path | None) -> None:
    """Serve the project's memory over MCP on standard input and output, for any client that speaks it.

    Its tools are project_memory, which only reads, and propose_fact, by which an agent proposes an entry (unverified).
    """
    from orchestrator.channel import agent_behind
    from orchestrator.config import environment
    from orchestrator.errors import UsageProblem
    from orchestrator.mcp_server import serve
    from orchestrator.project import here, load_project
    from orchestrator.records import Records
    from orchestrator.settings import load_settings

    if place is not None and not place.is_dir():
        raise UsageProblem(f"{place} is no directory", "--project DIRECTORY: a repository, or a folder in one")
    project = load_project(place or here())
    environ = environment()
    agent = agent_behind(environ, Records(path=project.records))
    serve(project, load_settings(project, environ), agent)
