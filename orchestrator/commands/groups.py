"""What the commands that have commands of their own have in common."""

import click
from click.core import ParameterSource


def refuse_options(ctx: click.Context, name: str) -> None:
    """Raise UsageError for options in front of the command `name`: they are for what the group does alone."""
    given = [
        param.opts[0]
        for param in ctx.command.params
        if param.name is not None and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        where = ctx.command_path
        raise click.UsageError(
            f"{' and '.join(given)} before {name} would do nothing; options stand after it: {where} {name} …"
        )
