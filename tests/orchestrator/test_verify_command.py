"""`orch verify` and `orch demo` as commands: exit codes, JSON, what they leave alone, and what a Ctrl-C leaves."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.conftest import Orch
from tests.fakes import claude as fake

_SYSTEM = "/usr/bin:/bin"


def install(folder: Path, way: str) -> str:
    """Put the stand-in for claude on a PATH, and return that PATH."""
    folder.mkdir()
    program = folder / "claude"
    command = shlex.join([sys.executable, "-I", str(Path(fake.__file__)), way])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return f"{folder}:{_SYSTEM}"


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_all_that_is_installed_is_verified_and_the_rest_is_named(orch: Orch, tmp_path: Path, home: Path) -> None:
    path = install(tmp_path / "bin", "honest")
    before, repository = files(home), files(orch.cwd)
    result = orch("verify", "--all", "--json", environ={"PATH": path})
    shown = json.loads(result.stdout)
    assert (result.code, shown["schema"], shown["ok"]) == (0, 1, True)
    rows = {(row["backend"], row["seam"]): row for row in shown["rows"]}
    claude = rows["claude", "launch"]
    assert (claude["version"], claude["tested"]) == ("2.1.197", ["2.1.197", "2.1.197"])
    assert {claim["verdict"] for claim in claude["claims"].values()} == {"true"}
    assert claude["place"]["path"] == "system[1].text"
    assert claude["share"]["total"] >= claude["share"]["common"] >= claude["share"]["reusable"]
    assert not rows["codex", "file"]["installed"]
    assert rows["codex", "file"]["note"].startswith("not installed: ")
    assert (files(home), files(orch.cwd)) == (before, repository)


def test_a_claim_that_fails_is_told_in_words_and_by_the_exit_code(orch: Orch, tmp_path: Path) -> None:
    result = orch("verify", "--backend", "claude", environ={"PATH": install(tmp_path / "bin", "truncate")})
    assert result.code == 1
    assert result.stdout.split("\t")[4:7] == ["yes", "NO", "NO"]
    assert "claude (launch): once does not hold: arrived cut: " in result.stdout
    assert "; last there " in result.stdout


def test_a_backend_that_was_asked_for_and_is_not_there_is_a_failure(orch: Orch) -> None:
    result = orch("verify", "--backend", "codex", environ={"PATH": _SYSTEM})
    assert result.code == 1
    assert "codex (file): not installed: npm install -g @openai/codex" in result.stdout


def test_bad_arguments(orch: Orch, home: Path) -> None:
    assert orch("verify", "--backend", "clade").code == 6
    assert orch("verify", "--all", "--backend", "claude").code == 2
    config = home / ".config" / "orch" / "config.yml"
    config.parent.mkdir(parents=True)
    config.write_text("backends: {mine: {command: [sh], seam: {file: AGENTS.md}}}\n")
    own = orch("verify", "--backend", "mine")
    assert own.code == 2
    assert "mine is defined in the configuration" in own.stderr


def test_it_needs_no_repository(orch: Orch, tmp_path: Path) -> None:
    (tmp_path / "nowhere").mkdir()
    path = install(tmp_path / "bin", "honest")
    assert orch("verify", "--backend", "claude", cwd=tmp_path / "nowhere", environ={"PATH": path}).code == 0
    assert orch("demo", cwd=tmp_path / "nowhere", environ={"PATH": path}).code == 0


@pytest.mark.parametrize("way", ["drop", "duplicate", "forget", "litter", "fail"])
def test_the_demo_fails_when_a_claim_does(way: str, orch: Orch, tmp_path: Path) -> None:
    result = orch("demo", environ={"PATH": install(tmp_path / "bin", way)})
    assert result.code == 1
    assert "\nNO   " in result.stdout
    assert result.stdout.rstrip().endswith("Not everything that is claimed holds.")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_folder_and_no_process(number: signal.Signals, orch: Orch, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    path = install(tmp_path / "bin", "hang")
    running = subprocess.Popen(
        [sys.executable, "-I", "-m", "orchestrator", "demo"],
        cwd=orch.cwd,
        env={**os.environ, "PATH": path, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    until = time.monotonic() + 30
    while time.monotonic() < until and not _ours(temporary):
        time.sleep(0.05)
    assert _ours(temporary), "the agent did not come up"
    os.killpg(running.pid, number)
    assert running.stderr is not None
    said = running.stderr.read().decode()
    running.stderr.close()
    assert running.wait(60) == 130, said
    assert list(temporary.iterdir()) == []
    assert _ours(temporary) == []


def _ours(temporary: Path) -> list[int]:
    """The stand-in's processes whose working directory was in the sandbox."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "hang" in words and any(str(temporary) in word for word in words):
            found.append(process.pid)
    return found
