"""A person's consent to commands that a repository wants to run: to exactly that text, on this machine.

`.orch/config.yml` comes with a clone, so its `worktrees.setup` is somebody else's code until a person has read it. The
consent is kept in the state directory, by the SHA-256 of the commands: another text is another question. It is no wall
against a program that can already write into the git directory.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import OrchError
from orchestrator.project import Project
from projection.faults import write_hint

KINDS = ("setup", "teardown")


@dataclass(frozen=True, kw_only=True)
class Script:
    """The commands of `worktrees.setup` or `worktrees.teardown`, as they would run."""

    kind: str
    commands: tuple[str, ...]

    @property
    def key(self) -> str:
        """SHA-256 in hex of kind and commands."""
        return hashlib.sha256(json.dumps([self.kind, *self.commands]).encode()).hexdigest()


def is_trusted(project: Project, script: Script) -> bool:
    """Whether a person has consented to exactly this text."""
    return script.key in _load(project)


def write_consent(project: Project, scripts: Sequence[Script], *, trusted: bool) -> None:
    """Remember the consent to these texts, or forget it. Raises OrchError when that cannot be written."""
    known = _load(project)
    keys = {script.key: script.kind for script in scripts}
    kept = {key: kind for key, kind in known.items() if key not in keys}
    path = _path(project)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps({**kept, **(keys if trusted else {})}, indent=1) + "\n")
        draft.replace(path)
    except OSError as exc:
        raise OrchError(
            f"cannot write {path}: {exc.strerror}", write_hint(exc, "check the owner and mode of that directory")
        ) from exc


def _path(project: Project) -> Path:
    return project.state / "trusted.json"


def _load(project: Project) -> dict[str, str]:
    try:
        found = json.loads(_path(project).read_text())
    except (OSError, ValueError):
        return {}
    return {str(key): str(kind) for key, kind in found.items()} if isinstance(found, dict) else {}
