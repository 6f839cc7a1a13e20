"""The backends' programs: which version they are, and whether the adapter was measured on it."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from adapters.adapter import Adapter
from orchestrator.process import ProcessFault, run, scrubbed

_VERSION_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Program:
    """An installed backend. `version` is None where the program does not tell; `newer` and `older` compare it with
    the range that the adapter was measured on.
    """

    path: Path
    version: str | None
    tested: tuple[str, str]

    @property
    def newer(self) -> bool:
        """Whether it is newer than what the adapter was measured on."""
        return self.version is not None and _key(self.version) > _key(self.tested[1])

    @property
    def older(self) -> bool:
        """Whether it is older than what the adapter was measured on."""
        return self.version is not None and _key(self.version) < _key(self.tested[0])


def load_program(adapter: Adapter, path: Path, environ: Mapping[str, str]) -> Program:
    """Ask the program for its version; the answer is kept until the file changes (some take seconds to tell)."""
    version = None
    if adapter.version_args:
        store = _store(environ)
        key = _fingerprint(path)
        known = _load_versions(store)
        version = known.get(key) or _ask_version(adapter, path, environ)
        if version is not None and known.get(key) != version:
            _write_versions(store, {**known, key: version})
    return Program(path=path, version=version, tested=adapter.tested)


def _ask_version(adapter: Adapter, path: Path, environ: Mapping[str, str]) -> str | None:
    try:
        done = run([path, *adapter.version_args], environ=scrubbed(environ), timeout=_VERSION_SECONDS, check=False)
    except ProcessFault:
        return None
    found = re.search(adapter.version_pattern, os.fsdecode(done.stdout) + "\n" + os.fsdecode(done.stderr))
    return found.group(1) if found and done.code == 0 else None


def _fingerprint(path: Path) -> str:
    real = Path(os.path.realpath(path))
    stat = real.stat()
    return f"{real}:{stat.st_mtime_ns}:{stat.st_size}"


def _store(environ: Mapping[str, str]) -> Path | None:
    base = environ.get("XDG_CACHE_HOME") or (f"{environ['HOME']}/.cache" if environ.get("HOME") else None)
    return None if base is None else Path(base) / "orch" / "versions.json"


def _load_versions(store: Path | None) -> dict[str, str]:
    try:
        data = json.loads(store.read_text(encoding="utf-8")) if store is not None else {}
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in data.items()} if isinstance(data, dict) else {}


def _write_versions(store: Path | None, versions: dict[str, str]) -> None:
    if store is None:
        return
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        unfinished = store.with_name(f"{store.name}.{os.getpid()}")
        unfinished.write_text(json.dumps(versions), encoding="utf-8")
        unfinished.rename(store)
    except OSError:
        return  # a cache: without it the program is asked again


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
