"""Verifying one backend through one seam: real spawns in a sandbox, against the loopback model."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from adapters.adapter import Adapter, Launch
from orchestrator.claims import (
    Claim,
    Row,
    Verdict,
    delivery_claims,
    footprint_claim,
    judged,
    off_claim,
    ran_claim,
    resume_claim,
    share_of,
    unprovable,
)
from orchestrator.delivery import find_text
from orchestrator.errors import OrchError
from orchestrator.executables import Program, load_program
from orchestrator.footprint import load_footprint
from orchestrator.recorder import Recorder, Script
from orchestrator.rehearsal import (
    RUN_SECONDS,
    Rehearsal,
    dirt,
    rehearse,
    remove,
    rendered,
    write_orch_config,
    write_set_up,
)
from orchestrator.sandbox import Sandbox, sandbox
from orchestrator.verify_memory import BUDGET, FILES

_TASK = "Look into the notes of this repository and tell what they say."


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is verified: a backend's adapter, its program, and one of its seams (`file` or `launch`)."""

    adapter: Adapter
    program: Path
    seam: str


def verify(subject: Subject, environ: Mapping[str, str]) -> Row:
    """Run every check of one subject; what cannot be run becomes a row with a note, never an exception of ours."""
    adapter = subject.adapter
    row = Row(backend=adapter.name, seam=subject.seam, version=None, tested=adapter.tested)
    try:
        with sandbox(environ, FILES) as box:
            # Asked in the sandbox too: some programs write into the home even for their version.
            program = load_program(adapter, subject.program, box.environ)
            row = replace(row, version=program.version, note=_age(program))
            if adapter.redirect is None:
                return _verify_file(subject, box, row)
            with Recorder() as recorder:
                return _Verification(subject, box, recorder).row(row)
    except OrchError as exc:
        claim = judged("ran", False, exc.message)
        return replace(row, claims=(claim,))


class _Verification:
    """The runs of one subject, in one sandbox, against one recorder."""

    def __init__(self, subject: Subject, box: Sandbox, recorder: Recorder) -> None:
        self._subject, self._box, self._recorder = subject, box, recorder
        self._redirect = write_set_up(box, subject.adapter, subject.program, recorder.url, _budget(subject))

    def row(self, row: Row) -> Row:
        """Make every run and judge it."""
        box = self._box
        text = rendered(box)
        before = load_footprint(box.git())
        off, differences = self._off()
        first = self._spawn("first", _TASK)
        left = dirt(box, first.worktree)
        resumed = self._resume(first, text)
        # The same task: what differs then is what another worktree alone makes different.
        second = self._spawn("second", _TASK)
        left += dirt(box, second.worktree)
        for each in (off, first, second):
            left += remove(box, each)
        left += before.differences(load_footprint(box.git()))
        share = share_of(first.requests, second.requests)
        sighting = find_text(first.requests[0].body, text) if first.requests else None
        place = None if sighting is None else sighting.place
        claims = (
            ran_claim([each.complaint for each in (off, first, second)]),
            *delivery_claims(first.requests, text),
            resumed,
            off_claim(off.requests, text, differences),
            footprint_claim(left),
        )
        return replace(
            row,
            claims=claims,
            share=share,
            place=place,
            shares_memory=None if share is None or place is None else share.covers(place.path),
        )

    def _spawn(self, branch: str, task: str, *options: str) -> Rehearsal:
        seam = ("--seam", self._subject.seam)
        return rehearse(
            self._box, self._recorder, self._subject.adapter.name, *seam, *options, branch=branch, task=task
        )

    def _off(self) -> tuple[Rehearsal, list[str]]:
        """Run with the memory off; return with it what differs from a launch that knows of no memory."""
        box = self._box
        before = load_footprint(box.git())
        off = self._spawn("off", _TASK, "--no-memory")
        after = load_footprint(box.git())
        found = [".git/config has changed"] if before.config != after.config else []
        found += [".git/info has changed"] if before.info != after.info else []
        plain = self._subject.adapter.command(self._plain_launch(off))
        if tuple(plain.argv) != tuple(_words(off.agent["argv"])):
            found.append("the arguments are not those of a plain launch")
        tracked = set(box.git(off.worktree).text("ls-files", "-z").split("\0"))
        extra = sorted(_files(off.worktree) - tracked)
        return off, [*found, *(f"{name} stands in the worktree" for name in extra)]

    def _plain_launch(self, of: Rehearsal) -> Launch:
        session = of.agent.get("session")
        return Launch(
            executable=str(self._subject.program),
            task=_TASK,
            worktree=of.worktree,
            state=self._box.repo / ".git" / "orch" / "agents" / of.id,
            model=self._redirect.model,
            session=None if session is None else str(session),
            root=os.geteuid() == 0,
            environ=self._environ(of),
            extra_args=self._redirect.args,
        )

    def _environ(self, of: Rehearsal) -> dict[str, str]:
        own = {"ORCH_AGENT": of.id, "ORCH_PROJECT": str(self._box.repo / ".git"), "PWD": str(of.worktree)}
        return {**self._box.environ, **self._redirect.environ, **own}

    def _resume(self, first: Rehearsal, text: str) -> Claim:
        """Go on with the first agent's conversation in its worktree, as a person would."""
        if not self._subject.adapter.resumes:
            return Claim(name="resume", verdict=Verdict.ABSENT, detail="the backend cannot continue a conversation")
        if first.agent.get("session") is None:
            return judged("resume", False, "the conversation's id could not be read")
        seen = len(self._recorder.main_requests)
        self._recorder.play(Script())
        command = ["resume", first.id, "--seam", self._subject.seam, "--wait", "--json", "--", "Go on, please."]
        self._box.orch_json(*command, timeout=RUN_SECONDS)
        return resume_claim(self._recorder.main_requests[seen:], text, _TASK)


