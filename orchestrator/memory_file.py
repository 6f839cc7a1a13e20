"""The memory file on disk: made once, changed under a lock, replaced whole."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from memory.document import MOST_BYTES, Document, parse
from memory.entry import Entry, Trust, wording
from memory.errors import MemoryFault
from orchestrator.errors import MemoryProblem, OrchError, ProjectProblem
from orchestrator.ledger import Ledger
from orchestrator.locks import held
from orchestrator.plain_file import read_plain
from orchestrator.project import Project
from orchestrator.records import Records
from projection.faults import write_hint

_FIRST = b"""# Project memory

What a newcomer to this repository cannot guess, one bullet each. Agents read it; a change of it is reviewed as a diff.

## Where things live

## How things run

## Do not repeat
"""


def require_memory_path(project: Project) -> Path:
    """Where the memory file is. Raises ProjectProblem in a bare layout, which has no checkout to write into."""
    if project.memory_path is None:
        raise ProjectProblem(
            "this repository has no main checkout, so there is no memory file to change",
            "change .orch/memory.md on the default branch, in any worktree, and commit it",
        )
    return project.memory_path


def require_inside(project: Project, path: Path) -> None:
    """Raise MemoryProblem where a link leads the memory out of the main checkout.

    A repository can hold such a link, to a file of the person's that is none of its business: what is there would be
    shown to agents, and orch would write into it.
    """
    if project.main is None:
        return
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(project.main)):
        raise MemoryProblem(
            f"{path} leads out of the repository, to {real}",
            "put a plain file in the link's place, then run this again",
        )


def dangling(path: Path) -> MemoryProblem:
    """What is said of a memory file that is a link which leads nowhere."""
    return MemoryProblem(f"{path} is a link that leads nowhere", "make its target, or remove it, then run this again")


def _require_writable(path: Path) -> None:
    """Raise MemoryProblem for a link that leads nowhere, and for a file whose owner may not write it.

    Its mode alone would not keep us from putting another file in its place. Asked by its bits: root may write anything.
    """
    try:
        mode = path.stat().st_mode & 0o777
    except OSError as exc:
        if path.is_symlink() and isinstance(exc, FileNotFoundError):
            raise dangling(path) from exc
        return  # what is wrong with it is told where it is read
    if not mode & 0o200:
        raise MemoryProblem(f"{path} is read-only (mode {mode:03o})", f"chmod u+w {path}, then run this again")


def ensure_memory(project: Project) -> bool:
    """Make the memory file if there is none; True when it was made. Never staged, never committed."""
    path = project.memory_path
    if path is None or os.path.lexists(path):
        return False
    require_inside(project, path)
    with held(project.state / "memory.lock"):
        if os.path.lexists(path):
            return False
        try:
            path.parent.mkdir(exist_ok=True)
            replace_file(path, _FIRST)
        except OSError as exc:
            raise MemoryProblem(
                f"cannot make {path}: {exc.strerror}", write_hint(exc, "orch spawn works without a memory")
            ) from exc
    return True


def change_memory(
    project: Project, change: Callable[[bytes], bytes], *, after: Callable[[], None] | None = None
) -> None:
    """Read, change and replace the memory file under its lock, and do what comes `after` before the lock is freed.

    Raises MemoryProblem when it cannot be done.
    """
    path = require_memory_path(project)
    require_inside(project, path)
    ensure_memory(project)
    with held(project.state / "memory.lock"):
        _require_writable(path)
        _clear_unfinished(path)
        try:
            before = read_plain(path, MOST_BYTES)
            changed = change(before)
            if changed != before:
                replace_file(path, changed)
            if after is not None:
                after()
        except OSError as exc:
            raise MemoryProblem(
                f"cannot change {path}: {exc.strerror}", write_hint(exc, f"look at it: ls -l {path}")
            ) from exc
        except MemoryFault as exc:
            raise MemoryProblem(f"{path}: {exc.message}", exc.hint) from exc


def _clear_unfinished(path: Path) -> None:
    """Remove what a writer that was killed left beside the memory; the lock's holder is the only writer there is."""
    with os.scandir(path.parent) as entries:
        for entry in entries:
            if entry.name.startswith(f".{path.name}."):
                Path(entry.path).unlink(missing_ok=True)


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or a crash at any moment, sees the old or the new one, whole."""
    target = Path(os.path.realpath(path))
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    name = target.with_name(f".{target.name}.{os.getpid()}.{time.monotonic_ns()}")
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        name.replace(target)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def edit_memory(project: Project, records: Records, environ: Mapping[str, str]) -> str:
    """Open the file in the person's editor; what they changed counts as theirs. Returns a line that says what.

    The editor works on the file itself, as with any other file of theirs: what looks like a secret is told, and then
    nothing of the edit counts as theirs.
    """
    from orchestrator.channel import require_person

    path = require_memory_path(project)
    require_person(environ, "edit the memory as a person")
    require_inside(project, path)
    first = _document(path)
    _run_editor(path, environ)
    last = _document(path)
    before, after = _by_id(first), _by_id(last)
    said = {(name, wording(entry.text)) for name, entry in before.items()}
    new = {name for name, entry in after.items() if (name, wording(entry.text)) not in said}
    for each in sorted(new, key=lambda name: after[name].first_line):
        _refuse_secret(path, after[each].text, after[each].first_line)
    known = set(first.lines)
    for number, line in enumerate(last.lines):
        if line not in known:
            _refuse_secret(path, line, number)
    if new:
        Ledger(records=records).grant({name: after[name].text for name in sorted(new)}, Trust.HUMAN, "edit")
    return f"{len(new)} new or changed entries, counted as yours; commit {path} to share them"


def _run_editor(path: Path, environ: Mapping[str, str]) -> None:
    """Wait for the person's editor. Raises OrchError where there is none or it fails; the file stays as it left it."""
    import shlex

    from orchestrator.process import ProcessFault, run_in_terminal

    # Blank counts as unset, as it does for git.
    name = next((found for found in ("VISUAL", "EDITOR") if environ.get(found, "").strip()), None)
    hint = f"set {name or 'EDITOR'} to an editor that works; the memory file is {path}"
    try:
        words = shlex.split(environ[name]) if name else ["vi"]
    except ValueError as exc:
        raise OrchError(f"{name} cannot be read: {exc}", hint) from exc
    try:
        code = run_in_terminal([*words, str(path)])
    except ProcessFault as exc:
        raise OrchError(f"{exc.message} ({name or 'neither VISUAL nor EDITOR is set'})", hint) from exc
    if code != 0:
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        raise OrchError(f"the editor ended with {how}: what it wrote does not count as yours", hint)


def _refuse_secret(path: Path, text: str, at: int) -> None:
    """Raise MemoryProblem for a secret in a text that stands in the file from the line `at` (0-based) on."""
    from memory.secrets import find_secret

    secret = find_secret(text)
    if secret is not None:
        line = at + secret[0]
        raise MemoryProblem(
            f"{path}:{line} holds what looks like {secret[1]}; nothing of this edit counts as yours",
            "take it out before anybody commits the file, then edit again",
        )


def _by_id(document: Document) -> dict[str, Entry]:
    return {entry.id: entry for entry in document.entries}


def _document(path: Path) -> Document:
    try:
        return parse(read_plain(path, MOST_BYTES))
    except MemoryFault as exc:
        raise MemoryProblem(f"{path}: {exc.message}", exc.hint) from exc
    except OSError as exc:
        if path.is_symlink() and not path.exists():
            raise dangling(path) from exc
        raise MemoryProblem(f"cannot read {path}: {exc.strerror}") from exc
