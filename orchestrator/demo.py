"""The demonstration: a scratch repository, one agent through the real pipeline, and what reached its model."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.backends import backends, executable, require_backend, require_executable
from orchestrator.claims import Claim, delivery_claims, footprint_claim, judged, ran_claim
from orchestrator.config_schema import Config
from orchestrator.delivery import Place, find_text
from orchestrator.errors import OrchError
from orchestrator.footprint import load_footprint
from orchestrator.recorder import Recorded, Recorder
from orchestrator.rehearsal import (
    SCRIPTED,
    Rehearsal,
    dirt,
    rehearse,
    remove,
    rendered,
    write_orch_config,
    write_set_up,
)
from orchestrator.sandbox import Sandbox, sandbox

# In this order the first one that is installed is taken.
PREFERRED = ("claude", "codex", "opencode", "aider", "gemini")
TASK = "Read the notes in this repository and say in one sentence what the project is."
_FINAL = "It is a small parcel tracker."

MEMORY = """\
# Project memory

## Where things live

- The daemon's API is spec-first: edit openapi.yaml, then run `make generate`.
- Fixtures live in testdata/ and are written by `make fixtures`, never by hand.
- Tests need `docker compose up db` first; without it they hang instead of failing.

## Do not repeat

- Never edit the files below gen/: the next build removes every change.
"""
FILES: Mapping[str, bytes] = {
    ".orch/memory.md": MEMORY.encode(),
    "README.md": b"# Parcels\n\nA small parcel tracker: one daemon, one command.\n",
    "NOTES.txt": b"Parcels is a small parcel tracker.\n",
    "openapi.yaml": b"openapi: 3.1.0\ninfo: {title: Parcels, version: 1.0.0}\npaths: {}\n",
}


@dataclass(frozen=True, kw_only=True)
class Demonstration:
    """What was shown. `text` is what `orch memory` prints; `place` is where it stood in the first request."""

    backend: str
    program: str
    text: str
    agent: Mapping[str, object]
    requests: tuple[Recorded, ...]
    place: Place | None
    claims: tuple[Claim, ...]
    folder: Path | None

    @property
    def context(self) -> tuple[str, str]:
        """A little of what stands before and after the text in its string, as the model reads it."""
        if self.place is None:
            return "", ""
        from orchestrator.delivery import parse_leaves

        leaves = parse_leaves(self.requests[0].body)
        value = next(leaf.value for leaf in leaves if leaf.path == self.place.path)
        end = self.place.offset + len(self.text)
        return value[max(0, self.place.offset - 80) : self.place.offset], value[end : end + 80]


def demonstrate(
    config: Config, environ: Mapping[str, str], backend: str | None, *, keep: bool, tell: Callable[[str], None]
) -> Demonstration:
    """Run the demonstration with one backend, by default the first that is installed.

    `keep` leaves the scratch folder, with every request in it. Raises OrchError when a step cannot be done.
    """
    name = backend or chosen_backend(config, environ)
    with sandbox(environ, FILES, keep=keep) as box, Recorder(keep=box.root / "requests" if keep else None) as recorder:
        tell(f"a scratch repository with a committed memory is in {box.repo}")
        tell(f"the loopback model listens on {recorder.url}")
        program = _set_up(config, environ, name, box, recorder.url)
        tell(f"spawning {name} with: orch spawn --backend {name} …")
        return _show(name, program, box, recorder, keep=keep)


def chosen_backend(config: Config, environ: Mapping[str, str]) -> str:
    """The first preferred backend that is installed, else the scripted agent."""
    known = backends(config)
    for name in PREFERRED:
        if name in known and executable(known[name], config, environ) is not None:
            return name
    return SCRIPTED


def _set_up(config: Config, environ: Mapping[str, str], name: str, box: Sandbox, url: str) -> str:
    """Configure the scratch orch for the backend, and return what its program is."""
    if name == SCRIPTED:
        command = [sys.executable, "-I", "-m", "orchestrator.scripted_agent"]
        own = {"command": command, "prompt": "arg", "seam": {"file": "AGENTS.md"}, "env": {"ORCH_DEMO_URL": url}}
        write_orch_config(box, {SCRIPTED: own})
        return "a minimal agent of orch's own"
    adapter = require_backend(config, name)
    program = require_executable(adapter, config, environ)
    if adapter.redirect is None:
        raise OrchError(
            f"{adapter.title} cannot be demonstrated: its model's traffic cannot be redirected",
            f"orch demo --backend {SCRIPTED}",
        )
    write_set_up(box, adapter, program, url)
    return str(program)


def _show(name: str, program: str, box: Sandbox, recorder: Recorder, *, keep: bool) -> Demonstration:
    text = rendered(box)
    before = load_footprint(box.git())
    run = rehearse(box, recorder, name, branch="demo", task=TASK, final=_FINAL)
    left = dirt(box, run.worktree)
    status = judged("status", not left, "; ".join(left) or "git status --porcelain in the agent's worktree is empty")
    after = footprint_claim(remove(box, run) + before.differences(load_footprint(box.git())))
    place = find_text(run.requests[0].body, text).place if run.requests else None
    return Demonstration(
        backend=name,
        program=program,
        text=text,
        agent=run.agent,
        requests=tuple(run.requests),
        place=place,
        claims=(_ran(run), *delivery_claims(run.requests, text), status, after),
        folder=box.root if keep else None,
    )


def _ran(run: Rehearsal) -> Claim:
    claim = ran_claim([run.complaint])
    return claim if claim.detail else judged("ran", True, f"agent {run.id} completed, {len(run.requests)} requests")
