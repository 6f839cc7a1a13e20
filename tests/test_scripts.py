"""The scripts that set a machine up."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

FAKE_NPM = """#!/bin/sh
echo "$@" >>"$CALLS"
case "$*" in *codex*) echo "npm error 404 Not Found" >&2; exit 1;; esac
name=claude; says="echo here"
case "$*" in *gemini*) name=gemini; says="echo 'no native program' >&2; exit 1";; esac
while [ $# -gt 0 ]; do [ "$1" = --prefix ] && into=$2; shift; done
mkdir -p "$into/node_modules/.bin"
printf '#!/bin/sh\\n%s\\n' "$says" >"$into/node_modules/.bin/$name"
chmod +x "$into/node_modules/.bin/$name"
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose npm has one package and misses another; returns the folder of the backends."""
    programs = tmp_path / "programs"
    programs.mkdir()
    npm = programs / "npm"
    npm.write_text(FAKE_NPM)
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("ORCH_BACKENDS", str(tmp_path / "backends"))
    return tmp_path / "backends"


def _install(*names: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts" / "install-backends", *names], capture_output=True, text=True, check=False, cwd="/"
    )


def test_a_backend_is_installed_once(machine: Path, tmp_path: Path) -> None:
    first, second = _install("claude"), _install("claude")
    assert (first.returncode, second.returncode) == (0, 0)
    assert len((tmp_path / "calls").read_text().splitlines()) == 1
    program = machine / "bin" / "claude"
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "here\n"


def test_one_that_fails_does_not_stop_the_others(machine: Path) -> None:
    done = _install("codex", "claude", "cursor")
    assert done.returncode == 1
    assert "codex: NOT installed: npm install @openai/codex@0.171.0 failed: npm error 404" in done.stderr
    assert "cursor: not to be had here" in done.stdout
    assert (machine / "bin" / "claude").exists()
    assert sorted(path.name for path in machine.iterdir()) == ["bin", "claude-2.1.197"]


def test_what_does_not_run_is_not_installed(machine: Path) -> None:
    done = _install("gemini")
    assert done.returncode == 1
    assert "gemini: NOT installed: it was installed but does not run: no native program" in done.stderr
    assert not any(path.name.startswith(("gemini", ".draft")) for path in machine.rglob("*"))


def test_what_is_required_must_be_there(machine: Path) -> None:
    assert _install("cursor").returncode == 0
    done = _install("--require", "cursor", "cursor")
    assert done.returncode == 1
    assert "cursor: NOT installed: it is required" in done.stderr
    assert _install("--require", "claude", "claude").returncode == 0
    assert _install("--what").returncode == 2


def test_a_name_that_is_none(machine: Path) -> None:
    assert _install("clawd").returncode == 1


def test_the_pinned_versions_are_those_that_were_measured() -> None:
    from adapters import registry

    text = (ROOT / "scripts" / "install-backends").read_text()
    for name, adapter in registry().items():
        if f"        {name}) from_" in text:
            line = next(line for line in text.splitlines() if line.startswith(f"        {name}) from_"))
            assert adapter.tested[1] in line


def test_without_a_python_that_is_new_enough(tmp_path: Path) -> None:
    """The script is copied: it works in the folder above its own."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "programs").mkdir()
    script = tmp_path / "scripts" / "make-venv"
    script.write_bytes((ROOT / "scripts" / "make-venv").read_bytes().replace(b" /usr/bin/python3;", b";"))
    script.chmod(0o755)
    for name in ("bash", "rm", "cat", "dirname", "env"):
        (tmp_path / "programs" / name).symlink_to(shutil.which(name) or name)

    old = tmp_path / "programs" / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = subprocess.run(
        [script], env={"PATH": str(tmp_path / "programs")}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "hint: install one" in done.stderr
