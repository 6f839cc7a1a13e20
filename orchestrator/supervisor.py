"""The supervisor: one small detached process per agent, which holds its terminal and records its end.

It is the only writer of an agent's record between "starting" and "ended". If it dies, what it wrote is there, and the
next command that reads the record sees that nobody is behind it (`orchestrator.liveness`).
"""

import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType

from adapters.adapter import Outcome
from orchestrator.agent import Status
from orchestrator.cast import Cast
from orchestrator.config import environment
from orchestrator.digest import write_digest
from orchestrator.errors import OrchError
from orchestrator.identity import Ended, Mark, end_tree, start_time
from orchestrator.launchfile import LaunchFile, load_launch_file
from orchestrator.process import Terminal, adopt_orphans, launch_terminal, reap_orphans
from orchestrator.records import Records, now
from orchestrator.reporting import adapter_of, read_report
from orchestrator.requests import RequestCounter
from orchestrator.seams import unhide
from orchestrator.stopping import STOP_EVENT

_log = logging.getLogger("orch.supervisor")

ROWS, COLUMNS = 50, 200
# What a backend may have been retrying when a limit ended it.
_TROUBLES = {Outcome.AUTH, Outcome.RATE_LIMITED, Outcome.OVERLOADED, Outcome.UNREACHABLE, Outcome.CUT}
_TICK_SECONDS = 0.5
_LOOK_SECONDS = 1.0
_READ_ON_SECONDS = 0.5
_DRAIN_SECONDS = 2.0
_RECORD_PAUSES = (1.0, 5.0, 30.0, 60.0, 300.0)


@dataclass(kw_only=True)
class _Course:
    """What happened to the run besides its output: which of our own signals or limits ended it."""

    stop: bool = False
    limit: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class _Look:
    """Lets git see the context file that orch made, once the agent has written something of its own into it."""

    spec: LaunchFile
    due: float = 0

    def now_and_then(self) -> None:
        """Look if a second has gone by since the last time."""
        if not self.spec.seam_made or self.spec.seam_file is None or time.monotonic() < self.due:
            return
        folder = Path(self.spec.common_dir) / "orch" / "agents" / self.spec.agent_id
        seen = unhide(folder, Path(self.spec.cwd), self.spec.seam_file)
        self.due = float("inf") if seen else time.monotonic() + _LOOK_SECONDS


def supervise(common_dir: Path, agent_id: str) -> int:
    """Run one agent to its end; the main function of the detached process. Returns its exit code."""
    folder = common_dir / "orch" / "agents" / agent_id
    records = Records(path=common_dir / "orch" / "records.db")
    spec = load_launch_file(folder)
    course = _Course()
    _listen(course)
    me = os.getpid()
    adopt_orphans()
    records.change_agent(agent_id, lambda a: a.changed(supervisor_pid=me, supervisor_started=start_time(me)))
    try:
        with Cast(folder, rows=ROWS, columns=COLUMNS) as cast:
            child = _launch(spec)
            pid = child.pid
            records.change_agent(
                agent_id,
                lambda a: a.changed(status=Status.RUNNING, pid=pid, pid_started=start_time(pid), started=now()),
            )
            ended = _follow(child, cast, spec, course)
    except OrchError as exc:
        fault = exc.message
        records.change_agent(
            agent_id,
            lambda a: a.changed(status=Status.ENDED, ended=now(), outcome=Outcome.FAILED, reason=fault),
        )
        _tidy_up(common_dir, records)
        return 1
    code, number = child.close()
    if cast.fault:
        course.notes.append(f"{cast.lost} bytes of its output could not be written: {cast.fault}")
    done = _persistently(lambda: _record_end(records, spec, folder, code, number, course, ended))
    _tidy_up(common_dir, records)
    return done


def _tidy_up(common_dir: Path, records: Records) -> None:
    """Do what waits for the end of an agent: its proposals, and the files that running agents read."""
    from orchestrator.renderfile import clear_renders
    from orchestrator.settling import settle_after

    # A log would keep the texts, also of what is removed one day.
    settle_after(common_dir, records, _log.warning, report=lambda _: None)
    try:
        clear_renders(common_dir / "orch", records)
    except (OrchError, OSError) as exc:
        _log.warning("renders that nobody needs any more could not be removed: %s", exc)


def _persistently(record: Callable[[], None]) -> int:
    """Write the end, again and again if need be: a disk that is full now may have room in a minute."""
    for pause in _RECORD_PAUSES:
        try:
            record()
            return 0
        except OrchError as exc:
            _log.warning("the end could not be recorded: %s", exc.message)
            time.sleep(pause)
    record()
    return 0


