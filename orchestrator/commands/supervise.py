"""`orch supervise`: the detached process behind an agent; not for people."""

from pathlib import Path

import click


@click.command("supervise", hidden=True)
@click.argument("common_dir", type=click.Path(path_type=Path))
@click.argument("agent_id")
def command(common_dir: Path, agent_id: str) -> int:
    """Hold one agent's terminal and record its end (started by `orch spawn`)."""
    from orchestrator.supervisor import supervise

    return supervise(common_dir, agent_id)
