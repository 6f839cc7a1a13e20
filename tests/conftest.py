"""Fixtures: a home of the test's own, a real repository, the real `orch` as a process, and the real backends."""

import atexit
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.standins import install_standins

# A busy machine is no fault of a property.
settings.register_profile("orch", deadline=None)
settings.load_profile("orch")

ROOT = Path(__file__).resolve().parent.parent
# Not to be had from a package registry: these are tested against stand-ins built from the vendors' documents.
UNOBTAINABLE = frozenset({"antigravity", "crush", "cursor", "goose"})

# Read before any test changes the environment.
_PERSON = dict(os.environ)

# A run in the background of a shell begins with SIGINT ignored, and what a test starts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a run of `orch` gave."""

    code: int
    stdout: str
    stderr: str
    raw: bytes


class Orch:
    """Runs the real command line as a process, in the repository unless told otherwise."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd

    def __call__(
        self,
        *args: str,
        cwd: Path | None = None,
        environ: Mapping[str, str] | None = None,
        stdin: str | bytes | None = None,
        timeout: float = 120,
    ) -> Result:
        """Run `orch ARGS`; `environ` is laid over the test's environment. Never raises for an exit code."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-I", "-m", "orchestrator", *args],
            cwd=cwd or self.cwd,
            env={**os.environ, **(environ or {})},
            capture_output=True,
            timeout=timeout,
            check=False,
            input=data or b"",
        )
        return Result(
            code=done.returncode,
            stdout=done.stdout.decode("utf-8", "surrogateescape"),
            stderr=done.stderr.decode("utf-8", "surrogateescape"),
            raw=done.stdout,
        )

    def ok(self, *args: str, **options: Any) -> Result:
        """As a call, and the exit code must be 0."""
        result = self(*args, **options)
        assert result.code == 0, f"orch {' '.join(args)}: exit {result.code}\n{result.stdout}\n{result.stderr}"
        return result


def processor_seconds() -> float:
    """What the commands that have ended have cost of the processor's time; other tests at the same time hardly change
    it, whatever they do to the clock.
    """
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="session", autouse=True)
def _this_checkout() -> None:
    """The background processes of orch run by `python -I`: they must import this checkout and no other."""
    found = subprocess.run(
        [sys.executable, "-I", "-c", "import orchestrator; print(orchestrator.__file__)"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    assert found == str(ROOT / "orchestrator" / "__init__.py"), (
        f"{sys.executable} imports orch from {found or 'nowhere'}, not from {ROOT}: make a .venv here (make test does)"
    )


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own: no test can read or write a person's files, or be steered by their variables."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("ORCH_", "GIT_", "XDG_", "CLAUDE", "CODEX_", "OPENCODE", "GEMINI_", "AIDER_", "GOOSE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    for name, part in (("CONFIG", ".config"), ("STATE", ".local/state"), ("CACHE", ".cache"), ("DATA", ".local/share")):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / part))
    settings = folder / "gitconfig"
    settings.write_text(
        "[user]\n\tname = Test Person\n\temail = person@example.invalid\n"
        "[init]\n\tdefaultBranch = main\n[commit]\n\tgpgSign = false\n[gc]\n\tauto = 0\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return folder


def commit_memory(repo: Path, text: str) -> Path:
    """Make the project's memory of this text, commit it, and return where it is."""
    path = repo / ".orch" / "memory.md"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Remember")
    return path


def git(cwd: Path, *args: str) -> str:
    """Run git in a folder; the test fails when git fails. Returns standard output without its last newline."""
    done = subprocess.run(["git", *args], cwd=cwd, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, f"git {' '.join(args)}: {done.stderr.decode(errors='replace')}"
    return os.fsdecode(done.stdout).removesuffix("\n")


@pytest.fixture
def repo(tmp_path: Path, home: Path) -> Path:
    """A real repository with one commit on `main`, with nothing of ours in it."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "README.md").write_text("# A small project\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Begin")
    return folder


@pytest.fixture
def orch(repo: Path) -> Orch:
    """The real `orch`, run in `repo`."""
    return Orch(repo)


@pytest.fixture(scope="session")
def require_backend() -> Callable[[str], Path]:
    """A function that returns the program of a backend, or skips the test (in CI: fails it) when there is none."""
    return _require_backend


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """A function for a figure that people should see; it stands at the end of the output, whoever ran the test."""
    return lambda text: record_property("told", text)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the tests told."""
    told = [
        str(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, value in report.user_properties
        if name == "told"
    ]
    if told:
        terminalreporter.section("measured by the tests")
    for line in sorted(told):
        terminalreporter.line(line)


@cache
def _standins() -> Path:
    """A folder with the stand-ins' programs, for this run of the tests."""
    folder = Path(tempfile.mkdtemp(prefix="orch-standins-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return install_standins(folder)


def _standin(name: str) -> Path:
    from adapters import registry

    return next(_standins() / program for program in registry()[name].executables if (_standins() / program).exists())


def _require_backend(name: str) -> Path:
    from adapters import registry

    for program in registry()[name].executables:
        found = shutil.which(program, path=_PERSON.get("PATH"))
        if found is not None:
            return Path(found)
    if name in UNOBTAINABLE:
        return _standin(name)
    reason = f"{name} is not on PATH: scripts/install-backends installs it, and says where"
    if _PERSON.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
