"""Continuing an agent's work in its own worktree: the same backend resumed, or another one that takes over.

The agent keeps its id, branch and worktree. Its text is rendered anew, and carried once: what the last run's backend
was given by a file goes first. Where the backend can, it takes up its own conversation.
"""

import os
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from adapters.adapter import Adapter, Command, Launch
from orchestrator.agent import Agent, Status
from orchestrator.backends import require_backend, require_executable
from orchestrator.channel import AGENT_VARIABLE, agent_behind
from orchestrator.config_schema import Config
from orchestrator.errors import UsageProblem, WorktreeProblem
from orchestrator.executables import Program, load_program
from orchestrator.injection import INJECTION_OFF, Injection, load_carried
from orchestrator.interrupt import deferred, interruptible, shielded
from orchestrator.invocation import build_command, check_task, write_files
from orchestrator.launching import confirm_running, launch_supervisor, undo_launch
from orchestrator.liveness import require_over
from orchestrator.locks import held
from orchestrator.mirror import host_carries
from orchestrator.operation import interrupted_text
from orchestrator.ports import load_ports, port_variables
from orchestrator.process import scrubbed
from orchestrator.project import Project
from orchestrator.records import Records, now
from orchestrator.registrations import registrations
from orchestrator.renderfile import renders_held
from orchestrator.seams import SeamPlan, change_seam
from orchestrator.sight import with_shown

Tell = Callable[[str], None]
# Each run has its own; the last one's stand under the plain name.
_RECORDINGS = ("output", "cast", "supervisor.log")


@dataclass(frozen=True, kw_only=True)
class ContinueRequest:
    """What the person asked for. `backend` is None for the one that the agent has."""

    task: str
    backend: str | None = None
    model: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """Everything that was decided before anything was changed. `session` is the conversation to take up, if any."""

    agent: Agent
    adapter: Adapter
    program: Program
    injection: Injection
    host: Path | None
    environ: dict[str, str]
    session: str | None
    led_by: str | None


def continue_agent(
    project: Project,
    config: Config,
    records: Records,
    agent: Agent,
    request: ContinueRequest,
    environ: Mapping[str, str],
    *,
    tell: Tell,
    announce: Callable[[Agent], None] = lambda _: None,
) -> Agent:
    """Start another run of an agent that has ended; return it once its backend is known to run.

    An interrupt before `announce` has got the agent undoes the run.

    Raises UsageProblem for an agent that is going on or was removed, and whatever a spawn raises. When it fails, the
    agent is recorded as it was, and its worktree is not touched except for the block.
    """
    with interruptible():
        plan = _plan(project, config, records, agent, request, environ, tell)
        with ExitStack() as undo:
            started = _carry_out(project, config, records, request, plan, undo, tell)
            with shielded():
                announce(started)
                undo.pop_all()
    return started


def _plan(
    project: Project,
    config: Config,
    records: Records,
    agent: Agent,
    request: ContinueRequest,
    environ: Mapping[str, str],
    tell: Tell,
) -> _Plan:
    check_task(request.task)
    agent = require_over(records, agent)
    if agent.status is Status.REMOVED:
        raise UsageProblem(f"agent {agent.id} is removed", f"orch restore {agent.id} brings it back")
    if interrupted := interrupted_text(agent):
        raise UsageProblem(f"agent {agent.id} is in between", interrupted)
    _check_worktree(project, agent)
    name = request.backend or agent.backend
    adapter = require_backend(config, name)
    program = load_program(adapter, require_executable(adapter, config, environ), environ)
    injection = load_carried(project, config)
    for note in injection.notes:
        tell(note)
    session = agent.session if adapter.name == agent.backend and adapter.resumes else None
    if adapter.name == agent.backend and session is None:
        tell(f"{adapter.name} has no conversation of agent {agent.id} to take up: it begins a new one in its worktree")
    child = {
        **scrubbed(environ),
        **config.backend(name).env,
        **port_variables(load_ports(project.agents / agent.id)),
        AGENT_VARIABLE: agent.id,
        "ORCH_PROJECT": str(project.common_dir),
    }
    return _Plan(
        agent=agent,
        adapter=adapter,
        program=program,
        injection=injection,
        host=host_carries(project, config, adapter, injection.text, environ),
        environ=child,
        session=session,
        led_by=agent_behind(environ, records),
    )


def _check_worktree(project: Project, agent: Agent) -> None:
    path = Path(agent.worktree)
    if not any(entry.path == path and not entry.missing for entry in registrations(project)[1:]):
        raise WorktreeProblem(
            f"the worktree of agent {agent.id} is gone: {path}", f"orch rm {agent.id}, then orch spawn --base BRANCH"
        )


