"""What the commands that start a run have in common: how a task is given, carried and waited for."""

from collections.abc import Callable
from typing import Any

import click

_RUN = (
    click.option("-f", "--file", "path", metavar="PATH", help="Read the task from a file (- for standard input)."),
    click.option("--memory/--no-memory", default=None, help="Carry the project's memory or not (memory.inject)."),
    click.option("--seam", type=click.Choice(["auto", "file", "launch"]), help="How it is carried (projection.seam)."),
    click.option(
        "--wait/--detach", "wait", default=False, help="Wait for the agent's end, or return at once (default)."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the agent as JSON."),
)


def run_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a run: `path`, `memory`, `seam`, `wait`, `as_json`."""
    for option in reversed(_RUN):
        command = option(command)
    return command


def carry_flags(memory: bool | None, seam: str | None) -> dict[str, Any]:
    """The config keys that the options set; one that was not given sets none."""
    flags: dict[str, Any] = {"memory.inject": memory, "projection.seam": seam}
    return {key: value for key, value in flags.items() if value is not None}
