"""Spawning an agent, in a straight line; what fails half-way is undone in reverse."""

import os
import secrets
import shutil
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from adapters.adapter import Adapter, Command, Launch
from orchestrator.agent import Agent
from orchestrator.backends import require_backend, require_executable
from orchestrator.channel import agent_behind
from orchestrator.config_schema import Config
from orchestrator.errors import OrchError, ProjectProblem
from orchestrator.executables import Program, load_program
from orchestrator.gate import claim
from orchestrator.identity import AGENT_VARIABLE
from orchestrator.injection import INJECTION_OFF, Injection, load_carried
from orchestrator.interrupt import deferred, interruptible, shielded
from orchestrator.invocation import build_command, check_task, write_files
from orchestrator.launching import confirm_running, launch_supervisor, undo_launch
from orchestrator.locks import held
from orchestrator.mirror import host_carries
from orchestrator.place import Place, plan_place
from orchestrator.preparation import Prepared, prepare_worktree
from orchestrator.process import scrubbed
from orchestrator.project import Project
from orchestrator.records import Records, now
from orchestrator.renderfile import renders_held
from orchestrator.seams import SeamPlan, choose_seam, place_block, remove_agent_hygiene, write_block_hygiene
from orchestrator.settling import settle_or_tell
from orchestrator.sight import with_shown
from orchestrator.worktree import check_out, create_worktree, undo_worktree
from projection.faults import write_hint

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class SpawnRequest:
    """What the person asked for. `task` is the prompt as it is given to the backend, unchanged."""

    backend: str
    task: str
    branch: str | None = None
    base: str | None = None
    model: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """Everything that was decided before anything was changed."""

    agent_id: str
    adapter: Adapter
    program: Program
    injection: Injection
    place: Place
    seam: SeamPlan
    host: Path | None
    environ: dict[str, str]
    parent: str | None


def _silent(_what: object) -> None:
    return


def spawn(
    project: Project,
    config: Config,
    request: SpawnRequest,
    environ: Mapping[str, str],
    *,
    tell: Tell,
    narrate: Tell = _silent,
    announce: Callable[[Agent], None] = _silent,
) -> Agent:
    """Start an agent and return it once its backend is known to run (or to have ended already).

    `tell` gets one-line warnings, `narrate` what is being done where that may take long, `announce` the agent. Raises
    an OrchError when it cannot be done; then nothing is left behind, except work that the agent did before the failure.
    An interrupt (Ctrl-C, SIGTERM, SIGHUP) undoes in the same way, until the agent is announced: none runs of which the
    person has not been told.
    """
    with interruptible():
        plan = _plan(project, config, request, environ, tell)
        with ExitStack() as undo:
            agent = _carry_out(project, config, request, plan, undo, tell, narrate)
            with shielded():
                announce(agent)
                undo.pop_all()
    return agent


def _plan(project: Project, config: Config, request: SpawnRequest, environ: Mapping[str, str], tell: Tell) -> _Plan:
    check_task(request.task)
    adapter = require_backend(config, request.backend)
    settings = config.backend(request.backend)
    path = require_executable(adapter, config, environ)
    program = load_program(adapter, path, environ)
    settle_or_tell(project, Records(path=project.records), config, tell)
    injection = load_carried(project, config)
    for note in injection.notes:
        tell(note)
    agent_id = _free_id(project)
    place = plan_place(
        project,
        agent_id=agent_id,
        task=request.task,
        branch=request.branch,
        base=request.base,
        directory=config.worktrees.dir,
    )
    for note in place.notes:
        tell(note)
    host = host_carries(project, config, adapter, injection.text, environ)
    seam = choose_seam(project, config, adapter, place, "" if host else injection.text)
    if not config.memory.inject:
        seam = replace(seam, reason=INJECTION_OFF)
    if host is not None:
        seam = replace(seam, reason=f"the host's own memory carries it: {host}")
    child = {**scrubbed(environ), **settings.env, AGENT_VARIABLE: agent_id, "ORCH_PROJECT": str(project.common_dir)}
    return _Plan(
        agent_id=agent_id,
        adapter=adapter,
        program=program,
        injection=injection,
        place=place,
        seam=seam,
        host=host,
        environ=child,
        parent=agent_behind(environ, Records(path=project.records)),
    )


