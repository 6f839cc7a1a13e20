"""The README's session is run, and prints what the README shows."""

import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from tests.conftest import ROOT, git

LOGIN = "def login(name, password):\n    return bool(name)\n"
MEMORY = """\
# Project memory

## How things run
- Tests run with `make check`; they need no network.
- [unverified · TODAY · agent a1b2 · codex] `make check` takes about ten minutes.

## Do not repeat
- Never edit generated files under gen/.
"""


@pytest.fixture
def shop(home: Path) -> Path:
    """The repository of the README's session."""
    folder = home / "shop"
    (folder / "shop").mkdir(parents=True)
    (folder / ".orch").mkdir()
    (folder / "shop" / "login.py").write_text(LOGIN)
    (folder / ".orch" / "memory.md").write_text(MEMORY.replace("TODAY", date.today().isoformat()))
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Begin")
    return folder


def session(text: str) -> list[tuple[str, str]]:
    """Commands and what they print, from the console blocks of the README's section on everyday use."""
    steps: list[tuple[str, str]] = []
    section, fenced = "", False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = line == "```console"
        elif line.startswith("## ") and not fenced:
            section = line
        elif fenced and section == "## Everyday use":
            if line.startswith("$ "):
                steps.append((line.removeprefix("$ "), ""))
            else:
                command, printed = steps.pop()
                steps.append((command, printed + line + "\n"))
    return steps


def plain(text: str, home: Path) -> str:
    """Without what differs from run to run: ids and hashes, times, the home folder, spaces at the ends."""
    text = text.replace(str(home), "/home/you")
    text = re.sub(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{4,40}\b|\b[a-f]{4}\b", "ID", text)
    text = re.sub(r"\b\d+s\b", "Ns", text)
    text = re.sub(r"ID-\d\d-\d\d", "DATE", text)
    return "\n".join(re.sub(r"[ \t]+", " ", line).rstrip() for line in text.strip().splitlines())


def play(command: str, shop: Path, programs: Path) -> str:
    """Run one command of the session in a shell and return everything that it prints."""
    path = os.pathsep.join((str(programs), str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=shop,
        env={**os.environ, "PATH": path, "IS_SANDBOX": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout


def test_the_session_prints_what_the_readme_shows(shop: Path, home: Path, tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT / "tests" / "fakes" / "coder.py"} "$@"\n')
    program.chmod(0o755)
    steps = session((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(steps) >= 8
    for command, shown in steps:
        printed = play(command, shop, tmp_path)
        assert plain(printed, home) == plain(shown, Path("/home/you")), f"$ {command}\n{printed}"


def test_the_comparison_sees_a_difference(home: Path) -> None:
    assert plain("agent 3f2a runs", home) == plain("agent a1b2 runs", home)
    assert plain("agent 3f2a runs", home) != plain("agent 3f2a is running", home)
    assert plain("face the added facade", home) == "ID the added facade"
