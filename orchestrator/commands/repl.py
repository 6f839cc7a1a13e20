"""`orch repl`: questions to the memory and commands, in one conversation."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyBindings

    from orchestrator.answer import Memory
    from orchestrator.config_schema import Config
    from orchestrator.project import Project


@click.command("repl")
def command() -> int:
    """Ask the project's memory in plain language, and run commands with a slash (/help lists them)."""
    from orchestrator.answer import render_answer
    from orchestrator.asking import ask
    from orchestrator.cli import main
    from orchestrator.commands.context import load_context
    from orchestrator.errors import OrchError
    from orchestrator.repl import read_line
    from orchestrator.sight import note_shown
    from orchestrator.view import answer, complain, say

    context = load_context()
    memory = _Fresh(context.project, context.config)
    memory.current()
    for line in _lines(context.environ):
        meaning = read_line(line)
        if meaning.quit:
            break
        if meaning.text is not None:
            if meaning.text:
                answer(meaning.text)
        elif meaning.argv:
            main(list(meaning.argv))
        elif meaning.question is not None:
            try:
                found, note = ask(memory.current(), meaning.question, context.config)
            except OrchError as exc:
                complain(exc.message, exc.hint)
                continue
            note_shown(context.environ, context.records, found.told)
            if note is not None:
                say(note)
            answer(render_answer(found))
    return 0


class _Fresh:
    """The memory, read again only when its file has changed, or what was said about it."""

    def __init__(self, project: "Project", config: "Config") -> None:
        self._project = project
        self._config = config
        self._seen: list[tuple[int, int] | None] = []
        self._memory: Memory | None = None

    def current(self) -> "Memory":
        """The memory as it is now. Raises what `open_memory` raises."""
        from orchestrator.asking import open_memory

        seen = self._stamp()
        if self._memory is None or seen != self._seen:
            self._memory, self._seen = open_memory(self._project, self._config), seen
        return self._memory

    def _stamp(self) -> list[tuple[int, int] | None]:
        records = self._project.records
        paths = (self._project.memory_path, records, records.with_name(f"{records.name}-wal"))
        return [None if path is None else _stamp_of(path) for path in paths]


def _stamp_of(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size


def _lines(environ: dict[str, str]) -> Iterator[str]:
    """What the person types: with history and completion on a terminal, else line by line."""
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        yield from (line.decode("utf-8", "replace") for line in sys.stdin.buffer)
        return
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    from orchestrator.repl import COMMANDS, is_kept

    class _Careful(FileHistory):
        def store_string(self, string: str) -> None:
            if is_kept(string):
                super().store_string(string)

    words = sorted([*COMMANDS, "/ask", "/help", "/quit"])
    path = _history(environ)
    session: PromptSession[str] = PromptSession(
        history=_Careful(str(path)) if path is not None else InMemoryHistory(),
        completer=WordCompleter(words, sentence=True),
        complete_while_typing=False,
        key_bindings=_no_mouse(),
    )
    while True:
        try:
            yield session.prompt("orch> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def _no_mouse() -> "KeyBindings":
    """What looks like a report of a mouse does nothing: none is asked for, and a half one is a fault in the library."""
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.keys import Keys

    bindings = KeyBindings()
    bindings.add(Keys.Vt100MouseEvent)(lambda _: None)
    return bindings


def _history(environ: dict[str, str]) -> Path | None:
    base = environ.get("XDG_STATE_HOME") or (f"{environ['HOME']}/.local/state" if environ.get("HOME") else None)
    if base is None:
        return None
    path = Path(base) / "orch" / "repl-history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return None
    return path