def _carry_out(
    project: Project,
    config: Config,
    request: SpawnRequest,
    plan: _Plan,
    undo: ExitStack,
    tell: Tell,
    narrate: Tell,
) -> Agent:
    records = Records(path=project.records)
    folder = project.agents / plan.agent_id
    supervisor: list[int] = []
    _make_folder(folder, undo)
    _make_worktree(project, plan, undo, supervisor, tell)
    prepared = prepare_worktree(
        project,
        config,
        plan.adapter,
        plan.place,
        agent_id=plan.agent_id,
        environ=plan.environ,
        tell=tell,
        narrate=narrate,
    )
    # Last: a context file that was brought, or that the set-up wrote, gets the block on top.
    place_block(project, plan.place, plan.seam)
    plan = replace(plan, environ={**plan.environ, **prepared.environ})
    launch = _launch(plan, request, folder, config)
    command = build_command(project, config, plan.adapter, launch, plan.seam, plan.injection)
    for note in command.notes:
        tell(note)
    agent = _agent(plan, request, launch, command, prepared)
    with renders_held(project.state, records):
        write_files(command, folder)
        undo.callback(_quietly, lambda: records.delete_agent(plan.agent_id))
        records.add_agent(agent)
    with deferred():
        undo.callback(_quietly, lambda: undo_launch(records, plan.agent_id, *supervisor))
        supervisor.append(
            launch_supervisor(project, config, agent, command, plan.environ, folder, seam_made=plan.seam.made)
        )
    return confirm_running(records, agent, folder, *supervisor)


def _free_id(project: Project) -> str:
    taken = {agent.id for agent in Records(path=project.records).agents()}
    for length in (2, 2, 2, 2, 3, 3, 4, 6):
        found = secrets.token_hex(length)
        if found not in taken and not (project.agents / found).exists():
            return found
    raise OrchError("no free agent id was found", "orch rm agents that are done")


def _make_folder(folder: Path, undo: ExitStack) -> None:
    with deferred():
        try:
            folder.mkdir(parents=True, mode=0o700)
        except OSError as exc:
            raise ProjectProblem(
                f"cannot write into {folder.parent}: {exc.strerror}",
                write_hint(exc, "check the owner and mode of that directory"),
            ) from exc
        undo.callback(_quietly, lambda: shutil.rmtree(folder, ignore_errors=True))


def _make_worktree(project: Project, plan: _Plan, undo: ExitStack, supervisor: list[int], tell: Tell) -> None:
    def remove() -> None:
        with held(project.lock):
            if undo_worktree(project, plan.place, agent_ran=bool(supervisor)):
                remove_agent_hygiene(project, plan.agent_id)
            else:
                tell(f"the worktree {plan.place.path} holds work, so it and its branch were kept")

    with held(project.lock, tell), deferred():
        undo.callback(_quietly, remove)
        gitdir = create_worktree(project, plan.place)
        claim(gitdir, plan.agent_id)
        write_block_hygiene(project, plan.agent_id, gitdir, plan.seam)
    for note in check_out(project, plan.place):
        tell(note)


def _quietly(action: Callable[[], object]) -> None:
    """Undo one thing: an interrupt does not stop it, and its failure does not stop the next undoing."""
    with shielded():
        try:
            action()
        except (OrchError, OSError) as exc:
            import logging

            logging.getLogger("orch.spawn").warning("undoing failed: %s", exc)


def _launch(plan: _Plan, request: SpawnRequest, folder: Path, config: Config) -> Launch:
    settings = config.backend(request.backend)
    return Launch(
        executable=str(plan.program.path),
        task=request.task,
        worktree=plan.place.path,
        state=folder,
        model=request.model or settings.model,
        session=str(uuid.uuid4()) if plan.adapter.chooses_session else None,
        root=os.geteuid() == 0,
        environ=plan.environ,
        extra_args=settings.args,
    )


def _agent(plan: _Plan, request: SpawnRequest, launch: Launch, command: Command, prepared: Prepared) -> Agent:
    carried = plan.seam.kind != "none"
    seen = carried or plan.host is not None
    shown = [item.entry.id for item in plan.injection.render.included] if seen else []
    created = now()
    extra = with_shown({}, shown, created)
    if plan.parent is not None:
        extra["parent"] = plan.parent
    return Agent(
        id=plan.agent_id,
        backend=plan.adapter.name,
        task=request.task,
        branch=plan.place.branch,
        worktree=str(plan.place.path),
        base=plan.place.base,
        base_name=plan.place.base_name,
        created=created,
        executable=str(plan.program.path),
        version=plan.program.version,
        model=launch.model,
        argv=command.argv,
        environ_names=tuple(sorted({*command.environ, *prepared.environ, AGENT_VARIABLE, "ORCH_PROJECT"})),
        render_digest=plan.injection.digest if carried else None,
        render_bytes=len(plan.injection.text.encode()) if carried else 0,
        seam=plan.seam.kind,
        seam_reason=plan.seam.reason,
        seam_file=plan.seam.file,
        session=launch.session,
        notes=(*prepared.notes, *command.notes),
        extra=extra,
    )
