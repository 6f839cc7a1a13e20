"""Ctrl-C during work that must not be cut in two."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptible() -> Iterator[None]:
    """Make SIGTERM and SIGHUP unwind like Ctrl-C, so that what was begun is undone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in _SIGNALS}
    try:
        yield
    finally:
        _restore(before)


@contextmanager
def deferred() -> Iterator[None]:
    """Hold an interrupt back until the block has ended, well or not; then raise it.

    A terminal interrupts the git that we wait for too: its failure is then no fault to report.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(number: int, _frame: FrameType | None) -> None:
        held.append(number)

    before = {number: signal.signal(number, hold) for number in _SIGNALS}
    try:
        yield
    except Exception as exc:
        if held:
            raise KeyboardInterrupt from exc
        raise
    finally:
        _restore(before)
    if held:
        raise KeyboardInterrupt


@contextmanager
def shielded() -> Iterator[None]:
    """Drop interrupts while the block runs: for the undoing itself, which is already the answer to one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        _restore(before)


def _restore(before: dict[signal.Signals, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)
