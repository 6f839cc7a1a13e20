"""Reading the guidance files that the configuration names."""

import os
from pathlib import Path

from memory.denylist import is_denied
from orchestrator.config_schema import Config
from orchestrator.plain_file import read_plain
from orchestrator.project import Project
from projection.budget import Budget
from projection.guidance import Guidance, Guide, render_guidance

_MOST_BYTES = 1024 * 1024


def load_guidance(project: Project, config: Config) -> tuple[Guidance, tuple[str, ...]]:
    """The guidance, and a note for each file that is not in it.

    A file that the project's own configuration names has to lie in the main checkout: a repository must not be able to
    send a person's other files to a model.
    """
    guides = []
    notes = []
    for name in config.guidance:
        try:
            guides.append(Guide(name=Path(name).name, text=_text(Path(name), _bounds(project, config))))
        except (OSError, ValueError) as exc:
            notes.append(f"the guidance file {name} is left out: {exc.strerror if isinstance(exc, OSError) else exc}")
    keys = config.guidance_budget
    guidance = render_guidance(guides, Budget(bytes=keys.bytes, tokens=keys.tokens))
    notes += [f"the guidance file {name} is left out: it is over guidance_budget" for name in guidance.dropped]
    return guidance, tuple(notes)


def _bounds(project: Project, config: Config) -> Path | None:
    """Where the files have to lie: the main checkout for the project's own layer, anywhere for the person's."""
    if ".orch/config.yml:" not in config.sources.get("guidance", ""):
        return None
    return project.main or project.common_dir


def _text(path: Path, bounds: Path | None) -> str:
    real = Path(os.path.realpath(path))
    if is_denied(path.name) or is_denied(real.name):
        raise ValueError("a file of that name may hold credentials, so it is never read")
    if bounds is not None and not real.is_relative_to(os.path.realpath(bounds)):
        raise ValueError("it is outside of the repository, whose configuration names it")
    if bounds is not None and real.is_relative_to(os.path.realpath(bounds / ".git")):
        raise ValueError("it is inside of .git")
    if not real.is_file():
        raise ValueError("there is no such file")
    if real.stat().st_size > _MOST_BYTES:
        raise ValueError("it is larger than 1 MiB")
    data = read_plain(real, _MOST_BYTES)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise ValueError("it is not UTF-8") from exc
