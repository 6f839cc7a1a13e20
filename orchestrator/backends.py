"""The backends that can be spawned: those that orch knows, and those that the configuration defines."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from adapters import registry
from adapters.adapter import Adapter, Carry, Command, FileSeam, Launch, LaunchSeam
from orchestrator.config_schema import Config, OwnBackendKeys
from orchestrator.errors import BackendProblem
from orchestrator.spelling import nearest

# Linux takes at most 128 KiB for one argument, its NUL included.
_LONGEST_ARGUMENT = 128 * 1024 - 1


def backends(config: Config) -> dict[str, Adapter]:
    """Every backend by name: the built-in ones, then those of the configuration."""
    own = {name: own_adapter(name, keys) for name, keys in sorted(config.own_backends.items())}
    return {**registry(), **own}


def require_backend(config: Config, name: str) -> Adapter:
    """The backend of that name; raises BackendProblem with the nearest name."""
    known = backends(config)
    if name in known:
        return known[name]
    near = nearest(name, known)
    raise BackendProblem(
        f"there is no backend {name!r}",
        f"did you mean {near}?" if near else f"the backends are: {', '.join(known)}",
    )


def executable(adapter: Adapter, config: Config, environ: Mapping[str, str]) -> Path | None:
    """The program of a backend, absolute: the configured one, else the first of its names on PATH; None: not there."""
    configured = config.backend(adapter.name).executable
    path = environ.get("PATH", os.defpath)
    for name in (configured,) if configured is not None else adapter.executables:
        found = shutil.which(name, path=path)
        if found is not None:
            return Path(found).absolute()
    return None


def require_executable(adapter: Adapter, config: Config, environ: Mapping[str, str]) -> Path:
    """As `executable`; raises BackendProblem that says how to get the program."""
    found = executable(adapter, config, environ)
    if found is not None:
        return found
    configured = config.backend(adapter.name).executable
    if configured is not None:
        source = config.sources.get(f"backends.{adapter.name}.executable", "the configuration")
        raise BackendProblem(
            f"{adapter.name}: {configured} is no program that can be run", f"correct it: it is set in {source}"
        )
    if "/" in adapter.executables[0]:
        raise BackendProblem(
            f"{adapter.name}: {adapter.executables[0]} is no program that can be run",
            f"chmod +x it, or correct backends.{adapter.name}.command",
        )
    names = " or ".join(adapter.executables)
    raise BackendProblem(f"{adapter.name} is not installed: there is no {names} on PATH", adapter.install)


def own_adapter(name: str, keys: OwnBackendKeys) -> Adapter:
    """The adapter of a backend that the configuration defines.

    Its command is the configured words, then the seam's flag, then the task (with `prompt: arg`).
    """
    words = keys.command[1:]

    def command(launch: Launch) -> Command:
        task = (launch.task,) if keys.prompt == "arg" else ()
        if task and len(os.fsencode(launch.task)) > _LONGEST_ARGUMENT:
            raise BackendProblem(
                f"the task is too long to be an argument of {name} (128 KiB is the most)",
                f"take it from standard input: backends.{name}.prompt: stdin",
            )
        notes = (f"{name} is defined in the configuration and takes no --model: it is ignored",) if launch.model else ()
        return Command(
            argv=(launch.executable, *words, *launch.extra_args, *task),
            environ=dict(keys.env),
            stdin=os.fsencode(launch.task) if keys.prompt == "stdin" else None,
            notes=notes,
        )

    def apply(launch: Launch, made: Command, carry: Carry) -> Command:
        if keys.seam.env is not None:
            return replace(made, environ={**made.environ, keys.seam.env: str(carry.path)})
        at = 1 + len(words)
        return replace(made, argv=(*made.argv[:at], keys.seam.flag or "", str(carry.path), *made.argv[at:]))

    named = keys.seam.flag or keys.seam.env
    return Adapter(
        name=name,
        title=f"{name} (defined in the configuration)",
        executables=(keys.command[0],),
        install=f"put {keys.command[0]} on PATH, or correct backends.{name}.command",
        tested=("", ""),
        proof="contract",
        command=command,
        file_seam=FileSeam(name=keys.seam.file) if keys.seam.file is not None else None,
        launch_seam=LaunchSeam(describe=f"{named} with the path of the render", apply=apply) if named else None,
        default_seam="launch" if named else "file",
        reads=(keys.seam.file,) if keys.seam.file is not None else (),
        # A plain script is never run just to be asked for its version.
        version_args=(),
        resumes=False,
    )
