"""`orch resume` and `orch handoff`: another run in the same worktree meets the memory as it is now, once."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters import registry
from orchestrator.delivery import find_text
from orchestrator.recorder import Recorder, RunCommand, Script, Text
from orchestrator.rehearsal import rehearse, rendered, write_orch_config, write_set_up
from orchestrator.sandbox import Sandbox, sandbox
from projection.block import render_block
from tests.conformance.memories import FILES
from tests.conformance.scripted import commit_memory, processes, surroundings, write_backends
from tests.conftest import Orch, git
from tests.projection.spawned import commit_file, every_object

pytestmark = pytest.mark.conformance

Require = Callable[[str], Path]


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with sandbox(dict(os.environ), FILES) as made:
        yield made


def _status(worktree: Path) -> str:
    return git(worktree, "status", "--porcelain", "--untracked-files=all")


def _again(box: Sandbox, recorder: Recorder, *command: str) -> list[bytes]:
    """Run an agent again, to its end; return the bodies of its main requests."""
    seen = len(recorder.main_requests)
    recorder.play(Script.of(RunCommand("cat NOTES.txt"), final=Text("Done.")))
    value = box.orch_json(*command, "--wait", "--json")
    assert value["agent"]["outcome"] == "completed", value["agent"]
    return [request.body for request in recorder.main_requests[seen:]]


def test_a_handoff_from_claude_to_crush_to_cursor(box: Sandbox, require_backend: Require) -> None:
    with Recorder() as recorder:
        write_set_up(box, registry()["claude"], require_backend("claude"), recorder.url)
        text = rendered(box)
        first = rehearse(box, recorder, "claude", branch="one", task="Look into README.md.")
        assert find_text(first.requests[0].body, text).once
        assert not list(first.worktree.glob("*.md"))[1:]

        write_set_up(box, registry()["crush"], require_backend("crush"), recorder.url)
        for body in _again(box, recorder, "handoff", first.id, "-b", "crush", "--seam", "file", "Go on."):
            assert find_text(body, text).once
    assert (first.worktree / "CRUSH.md").read_bytes() == render_block(text)
    assert not (first.worktree / "AGENTS.md").exists()
    assert _status(first.worktree) == ""

    write_orch_config(box, {"cursor": {"executable": str(require_backend("cursor"))}})
    box.orch("handoff", first.id, "-b", "cursor", "--wait", "Finish.")
    agent = box.orch_json("show", first.id, "--json")["agent"]
    assert (agent["backend"], agent["seam"], agent["seam_file"]) == ("cursor", "file", "AGENTS.md")
    assert (first.worktree / "AGENTS.md").read_bytes() == render_block(text)
    assert not (first.worktree / "CRUSH.md").exists()
    assert _status(first.worktree) == ""
    assert [run["backend"] for run in agent["extra"]["runs"]] == ["claude", "crush"]
    assert box.orch("rm", first.id).code == 0
    assert b"orch" not in (box.repo / ".git" / "config").read_bytes()


@pytest.mark.parametrize(
    ("name", "seam"),
    [("claude", "launch"), ("opencode", "file"), ("opencode", "launch"), ("gemini", "file"), ("crush", "file")],
)
def test_a_resumed_agent_meets_the_memory_as_it_is_now(
    name: str, seam: str, box: Sandbox, require_backend: Require
) -> None:
    with Recorder() as recorder:
        write_set_up(box, registry()[name], require_backend(name), recorder.url)
        old = rendered(box)
        first = rehearse(box, recorder, name, "--seam", seam, branch="one", task="Look into README.md.")
        assert first.complaint == ""
        memory = box.repo / ".orch" / "memory.md"
        memory.write_bytes(memory.read_bytes() + b"- A fact that came later.\n")
        box.git().run("commit", "--all", "--quiet", "--message", "A later fact")
        new = rendered(box)
        assert new != old
        bodies = _again(box, recorder, "resume", first.id, "--seam", seam, "Go on.")
        assert bodies
        for body in bodies:
            assert find_text(body, new).once
            assert find_text(body, old).times == 0
        assert b"Look into README.md." in bodies[0], "it is the same conversation"
        assert _status(first.worktree) == ""

        memory.write_bytes(b"# Project memory\n")
        for body in _again(box, recorder, "resume", first.id, "And finish."):
            assert find_text(body, new).times == 0
    assert _status(first.worktree) == ""
    assert sorted(path.name for path in first.worktree.glob("*.md")) == ["README.md"]
    assert box.orch("rm", first.id).code == 0
    assert b"orch" not in (box.repo / ".git" / "config").read_bytes()


@pytest.fixture
def own(repo: Path, home: Path) -> Path:
    """A repository with a memory and a tracked AGENTS.md, and scripted backends for two files."""
    write_backends(home, {"first": {"file": "AGENTS.md"}, "second": {"file": "CRUSH.md"}, "flag": {"flag": "--m"}})
    commit_memory(repo)
    commit_file(repo, "AGENTS.md", b"# Ours\r\nno final newline")
    return repo


def _run(orch: Orch, *args: str) -> dict[str, object]:
    agent = json.loads(orch.ok(*args, "--wait", "--json").stdout)["agent"]
    assert isinstance(agent, dict)
    return agent


def test_another_task_for_a_script(orch: Orch, own: Path) -> None:
    before = surroundings(own)
    text = orch.ok("memory").stdout
    agent = _run(orch, "spawn", "-b", "first", "printf x >> AGENTS.md; echo one")
    worktree = Path(str(agent["worktree"]))
    again = orch(
        "resume", str(agent["id"]), "--wait", "--json", "echo two; cat AGENTS.md > seen; git status --porcelain"
    )
    assert again.code == 0
    assert "no conversation" in again.stderr
    assert (worktree / "seen").read_bytes() == render_block(text) + b"# Ours\r\nno final newlinex"
    assert orch.ok("logs", str(agent["id"])).stdout == "two\n M AGENTS.md\n?? seen\n"
    shown = json.loads(orch.ok("show", str(agent["id"]), "--json").stdout)["agent"]
    assert shown["task"].startswith("echo two")
    assert [run["task"] for run in shown["extra"]["runs"]] == ["printf x >> AGENTS.md; echo one"]
    git(worktree, "checkout", "--", ".")
    (worktree / "seen").unlink()
    orch.ok("rm", str(agent["id"]))
    assert surroundings(own) == before
    assert processes(own) == []


def test_the_agents_own_edits_outlive_a_handoff(orch: Orch, own: Path, tmp_path: Path) -> None:
    agent = _run(orch, "spawn", "-b", "first", "printf ' and more' >> AGENTS.md; echo new > CRUSH.md")
    worktree, text = Path(str(agent["worktree"])), orch.ok("memory").stdout
    handed = _run(orch, "handoff", str(agent["id"]), "-b", "second", f"cat CRUSH.md > {tmp_path}/seen")
    assert (handed["seam"], handed["seam_file"]) == ("file", "CRUSH.md")
    assert (worktree / "AGENTS.md").read_bytes() == b"# Ours\r\nno final newline and more"
    assert (tmp_path / "seen").read_bytes() == render_block(text) + b"new\n"
    assert _status(worktree) == " M AGENTS.md\n?? CRUSH.md"
    git(worktree, "add", "--all")
    git(worktree, "commit", "--quiet", "--message", "x")
    assert b"orch:memory" not in every_object(own)
    assert git(worktree, "show", "HEAD:CRUSH.md") == "new"
    off = _run(orch, "handoff", str(agent["id"]), "-b", "flag", "--no-memory", "true")
    assert off["seam"] == "none"
    assert (worktree / "CRUSH.md").read_bytes() == b"new\n"
    assert _status(worktree) == ""
    assert b"orch" not in (own / ".git" / "config").read_bytes()


def test_a_running_and_a_removed_agent_are_refused(orch: Orch, own: Path) -> None:
    agent = json.loads(orch.ok("spawn", "-b", "first", "--json", "exec sleep 60").stdout)["agent"]
    for command in (["resume", agent["id"], "x"], ["handoff", agent["id"], "-b", "second", "x"]):
        refused = orch(*command)
        assert refused.code == 2
        assert "still running" in refused.stderr
    orch.ok("stop", agent["id"])
    assert orch("handoff", agent["id"], "-b", "secnd", "x").code == 6
    orch.ok("rm", agent["id"])
    assert orch("resume", agent["id"], "x").code == 2


def test_a_seam_that_is_in_the_way_changes_nothing(orch: Orch, own: Path) -> None:
    agent = _run(orch, "spawn", "-b", "first", "ln -s README.md CRUSH.md")
    worktree = Path(str(agent["worktree"]))
    before = (worktree / "AGENTS.md").read_bytes()
    refused = orch("handoff", str(agent["id"]), "-b", "second", "x")
    assert refused.code == 8
    assert "symbolic link" in refused.stderr
    assert (worktree / "AGENTS.md").read_bytes() == before
    shown = json.loads(orch.ok("show", str(agent["id"]), "--json").stdout)["agent"]
    assert (shown["backend"], shown["status"], shown["seam_file"]) == ("first", "ended", "AGENTS.md")


def test_a_backend_that_does_not_start_leaves_the_agent_ended(orch: Orch, own: Path, home: Path) -> None:
    agent = _run(orch, "spawn", "-b", "first", "true")
    config = home / ".config" / "orch" / "config.yml"
    value = json.loads(config.read_text())
    broken = home / "broken"
    broken.write_text("#!/nonexistent/interpreter\n")
    broken.chmod(0o755)
    value["backends"]["broken"] = {"command": [str(broken)], "seam": {"file": "CRUSH.md"}}
    config.write_text(json.dumps(value))
    assert orch("handoff", str(agent["id"]), "-b", "broken", "x").code == 6
    shown = json.loads(orch.ok("show", str(agent["id"]), "--json").stdout)["agent"]
    assert (shown["backend"], shown["status"]) == ("first", "ended")
    worktree = Path(str(agent["worktree"]))
    assert shown["seam_file"] == "CRUSH.md", "the record says where the block is now"
    assert (worktree / "CRUSH.md").exists()
    again = _run(orch, "resume", str(agent["id"]), "true")
    assert again["seam_file"] == "AGENTS.md"
    assert not (worktree / "CRUSH.md").exists()
    assert _status(worktree) == ""
