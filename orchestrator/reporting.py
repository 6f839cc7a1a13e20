"""Reading how an agent ended, by its adapter."""

import os
from dataclasses import replace
from pathlib import Path

from adapters.adapter import Adapter, Ending, Launch, Report, report_plain
from orchestrator.agent import Agent
from orchestrator.config import environment
from orchestrator.errors import OrchError

# Output is kept whole on disk; an adapter gets at most this much of it, from the end.
_REPORT_BYTES = 32 * 1024 * 1024


def adapter_of(name: str, common_dir: Path) -> Adapter | None:
    """The adapter of a backend, built-in or configured; None when the configuration has lost or broken it.

    For what happens after the start: a slip in a config file must not cost the record of a running agent.
    """
    from adapters import registry
    from orchestrator.backends import backends
    from orchestrator.project import load_project
    from orchestrator.settings import load_settings

    built_in = registry().get(name)
    if built_in is not None:
        return built_in
    try:
        config = load_settings(load_project(common_dir), environment())
    except OrchError:
        return None
    return backends(config).get(name)


def read_report(agent: Agent, folder: Path, *, exit_code: int | None, signal: int | None) -> Report:
    """What the agent's adapter makes of its end; a fault in reading hostile output is an outcome, not a crash."""
    launch = Launch(
        executable=agent.executable,
        task=agent.task,
        worktree=Path(agent.worktree),
        state=folder,
        model=agent.model,
        session=agent.session,
        environ=environment(),
    )
    ending = Ending(exit_code=exit_code, signal=signal, output=_output_tail(folder), launch=launch)
    adapter = adapter_of(agent.backend, folder.parent.parent.parent)
    if adapter is None:
        return report_plain(ending)
    try:
        return adapter.report(ending)
    except Exception as exc:  # whatever a backend prints, its end has to be recorded
        plain = report_plain(ending)
        return replace(plain, reason=f"{plain.reason or 'the output could not be read'} ({type(exc).__name__}: {exc})")


def _output_tail(folder: Path) -> bytes:
    try:
        with (folder / "output").open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _REPORT_BYTES))
            return stream.read()
    except OSError:
        return b""
