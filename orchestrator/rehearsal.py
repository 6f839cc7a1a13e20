"""Rehearsing a backend: real spawns of it in a sandbox, with the loopback model in place of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.adapter import Adapter, Outcome, Redirect
from orchestrator.errors import OrchError
from orchestrator.recorder import Recorded, Recorder, RunCommand, Script, Text
from orchestrator.sandbox import Sandbox, said, write_files

_MINUTES = 3
RUN_SECONDS = _MINUTES * 60 + 60
# aider has no tools: it takes the file's name out of the model's sentence, adds the file and asks again. So no task may
# name that file, or it would be there from the start.
COMMAND = "cat NOTES.txt"
SCRIPTED = "scripted"


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """One run of a backend: its record as `orch` tells it, and the main requests that it made."""

    agent: Mapping[str, object]
    requests: Sequence[Recorded]

    @property
    def id(self) -> str:
        """The agent's id."""
        return str(self.agent["id"])

    @property
    def worktree(self) -> Path:
        """The agent's worktree."""
        return Path(str(self.agent["worktree"]))

    @property
    def complaint(self) -> str:
        """Why the run did not complete; "" when it did."""
        if self.agent.get("outcome") == Outcome.COMPLETED:
            return ""
        return f"the run ended as {self.agent.get('outcome')}: {self.agent.get('reason') or 'no reason is known'}"


def write_set_up(
    box: Sandbox,
    adapter: Adapter,
    program: Path,
    url: str,
    budget: Mapping[str, int] | None = None,
    *,
    home: Path | None = None,
) -> Redirect:
    """Point a backend at the endpoint: what it needs in its home, and orch's configuration for it.

    `home` is the backend's, the sandbox's by default: agents that run at once with different endpoints need one each,
    since a backend reads its files when it starts, not when it is spawned. Raises OrchError for a backend that cannot
    be pointed anywhere.
    """
    if adapter.redirect is None:
        raise OrchError(f"the model's traffic of {adapter.title} cannot be redirected")
    home = home or box.home
    redirect = adapter.redirect(url, home)
    write_files(home, {str(path): data for path, data in redirect.files.items()})
    settings: dict[str, object] = {"executable": str(program), "env": dict(redirect.environ)}
    if redirect.args:
        settings["args"] = list(redirect.args)
    if redirect.model is not None:
        settings["model"] = redirect.model
    write_orch_config(box, {adapter.name: settings}, budget)
    return redirect


def write_orch_config(box: Sandbox, backends: Mapping[str, object], budget: Mapping[str, int] | None = None) -> None:
    """Write orch's configuration in the scratch home."""
    value: dict[str, object] = {"limits": {"minutes": _MINUTES}, "backends": dict(backends)}
    if budget is not None:
        value["memory"] = {"budget": dict(budget)}
    box.write_config(value)


def rehearse(
    box: Sandbox, recorder: Recorder, backend: str, *options: str, branch: str, task: str, final: str = "Done."
) -> Rehearsal:
    """Spawn the backend and wait for its end; the model asks for one command and then says `final`."""
    seen = len(recorder.main_requests)
    recorder.play(Script.of(RunCommand(COMMAND), final=Text(final)))
    command = ["spawn", "--backend", backend, "--branch", branch, *options, "--wait", "--json"]
    value = box.orch_json(*command, "--", task, timeout=RUN_SECONDS)
    return Rehearsal(agent=value["agent"], requests=recorder.main_requests[seen:])


def remove(box: Sandbox, rehearsal: Rehearsal) -> list[str]:
    """Remove the agent's worktree and branch, as a person would; return why orch refuses, nothing when it does not."""
    done = box.orch("rm", rehearsal.id)
    return [] if done.code == 0 else [f"orch rm: {said(done)}"]


def rendered(box: Sandbox) -> str:
    """The text that the next agent reads, from the command that a person would ask; raises OrchError when empty."""
    done = box.orch("memory")
    text = done.stdout.decode("utf-8", "replace")
    if done.code != 0 or not text:
        raise OrchError(f"orch memory: {said(done) if done.code else 'nothing was rendered'}")
    return text


def dirt(box: Sandbox, worktree: Path) -> list[str]:
    """What git sees as changed in an agent's worktree; a rehearsal itself changes nothing."""
    lines = box.git(worktree).run("status", "--porcelain", "--untracked-files=all").stdout.decode().splitlines()
    return [f"git status in the agent's worktree: {line}" for line in lines]
