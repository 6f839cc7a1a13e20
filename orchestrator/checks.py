"""The project's own checks, `.orch/check.yml`: named commands that decide whether an agent's work is done.

The file is the main checkout's, never the agent's: an agent that edits its copy does not decide by what it is judged.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import ConfigProblem
from orchestrator.process import ProcessFault, run, scrubbed
from orchestrator.project import Project

CHECK_FILE = ".orch/check.yml"
_SECONDS = 3600.0
_SHOWN_LINES = 20


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check: a name, and a shell command that exits with 0 when all is well."""

    name: str
    command: str


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What a check gave. `output` is the end of both its streams, empty where it passed."""

    name: str
    command: str
    passed: bool
    code: int | None
    seconds: float
    output: str = ""

    def to_json(self) -> dict[str, Any]:
        """A JSON object with every field."""
        return asdict(self)


def load_checks(project: Project) -> tuple[Check, ...]:
    """The checks in the order of the file; none where there is no file. Raises ConfigProblem with file and line."""
    from orchestrator.config_file import load_file, parse

    if project.main is not None:
        written = load_file(project.main / CHECK_FILE, base=project.main, shown=CHECK_FILE)
    else:
        found = project.git().run("cat-file", "blob", f"HEAD:{CHECK_FILE}", check=False)
        if found.code != 0:
            return ()
        written = parse(found.stdout, base=project.common_dir, shown=f"HEAD:{CHECK_FILE}")
    table = written.value if isinstance(written.value, dict) else {}
    for name, value in table.items():
        if name != "checks":
            raise ConfigProblem(f"{value.source}: {name} is not known here", "the one key is `checks`")
    checks = table.get("checks")
    if checks is None:
        return ()
    if not isinstance(checks.value, dict):
        raise ConfigProblem(f"{checks.source}: checks must be a table", "for example: checks: {test: make test}")
    for name, value in checks.value.items():
        if not isinstance(value.value, str) or not value.value.strip():
            raise ConfigProblem(f"{value.source}: the check {name} must be a command", f"such as: {name}: make test")
    return tuple(Check(name=name, command=str(value.value)) for name, value in checks.value.items())


def run_checks(
    checks: tuple[Check, ...],
    folder: Path,
    environ: Mapping[str, str],
    *,
    started: Callable[[Check], None] = lambda _: None,
    seconds: float = _SECONDS,
) -> tuple[Checked, ...]:
    """Run every check in the folder, one after the other, also after one has failed; failures come first."""
    found = []
    for check in checks:
        started(check)
        found.append(_run(check, folder, environ, seconds))
    return tuple(sorted(found, key=lambda each: each.passed))


def _run(check: Check, folder: Path, environ: Mapping[str, str], seconds: float) -> Checked:
    begun = time.monotonic()
    # Both streams as one, in the order in which they were written.
    command = ["/bin/sh", "-c", 'exec 2>&1; eval "$1"', "sh", check.command]
    try:
        done = run(command, cwd=folder, environ=scrubbed(environ), timeout=seconds, check=False)
        code, output = done.code, done.stdout
    except ProcessFault as exc:
        code, output = None, exc.message.encode()
    passed = code == 0
    return Checked(
        name=check.name,
        command=check.command,
        passed=passed,
        code=code,
        seconds=round(time.monotonic() - begun, 3),
        output="" if passed else _end(output),
    )


def _end(output: bytes) -> str:
    lines = output.decode("utf-8", "backslashreplace").replace("\r\n", "\n").rstrip().split("\n")
    left = len(lines) - _SHOWN_LINES
    return "\n".join([f"… {left} lines before", *lines[-_SHOWN_LINES:]] if left > 0 else lines)
