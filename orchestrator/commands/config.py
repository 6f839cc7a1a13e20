"""`orch config`: what is in force, and where each value is from."""

from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any

import click

from orchestrator.commands.groups import refuse_options
from orchestrator.config import environment, load_config, user_config_path
from orchestrator.config_schema import BackendKeys, Config, OwnBackendKeys, keys
from orchestrator.errors import ProjectProblem
from orchestrator.project import Project, load_project
from orchestrator.settings import load_settings
from orchestrator.view import answer, print_json, print_table, warn


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Show the configuration: alone, the same as `orch config show` (docs/config.md lists the keys)."""
    if context.invoked_subcommand is None:
        context.invoke(show, as_json=as_json)
    else:
        refuse_options(context, context.invoked_subcommand)


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(as_json: bool) -> None:
    """Print every key with its value, and where that value is from.

    The layers, a later one wins: .orch/config.yml in the main checkout, the user's config.yml, ORCH_… variables.
    """
    config = _load()
    rows = [(path, value, config.sources.get(path, "default")) for path, value in _values(config)]
    for note in config.notes:
        warn(note)
    if as_json:
        print_json({"config": [{"key": path, "value": value, "source": source} for path, value, source in rows]})
    else:
        print_table(["key", "value", "source"], [(path, _shown(value), source) for path, value, source in rows])


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def path(as_json: bool) -> None:
    """Print the config files that are looked for, the project's first."""
    project = _project()
    shared = project.config_path if project is not None else None
    files = [file for file in (shared, user_config_path(environment())) if file is not None]
    if as_json:
        print_json({"files": [{"path": str(file), "exists": file.exists()} for file in files]})
        return
    for file in files:
        answer(str(file))


def _load() -> Config:
    project = _project()
    return load_config(None, environment()) if project is None else load_settings(project, environment())


def _project() -> Project | None:
    """None outside a repository, where the user's own layers still are an answer."""
    try:
        return load_project(Path.cwd())
    except ProjectProblem:
        return None


def _values(config: Config) -> list[tuple[str, Any]]:
    """Each key by its dotted path, those of the configured backends at the end."""
    found: list[tuple[str, Any]] = [(key.path, attrgetter(key.path)(config)) for key in keys()]
    sections: dict[str, BackendKeys | OwnBackendKeys] = {**config.backends, **config.own_backends}
    for name, section in sections.items():
        for key, value in asdict(section).items():
            path = f"backends.{name}.{key}"
            if any(source == path or source.startswith(path + ".") for source in config.sources):
                # These are often keys and tokens: the names are shown, the values are not.
                found.append((path, dict.fromkeys(value, "***") if key == "env" else value))
    return found


def _shown(value: Any) -> str:
    if value is None or value == ():
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}={part}" for name, part in value.items() if part is not None) or "-"
    return str(value)
