"""The one entry in a repository's own git configuration, added and taken away byte for byte.

It is conditional on a linked worktree, so the main checkout never reads what it includes, and its key is unlike any
that a person sets: a plain `include.path` would be overwritten by their `git config include.path …`, or make that fail.
"""

import contextlib
import os
import re
import signal
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from projection.faults import HygieneFault, write_hint

HEADER = b'[includeIf "gitdir:**/worktrees/*"]'
INCLUDE = HEADER + b"\n\tpath = orch/gitconfig\n"

_OURS = re.compile(rb"^[ \t]*path[ \t]*=[ \t]*\"?orch/gitconfig\"?[ \t]*\r?\n?$")


def has_include(config: bytes) -> bool:
    """Whether the entry stands in the configuration."""
    return add_include(config) == config


def add_include(config: bytes) -> bytes:
    """Return the configuration with the entry at its end.

    A missing final newline stays missing, so that the removal knows from the bytes alone what was there before.
    """
    if remove_include(config) != config:
        return config
    if config and not config.endswith(b"\n"):
        return config + b"\n" + INCLUDE.removesuffix(b"\n")
    return config + INCLUDE


def remove_include(config: bytes) -> bytes:
    """Return the configuration without the entry: the inverse of `add_include`, whatever was added in between.

    Keys that somebody else put below our header stay, and then the header too.
    """
    lines = config.splitlines(keepends=True)
    kept: list[bytes] = []
    header: int | None = None
    removed = False
    for line in lines:
        if line.lstrip(b" \t").startswith(b"["):
            header = len(kept) if line.strip() == HEADER else None
        elif header is not None and _OURS.match(line):
            removed = True
            if not line.endswith(b"\n"):
                kept[-1] = kept[-1].removesuffix(b"\n")
            continue
        kept.append(line)
    return _without_empty_sections(kept) if removed else config


def _without_empty_sections(lines: list[bytes]) -> bytes:
    """Join the lines, leaving out our header where no key is below it any more."""
    kept: list[bytes] = []
    for at, line in enumerate(lines):
        if line.strip() == HEADER and not _has_key(lines[at + 1 :]):
            # The header lost its own newline: ours was the last line, and the person's had none.
            if not line.endswith(b"\n") and kept:
                kept[-1] = kept[-1].removesuffix(b"\n")
            continue
        kept.append(line)
    return b"".join(kept)


def _has_key(lines: list[bytes]) -> bool:
    """Whether a key comes before the next header; people put comments and blank lines above a header of theirs."""
    for line in lines:
        text = line.strip()
        if text and not text.startswith((b"#", b";")):
            return not text.startswith(b"[")
    return False


def rewrite_config(path: Path, change: Callable[[bytes], bytes], *, wait: float = 10) -> bool:
    """Apply `change` to a git configuration file as git itself would: under its lock file, atomically, mode kept.

    A symbolic link is followed, as git does. Returns whether anything was written. `wait` is in seconds.
    Raises HygieneFault when somebody else holds the lock for longer, and when the file cannot be read or written.
    """
    target = Path(os.path.realpath(path))
    lock = target.with_name(target.name + ".lock")
    until = time.monotonic() + wait
    try:
        current = target.read_bytes()
        if change(current) == current:
            return False
        while True:
            with _uninterrupted():
                written = _rewrite_locked(target, lock, change)
            if written is not None:
                return written
            if time.monotonic() >= until:
                raise HygieneFault(f"another program holds {lock}", f"if no git is running: rm {lock}")
            time.sleep(0.02)
    except OSError as exc:
        raise HygieneFault(
            f"cannot write {path}: {exc.strerror}", write_hint(exc, "check the owner and mode of the file")
        ) from exc


def _rewrite_locked(target: Path, lock: Path, change: Callable[[bytes], bytes]) -> bool | None:
    """Take the lock and rewrite; None when somebody else has it."""
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return None
    renamed = False
    try:
        before = target.read_bytes()
        after = change(before)
        if after != before:
            os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))
            with os.fdopen(os.dup(descriptor), "wb") as stream:
                stream.write(after)
            os.fsync(descriptor)
            lock.replace(target)
            renamed = True
        return renamed
    finally:
        os.close(descriptor)
        if not renamed:  # else the name may be another program's lock by now
            lock.unlink(missing_ok=True)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back for a moment: a lock file left behind would stop every `git config` of the person's."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
