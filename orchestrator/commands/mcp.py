"""`orch mcp`: the memory as an MCP server."""

from pathlib import Path

import click


@click.command("mcp")
@click.option("--project", "place", type=click.Path(path_type=Path), help="The repository; default: the current one.")
def command(place: Path | None) -> None:
    """Serve the project's memory over MCP on standard input and output, for any client that speaks it.

    Its tool is project_memory, which only reads.
    """
    from orchestrator.config import environment
    from orchestrator.mcp_server import serve
    from orchestrator.project import load_project
    from orchestrator.settings import load_settings

    project = load_project(place or Path.cwd())
    serve(project, load_settings(project, environment()))
