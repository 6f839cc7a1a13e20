"""The derived copy: the memory's text in a host's own memory of the project, kept in step, and taken out again.

Claude keeps notes of its own for each main checkout and reads them in every worktree of it (measured on 2.1.197). With
`memory.mirror`, the text stands there too, as a block that is ours alone: the person's own sessions see it, and an
agent whose host carries it is given nothing twice.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from adapters import registry
from adapters.adapter import Adapter
from orchestrator.config_schema import Config
from orchestrator.errors import MemoryProblem
from orchestrator.locks import held
from orchestrator.memory_file import replace_file
from orchestrator.plain_file import read_plain
from orchestrator.project import Project
from projection.block import merge, render_block, strip
from projection.faults import ProjectionFault

# The host cuts its memory off far below this.
_MOST_BYTES = 4 * 1024 * 1024


def sync_mirrors(project: Project, config: Config, text: str, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Make every mirror say exactly `text` ("" or `memory.mirror` off: nothing); return the files that carry it.

    A line goes from the mirror when its entry goes from the text. Files that were written once are cleaned up even when
    the setting is off now. Raises MemoryProblem for a mirror whose block somebody has damaged.
    """
    wanted = _paths(project, config, environ) if config.memory.mirror and text else ()
    known = _known(project)
    if not wanted and not known:
        return ()
    with held(project.state / "mirrors.lock"):
        for path in known:
            if path not in wanted:
                _change(path, "")
        for path in wanted:
            _change(path, text)
        _remember(project, wanted)
    return wanted


def host_carries(
    project: Project, config: Config, adapter: Adapter, text: str, environ: Mapping[str, str]
) -> Path | None:
    """Bring the mirrors up to date; the file by which this backend's host carries the text itself, None for none."""
    carrying = sync_mirrors(project, config, text, environ)
    path = _path(project, config, adapter, environ)
    return path if path in carrying else None


def _paths(project: Project, config: Config, environ: Mapping[str, str]) -> tuple[Path, ...]:
    found = (_path(project, config, each, environ) for each in registry().values())
    return tuple(dict.fromkeys(path for path in found if path is not None))


def _path(project: Project, config: Config, adapter: Adapter, environ: Mapping[str, str]) -> Path | None:
    if adapter.mirror is None or project.main is None:
        return None
    return adapter.mirror(project.main, {**environ, **config.backend(adapter.name).env})


def _change(path: Path, text: str) -> None:
    if path.is_symlink():
        raise MemoryProblem(f"{path} is a symbolic link, so nothing is mirrored into it", "memory.mirror: false")
    try:
        before = read_plain(path, _MOST_BYTES) if path.exists() else b""
        after = merge(before, render_block(text)) if text else strip(before)
        if after == before:
            return
        if not after:
            path.unlink()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, after)
    except ProjectionFault as exc:
        raise MemoryProblem(f"{path}: {exc.message}", exc.hint) from exc
    except OSError as exc:
        raise MemoryProblem(f"cannot mirror the memory into {path}: {exc.strerror}", "memory.mirror: false") from exc


def _known(project: Project) -> tuple[Path, ...]:
    try:
        value = json.loads((project.state / "mirrors.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()
    return tuple(Path(each) for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _remember(project: Project, paths: tuple[Path, ...]) -> None:
    file = project.state / "mirrors.json"
    if paths:
        replace_file(file, json.dumps([str(path) for path in paths]).encode())
    else:
        file.unlink(missing_ok=True)
