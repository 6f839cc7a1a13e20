"""The mirror in a host's own memory: renewed by whatever changes the memory, and taken out when it is switched off."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from projection.filter import BEGIN, END
from tests.conftest import Orch, git
from tests.orchestrator.conftest import Shell, until

OWN = b"- A note of Claude's own.\n"
MEMORY = "# Project memory\n\n## Notes\n- The first fact is here.\n- The second fact is here.\n"


@pytest.fixture
def mirror(repo: Path, home: Path) -> Path:
    """Where the mirror of a repository with a memory is, which is switched on and not there yet."""
    (repo / ".orch").mkdir()
    (repo / ".orch" / "memory.md").write_text(MEMORY)
    (repo / ".orch" / "config.yml").write_text("memory: {mirror: true}\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Remember")
    return home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(repo)) / "memory" / "MEMORY.md"


def _switch_off(repo: Path) -> None:
    (repo / ".orch" / "config.yml").write_text("memory: {mirror: false}\n")


def _mirrored(mirror: Path) -> str:
    """The text of the block."""
    return mirror.read_bytes().split(BEGIN + b"\n")[1].split(b"\n" + END)[0].decode()


def _id(orch: Orch, text: str) -> str:
    entries = json.loads(orch.ok("memory", "list", "--json").stdout)["entries"]
    return str(next(entry["id"] for entry in entries if text in entry["text"]))


def _add(orch: Orch, folder: Path) -> None:
    orch.ok("memory", "add", "Another fact stands there.")


def _remove(orch: Orch, folder: Path) -> None:
    orch.ok("memory", "rm", _id(orch, "first fact"))


def _import(orch: Orch, folder: Path) -> None:
    (folder / "list.md").write_text("- Another fact stands there.\n")
    orch.ok("memory", "import", "--apply", str(folder / "list.md"))


def _edit(orch: Orch, folder: Path) -> None:
    editor = folder / "editor"
    editor.write_text('#!/bin/sh\necho "- Another fact stands there." >> "$1"\n')
    editor.chmod(0o755)
    orch.ok("memory", "--edit", environ={"EDITOR": str(editor)})


def _approve_all(orch: Orch, folder: Path) -> None:
    (orch.cwd / ".orch" / "memory.md").write_text(f"{MEMORY}- [unverified] Another fact stands there.\n")
    orch.ok("memory", "review", "--approve-all")


@pytest.mark.parametrize("change", [_add, _remove, _import, _edit, _approve_all])
@pytest.mark.parametrize("there", [True, False])
def test_a_mirror_is_renewed_by_whatever_changes_the_memory(
    orch: Orch, mirror: Path, tmp_path: Path, change: Callable[[Orch, Path], None], there: bool
) -> None:
    if there:
        orch.ok("memory")
        before = _mirrored(mirror)
        mirror.write_bytes(mirror.read_bytes() + OWN)
    change(orch, tmp_path)
    found = _mirrored(mirror)
    assert mirror.read_bytes().endswith(OWN) is there
    assert found == orch.ok("memory").stdout
    assert not there or found != before


def test_what_an_agent_proposed_is_in_the_mirror_when_it_has_ended(orch: Orch, mirror: Path, shell: Shell) -> None:
    agent = shell.spawn(f"{sys.executable} -I -m orchestrator memory add 'Another fact stands there.'")
    assert shell.ended(agent["id"])["outcome"] == "completed", shell.output(agent["id"])
    # The agent's supervisor does it, after the end is on record.
    until(lambda: "(unverified) Another fact stands there." in _mirrored(mirror))


def test_a_merge_that_brings_another_memory_renews_the_mirror(orch: Orch, mirror: Path, shell: Shell) -> None:
    orch.ok("memory")
    agent = shell.spawn("echo '- Another fact stands there.' >> .orch/memory.md; git commit -qam Remember", "--wait")
    orch.ok("merge", "--with-memory", agent["id"])
    assert "Another fact stands there." in _mirrored(mirror)


def test_a_mirror_that_is_switched_off_is_told_of_and_taken_out(orch: Orch, repo: Path, mirror: Path) -> None:
    orch.ok("memory")
    mirror.write_bytes(mirror.read_bytes() + OWN)
    _switch_off(repo)
    (finding,) = _findings(orch)
    assert finding["state"] == "warning"
    assert str(mirror) in finding["text"]
    assert finding["hint"] == "orch memory takes it out"
    orch.ok("memory")
    assert mirror.read_bytes() == OWN
    assert _findings(orch) == []


@pytest.mark.parametrize("command", [("memory", "list"), ("memory", "add", "A fact"), ("doctor", "--fix"), ("ls",)])
def test_a_mirror_that_is_switched_off_goes_with_the_first_command_that_may(
    orch: Orch, repo: Path, mirror: Path, command: tuple[str, ...]
) -> None:
    orch.ok("memory")
    _switch_off(repo)
    orch.ok(*command)
    assert mirror.exists() is (command == ("ls",))  # which needs no configuration, and changes nothing


def test_a_mirror_that_is_out_of_date_is_told_of(orch: Orch, repo: Path, mirror: Path) -> None:
    orch.ok("memory")
    assert _findings(orch) == []
    (repo / ".orch" / "memory.md").write_text(MEMORY + "- Another fact stands there.\n")
    (finding,) = _findings(orch)
    assert (finding["state"], finding["hint"]) == ("warning", "orch memory renews it")
    orch.ok("doctor", "--fix")
    assert "Another fact" in _mirrored(mirror)
    assert _findings(orch) == []


def test_a_mirror_whose_block_is_damaged_is_told_of_and_costs_no_entry(orch: Orch, repo: Path, mirror: Path) -> None:
    orch.ok("memory")
    mirror.write_bytes(mirror.read_bytes().replace(END + b"\n", b""))
    damaged = mirror.read_bytes()
    done = orch.ok("memory", "add", "Another fact stands there.")
    assert "never ends" in done.stderr
    assert "Another fact" in (repo / ".orch" / "memory.md").read_text()
    assert "Another fact" in orch.ok("memory").stdout
    removed = orch.ok("memory", "rm", _id(orch, "Another fact"))
    assert removed.stdout.startswith("removed ")
    assert mirror.read_bytes() == damaged
    (finding,) = _findings(orch)
    assert finding["state"] == "fault"
    assert "never ends" in finding["text"]


def test_without_a_mirror_nothing_is_written_for_it(orch: Orch, repo: Path, mirror: Path, home: Path) -> None:
    _switch_off(repo)
    orch.ok("memory", "add", "Another fact stands there.")
    orch.ok("memory")
    assert not (home / ".claude").exists()
    assert not list((repo / ".git" / "orch").glob("mirrors*"))
    assert _findings(orch) == []


def _findings(orch: Orch) -> list[dict[str, str]]:
    found = json.loads(orch("doctor", "--json").stdout)["findings"]
    return [each for each in found if each["area"] == "mirror"]
