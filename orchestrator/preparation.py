"""What a new worktree is given besides its files from git, and the project's own commands around it."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from adapters.adapter import Adapter
from orchestrator.carrying import Carried, carry_files
from orchestrator.config_schema import Config
from orchestrator.consent import Script, is_trusted
from orchestrator.locks import held
from orchestrator.place import Place
from orchestrator.ports import load_ports, port_variables, reserve_ports
from orchestrator.process import ProcessFault, run_logged, scrubbed
from orchestrator.project import Project
from orchestrator.seams import hide_files
from orchestrator.worktree import git_directory

_SECONDS = 900.0
_SHOWN = 60


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What the preparation gave: variables for the agent's environment, and facts for its record."""

    environ: Mapping[str, str]
    notes: tuple[str, ...]


def prepare_worktree(
    project: Project,
    config: Config,
    adapter: Adapter,
    place: Place,
    *,
    agent_id: str,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
    narrate: Callable[[str], None],
) -> Prepared:
    """Reserve ports, bring what git does not carry, and run `worktrees.setup`; `environ` is the agent's own."""
    with held(project.lock, tell):
        ports = reserve_ports(project, agent_id, config.worktrees.ports)
    carried = carry_files(project, adapter, place, config.worktrees.include)
    for note in carried.notes:
        tell(note)
    if carried.visible:
        with held(project.lock, tell):
            hide_files(project, agent_id, git_directory(project, place.path), carried.visible)
    variables = port_variables(ports)
    folder = project.agents / agent_id
    for script in scripts(config):
        if script.kind == "setup":
            known = {**environ, **variables}
            run_script(project, script, worktree=place.path, folder=folder, environ=known, tell=tell, narrate=narrate)
            _tell_untracked(project, place, tell)
    return Prepared(environ=variables, notes=(*_carried_note(carried), *_ports_note(ports)))


def _tell_untracked(project: Project, place: Place, tell: Callable[[str], None]) -> None:
    """Name what the set-up left for git to see: it would count as the agent's work, and go into its `git add --all`."""
    status = project.git(place.path).status()
    names = [os.fsdecode(entry[3:]) for entry in status.split(b"\0") if entry.startswith(b"?? ")]
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        tell(f"worktrees.setup left {names[0]}{more} untracked in the worktree; .gitignore can name it")


def run_teardown(
    project: Project,
    config: Config,
    *,
    agent_id: str,
    worktree: Path,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
) -> bool:
    """Run `worktrees.teardown` in a worktree that is about to be removed; True when there is nothing left to tell.

    `environ` is the person's. Without consent nothing runs, and that is told.
    """
    folder = project.agents / agent_id
    known = {
        **scrubbed(environ),
        **port_variables(load_ports(folder)),
        "ORCH_AGENT": agent_id,
        "ORCH_PROJECT": str(project.common_dir),
    }
    found = [script for script in scripts(config) if script.kind == "teardown"]
    return all(
        run_script(project, script, worktree=worktree, folder=folder, environ=known, tell=tell) for script in found
    )


def _carried_note(carried: Carried) -> tuple[str, ...]:
    if not carried.files:
        return ()
    files = "1 file" if len(carried.files) == 1 else f"{len(carried.files)} files"
    return (f"brought {files} that git does not carry ({carried.size} bytes), such as {carried.files[0]}",)


def _ports_note(ports: tuple[int, ...]) -> tuple[str, ...]:
    if not ports:
        return ()
    return (f"port {ports[0]}" if len(ports) == 1 else f"ports {ports[0]} to {ports[-1]}",)


def scripts(config: Config) -> tuple[Script, ...]:
    """What the configuration wants to run; nothing that is empty."""
    found = (
        Script(kind="setup", commands=config.worktrees.setup),
        Script(kind="teardown", commands=config.worktrees.teardown),
    )
    return tuple(script for script in found if script.commands)


def run_script(
    project: Project,
    script: Script,
    *,
    worktree: Path,
    folder: Path,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
    narrate: Callable[[str], None] = lambda _: None,
    seconds: float = _SECONDS,
) -> bool:
    """Run the commands in the worktree, one by one, if a person has consented to them; True when all went well.

    Output goes to `<kind>.log` in the agent's directory. The first command that fails, or takes longer than `seconds`,
    is told and ends the script; nothing else fails because of it.
    """
    if not is_trusted(project, script):
        commands = "1 command" if len(script.commands) == 1 else f"{len(script.commands)} commands"
        tell(
            f"worktrees.{script.kind} was NOT run: nobody has consented to its {commands}; "
            "orch trust shows them and asks"
        )
        return False
    log = folder / f"{script.kind}.log"
    main = {} if project.main is None else {"ORCH_MAIN": str(project.main)}
    for number, command in enumerate(script.commands):
        shown = command if len(command) <= _SHOWN else command[: _SHOWN - 1] + "…"
        narrate(f"running worktrees.{script.kind}: {shown}")
        try:
            code = run_logged(
                ["/bin/sh", "-c", command], cwd=worktree, environ={**environ, **main}, log=log, timeout=seconds
            )
            said = f"exit code {code}" if code else ""
        except (ProcessFault, OSError) as exc:
            said = exc.message if isinstance(exc, ProcessFault) else str(exc)
        if said:
            left = len(script.commands) - number - 1
            rest = f"; {left} more not run" if left else ""
            tell(f"worktrees.{script.kind}: {shown!r} failed ({said}){rest}; its output is in {log}")
            return False
    return True
