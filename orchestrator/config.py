"""Configuration from all its layers, and the door to the environment."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.config_schema import Config


_PROJECT_FILE = ".orch/config.yml"


def environment() -> dict[str, str]:
    """A copy of this process's environment."""
    return dict(os.environ)


def user_config_path(environ: Mapping[str, str]) -> Path | None:
    """The user's config file, `$XDG_CONFIG_HOME/orch/config.yml`; None where there is no home.

    A relative XDG_CONFIG_HOME counts as unset, as the XDG base directory specification says.
    """
    folder = environ.get("XDG_CONFIG_HOME", "")
    if folder.startswith("/"):
        return Path(folder) / "orch" / "config.yml"
    home = environ.get("HOME")
    return Path(home) / ".config" / "orch" / "config.yml" if home else None


def may_set(project_file: Path | None, environ: Mapping[str, str], key: str) -> bool:
    """Whether a file or a variable can set `memory.KEY`, or a key below it: False is sure, True is not.

    A glance, for the command that has no time to load the configuration.
    """
    if any(name.startswith(f"ORCH_MEMORY_{key.upper()}") for name in environ):
        return True
    return any(_mentions(path, key.encode()) for path in (project_file, user_config_path(environ)) if path is not None)


def _mentions(path: Path, word: bytes) -> bool:
    from orchestrator.plain_file import read_plain

    try:
        return word in read_plain(path, 1024 * 1024)
    except OSError:
        return False


def load_config(
    project_file: Path | None,
    environ: Mapping[str, str],
    flags: Mapping[str, object] | None = None,
    *,
    committed: bytes | None = None,
) -> "Config":
    """Read every layer: `.orch/config.yml` < the user's file < ORCH_… variables < flags.

    `project_file` may be missing; it is None in a bare layout, where `committed` is what the default branch holds.
    `flags` are values by dotted path, such as `{"memory.inject": False}`; None in it means: not given. A relative path
    in the project's file starts from the main checkout, in the user's file from that file's folder.

    Raises ConfigProblem, which names the file, the line, the key and the nearest valid key.
    """
    from adapters import registry
    from orchestrator.config_file import Written, load_file, parse
    from orchestrator.config_layers import from_environment, from_flags, merge, sources
    from orchestrator.config_schema import Config
    from orchestrator.config_values import build_config, own_names

    builtin = tuple(registry())
    home = Path(environ["HOME"]) if environ.get("HOME") else None
    variables, notes = from_environment(environ, builtin)
    layers = [variables, from_flags(flags or {})]
    user_file = user_config_path(environ)
    if user_file is not None:
        layers.insert(0, load_file(user_file, base=user_file.parent, shown=str(user_file)))
    if project_file is not None:
        layers.insert(0, load_file(project_file, base=project_file.parent.parent, shown=_PROJECT_FILE))
    elif committed is not None:
        layers.insert(0, parse(committed, base=Path.cwd(), shown=f"HEAD:{_PROJECT_FILE}"))
    own = set[str]().union(*map(own_names, layers))
    written = Written(value={}, source="defaults")
    for layer in layers:
        # Each layer is checked by itself, so that a slip is named even where a later layer covers it.
        build_config(layer, builtin, own, home)
        written = merge(written, layer)
    values = build_config(written, builtin, own, home)
    return Config(**values, sources=dict(sources(written)), notes=notes)