def _age(program: Program) -> str:
    """Say when the version is not one that the adapter was measured on; what is shown is shown of it all the same."""
    if not (program.newer or program.older):
        return ""
    return f"version {program.version} is {'newer' if program.newer else 'older'} than what it was measured on"


def _budget(subject: Subject) -> dict[str, int]:
    """The memory's budget: all of the long memory, but no more than the backend reads of a context file."""
    seam = subject.adapter.file_seam
    most = seam.cap * 3 // 4 if seam is not None and seam.cap is not None else BUDGET["bytes"]
    return {**BUDGET, "bytes": min(BUDGET["bytes"], most)}


def _words(value: object) -> list[str]:
    return [str(word) for word in value] if isinstance(value, list) else []


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != ".git"}


def _verify_file(subject: Subject, box: Sandbox, row: Row) -> Row:
    """Check the block in the context file, in a spawn whose program is a stand-in that does nothing."""
    adapter = subject.adapter
    stand_in = box.root / "stand-in"
    stand_in.write_text("#!/bin/sh\necho 0.0.0\n", encoding="utf-8")
    stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
    write_orch_config(box, {adapter.name: {"executable": str(stand_in)}}, _budget(subject))
    text, before = rendered(box), load_footprint(box.git())
    command = ["spawn", "--backend", adapter.name, "--seam", "file", "--wait", "--json", "--", _TASK]
    agent = Rehearsal(agent=box.orch_json(*command)["agent"], requests=())
    name = str(agent.agent.get("seam_file"))
    path = agent.worktree / name
    times = path.read_text(encoding="utf-8").count(text) if path.is_file() else 0
    left = dirt(box, agent.worktree)
    left += remove(box, agent) + before.differences(load_footprint(box.git()))
    why = f"the model's traffic of {adapter.title} cannot be redirected"
    found = judged("once", False, f"the text stands {times} times in {name}") if times != 1 else None
    claims = (
        *((found,) if found else unprovable(["once"], why)),
        *unprovable(["exact", "second_turn", "resume", "off"], why),
        footprint_claim(left),
    )
    note = f"delivery cannot be proven offline: {why}; checked: the text stands once, whole, in {name}"
    notes = [note if found is None else why, row.note]
    return replace(row, claims=claims, note="; ".join(each for each in notes if each))
