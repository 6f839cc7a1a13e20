"""The derived copy: the memory's text in a host's own memory of the project, kept in step, and taken out again.

Claude keeps notes of its own for each main checkout and reads them in every worktree of it (measured on 2.1.197). With
`memory.mirror`, the text stands there too, as a block that is ours alone: the person's own sessions see it, and an
agent whose host carries it is given nothing twice.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from adapters import registry
from adapters.adapter import Adapter
from orchestrator.config_schema import Config
from orchestrator.errors import MemoryProblem
from orchestrator.injection import load_injection
from orchestrator.locks import held
from orchestrator.memory_file import replace_file
from orchestrator.plain_file import read_plain
from orchestrator.project import Project
from projection.block import merge, render_block, strip
from projection.faults import ProjectionFault

# The host cuts its memory off far below this.
_MOST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A file that does not say what it should: `what` in one line, `hint` what helps; `damaged` is that orch cannot."""

    path: Path
    what: str
    hint: str
    damaged: bool = False


def sync_mirrors(project: Project, config: Config, text: str, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Make every mirror say exactly `text` ("" or `memory.mirror` off: nothing); return the files that carry it.

    A line goes from the mirror when its entry goes from the text. Files that were written once are cleaned up even when
    the setting is off now. Raises MemoryProblem for a mirror whose block somebody has damaged.
    """
    if not _concerned(project, config, environ):
        return ()
    with held(project.state / "mirrors.lock"):
        return _bring(project, config, text, environ)


def renew_mirrors(project: Project, config: Config, environ: Mapping[str, str]) -> None:
    """As `sync_mirrors`, with what the next agent reads; of many at once, the last one has the last text."""
    if _concerned(project, config, environ):
        with held(project.state / "mirrors.lock"):
            _bring(project, config, load_injection(project, config).text, environ)


def find_faults(project: Project, config: Config, text: str, environ: Mapping[str, str]) -> Iterator[Fault]:
    """What is wrong with the mirrors where `text` is what they should say; changes nothing."""
    wanted = _wanted(project, config, text, environ)
    for path in dict.fromkeys((*_known(project), *wanted)):
        try:
            before, after = _contents(path, text if path in wanted else "")
        except MemoryProblem as exc:
            yield Fault(path=path, what=exc.message, hint=exc.hint, damaged=True)
            continue
        if before == after:
            continue
        if path in wanted:
            yield Fault(path=path, what=f"the mirror in {path} is out of date", hint="orch memory renews it")
        else:
            what = f"{path} still holds the memory, which is not mirrored there any more"
            yield Fault(path=path, what=what, hint="orch memory takes it out")


def host_carries(
    project: Project, config: Config, adapter: Adapter, text: str, environ: Mapping[str, str]
) -> Path | None:
    """Bring the mirrors up to date; the file by which this backend's host carries the text itself, None for none."""
    carrying = sync_mirrors(project, config, text, environ)
    path = _path(project, config, adapter, environ)
    return path if path in carrying else None


def _concerned(project: Project, config: Config, environ: Mapping[str, str]) -> bool:
    return bool(_known(project)) or (config.memory.mirror and bool(_paths(project, config, environ)))


def _wanted(project: Project, config: Config, text: str, environ: Mapping[str, str]) -> tuple[Path, ...]:
    return _paths(project, config, environ) if config.memory.mirror and text else ()


def _bring(project: Project, config: Config, text: str, environ: Mapping[str, str]) -> tuple[Path, ...]:
    wanted = _wanted(project, config, text, environ)
    for path in _known(project):
        if path not in wanted:
            _change(path, "")
    for path in wanted:
        _change(path, text)
    _remember(project, wanted)
    return wanted


def _paths(project: Project, config: Config, environ: Mapping[str, str]) -> tuple[Path, ...]:
    found = (_path(project, config, each, environ) for each in registry().values())
    return tuple(dict.fromkeys(path for path in found if path is not None))


def _path(project: Project, config: Config, adapter: Adapter, environ: Mapping[str, str]) -> Path | None:
    if adapter.mirror is None or project.main is None:
        return None
    return adapter.mirror(project.main, {**environ, **config.backend(adapter.name).env})


def _contents(path: Path, text: str) -> tuple[bytes, bytes]:
    """What a mirror's file holds, and what it holds with `text` in its block. Raises MemoryProblem."""
    if path.is_symlink():
        raise MemoryProblem(f"{path} is a symbolic link, so nothing is mirrored into it", "memory.mirror: false")
    try:
        before = read_plain(path, _MOST_BYTES) if path.exists() else b""
        return before, merge(before, render_block(text)) if text else strip(before)
    except ProjectionFault as exc:
        raise MemoryProblem(f"{path}: {exc.message}", exc.hint) from exc
    except OSError as exc:
        raise MemoryProblem(f"cannot read {path}: {exc.strerror}", "memory.mirror: false") from exc


def _change(path: Path, text: str) -> None:
    before, after = _contents(path, text)
    try:
        if after == before:
            return
        if not after:
            path.unlink()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, after)
    except OSError as exc:
        raise MemoryProblem(f"cannot mirror the memory into {path}: {exc.strerror}", "memory.mirror: false") from exc


def _known(project: Project) -> tuple[Path, ...]:
    try:
        value = json.loads(project.mirrors.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()
    return tuple(Path(each) for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _remember(project: Project, paths: tuple[Path, ...]) -> None:
    if paths:
        replace_file(project.mirrors, json.dumps([str(path) for path in paths]).encode())
    else:
        project.mirrors.unlink(missing_ok=True)