def _carry_out(
    project: Project,
    config: Config,
    records: Records,
    request: ContinueRequest,
    plan: _Plan,
    undo: ExitStack,
    tell: Tell,
) -> Agent:
    agent, folder = plan.agent, project.agents / plan.agent.id
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with held(project.lock, tell), deferred():
        seam = change_seam(
            project,
            config,
            plan.adapter,
            agent.id,
            Path(agent.worktree),
            "" if plan.host is not None else plan.injection.text,
            old_file=agent.seam_file,
        )
        if not config.memory.inject:
            seam = replace(seam, reason=INJECTION_OFF)
        if plan.host is not None:
            seam = replace(seam, reason=f"the host's own memory carries it: {plan.host}")
        agent = records.change_agent(agent.id, lambda a: a.changed(**_carried(plan, seam), extra=_shown(a, plan, seam)))
    launch = _launch(plan, request, folder, config)
    command = build_command(project, config, plan.adapter, launch, seam, plan.injection)
    for note in command.notes:
        tell(note)
    _set_aside(folder, number=len(_runs(agent)) + 1)
    supervisor: list[int] = []
    with deferred():
        with renders_held(project.state, records):
            write_files(command, folder)
            undo.callback(_shielded, lambda: records.change_agent(agent.id, lambda _: agent))
            started = records.change_agent(agent.id, lambda a: _restarted(a, plan, request, launch, command))
        undo.callback(_shielded, lambda: undo_launch(records, agent.id, *supervisor))
        supervisor.append(
            launch_supervisor(project, config, started, command, plan.environ, folder, seam_made=seam.made)
        )
    running = confirm_running(records, started, folder, *supervisor)
    records.add_event("continued", agent.id, backend=plan.adapter.name, before=agent.backend, resumed=launch.resume)
    return running


def _shielded(action: Callable[[], object]) -> None:
    with shielded():
        action()


def _launch(plan: _Plan, request: ContinueRequest, folder: Path, config: Config) -> Launch:
    settings = config.backend(plan.adapter.name)
    fresh = str(uuid.uuid4()) if plan.adapter.chooses_session else None
    same = plan.adapter.name == plan.agent.backend
    return Launch(
        executable=str(plan.program.path),
        task=request.task,
        worktree=Path(plan.agent.worktree),
        state=folder,
        model=request.model or (plan.agent.model if same else None) or settings.model,
        session=plan.session or fresh,
        resume=plan.session is not None,
        root=os.geteuid() == 0,
        environ=plan.environ,
        extra_args=settings.args,
    )


def _shown(agent: Agent, plan: _Plan, seam: SeamPlan) -> dict[str, object]:
    """The record's further facts with the entries that the agent is shown."""
    now_shown = [item.entry.id for item in plan.injection.render.included] if seam.kind != "none" or plan.host else []
    return with_shown(agent.extra, now_shown, now())


def _carried(plan: _Plan, seam: SeamPlan) -> dict[str, object]:
    """What the record says of the text, from the moment on that the worktree has it."""
    carried = seam.kind != "none"
    return {
        "seam": seam.kind,
        "seam_reason": seam.reason,
        "seam_file": seam.file,
        "render_digest": plan.injection.digest if carried else None,
        "render_bytes": len(plan.injection.text.encode()) if carried else 0,
    }


def _runs(agent: Agent) -> list[dict[str, object]]:
    return list(agent.extra.get("runs", []))


def _restarted(agent: Agent, plan: _Plan, request: ContinueRequest, launch: Launch, command: Command) -> Agent:
    """The record at the start of another run, with the last one put aside."""
    before = plan.agent.to_json()
    kept = ("backend", "task", "session", "begun", "started", "ended", "outcome", "reason", "message", "usage", "seam")
    return agent.changed(
        backend=plan.adapter.name,
        task=request.task,
        begun=now(),
        executable=str(plan.program.path),
        version=plan.program.version,
        model=launch.model,
        argv=command.argv,
        environ_names=tuple(sorted({*agent.environ_names, *command.environ})),
        session=launch.session,
        status=Status.STARTING,
        supervisor_pid=None,
        supervisor_started=None,
        pid=None,
        pid_started=None,
        started=None,
        ended=None,
        exit_code=None,
        signal=None,
        outcome=None,
        reason="",
        message=None,
        usage=None,
        notes=(*agent.notes, *(note for note in command.notes if note not in agent.notes)),
        extra={
            **agent.extra,
            "runs": [*_runs(agent), {name: before[name] for name in kept}],
            **({"led_by": [*agent.extra.get("led_by", []), plan.led_by]} if plan.led_by is not None else {}),
        },
    )


def _set_aside(folder: Path, *, number: int) -> None:
    """Keep the recordings of the last run: an adapter reads the outcome of a run from its output alone."""
    for name in _RECORDINGS:
        if (folder / name).exists():
            (folder / name).rename(folder / f"{name}.{number}")