def _listen(course: _Course) -> None:
    def stop(_number: int, _frame: FrameType | None) -> None:
        course.stop = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _launch(spec: LaunchFile) -> Terminal:
    return launch_terminal(
        spec.argv,
        cwd=Path(spec.cwd),
        environ=environment(),
        stdin=Path(spec.stdin or os.devnull),
        size=(ROWS, COLUMNS),
    )


def _follow(child: Terminal, cast: Cast, spec: LaunchFile, course: _Course) -> Ended:
    """Record output until the backend has ended or has to be ended; return what became of its tree."""
    deadline = None if spec.minutes is None else time.monotonic() + spec.minutes * 60
    spare = frozenset({os.getpid()})
    counter = RequestCounter(adapter=adapter_of(spec.backend, Path(spec.common_dir)))
    open_terminal = True
    look = _Look(spec=spec)
    # A child that it left behind may hold the terminal open, and a program may close it and go on: the end of the
    # output is not the end of the agent.
    while not course.stop and child.is_alive():
        data = child.read(_TICK_SECONDS) if open_terminal else b""
        if data:
            cast.write(data)
            counter.feed(data)
        elif data is None:
            open_terminal = False
        if not open_terminal:
            time.sleep(_TICK_SECONDS / 5)
        look.now_and_then()
        if deadline is not None and time.monotonic() >= deadline:
            course.limit = f"limits.minutes: {spec.minutes:g} min of wall time are over"
            break
        if spec.requests is not None and counter.count > spec.requests:
            course.limit = f"limits.requests: more than {spec.requests} requests to the model"
            break
        reap_orphans(child.pid)

    def read_on() -> None:
        # A look at every process of the machine costs far more than a read: a terminal holds 4 KiB, and one read a look
        # would keep a program that prints while it ends waiting until its grace is over.
        enough = time.monotonic() + _READ_ON_SECONDS
        while data := child.read(0.05):
            cast.write(data)
            if time.monotonic() >= enough:
                break
        if data is None:
            time.sleep(0.05)
        reap_orphans(child.pid)

    mark = Mark(agent_id=spec.agent_id, project=spec.common_dir)
    # Ourselves as a root: whatever lost its parents has become our child.
    ended = end_tree([child.pid, os.getpid()], mark, spare=spare, meanwhile=read_on)
    drained = time.monotonic() + _DRAIN_SECONDS
    while time.monotonic() < drained and (data := child.read(0.05)):
        cast.write(data)
    look.due = min(look.due, 0)
    look.now_and_then()
    return ended


def _record_end(
    records: Records,
    spec: LaunchFile,
    folder: Path,
    code: int | None,
    number: int | None,
    course: _Course,
    ended: Ended,
) -> None:
    agent = records.agent(spec.agent_id)
    if agent is None:
        return
    # A signal of ours tells nothing about the backend: then it is read from what it said.
    ours = number is not None and bool(course.limit or course.stop)
    report = read_report(agent, folder, exit_code=1 if ours else code, signal=None if ours else number)
    notes = [*agent.notes, *course.notes]
    if ended.survivors:
        notes.append(f"could not be ended: {', '.join(ended.survivors)}")
    left = [name for name in ended.ended if f"(pid {agent.pid})" not in name]
    if left:
        notes.append(f"ended with the agent: {', '.join(left)}")
    outcome, reason = report.outcome, report.reason
    if course.limit:
        trouble = f"; before that: {report.reason}" if report.outcome in _TROUBLES else ""
        outcome, reason = Outcome.LIMIT, f"{course.limit}{trouble}"
    elif course.stop:
        asked = any(event.kind == STOP_EVENT for event in records.events(agent.id))
        outcome, reason = Outcome.STOPPED, "orch stop" if asked else "its supervisor was told to end, as at a shutdown"
    records.change_agent(
        spec.agent_id,
        lambda a: a.changed(
            status=Status.ENDED,
            ended=now(),
            exit_code=code,
            signal=number,
            outcome=outcome,
            reason=reason,
            message=report.message,
            session=report.session or a.session,
            usage=None if report.usage is None else asdict(report.usage),
            notes=tuple(notes),
        ),
    )
    records.add_event("ended", spec.agent_id, outcome=outcome.value, reason=reason)
    write_digest(records, Path(spec.common_dir), spec.agent_id)
