"""Printing: the answer on stdout, the narration on stderr, JSON in one shape, tables on a terminal."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

SCHEMA = 1


def answer(text: str, *, newline: bool = True) -> None:
    """Print a line of the answer on stdout; bytes that are no text are shown escaped."""
    click.echo(printable(text), nl=newline)


def answer_bytes(data: bytes) -> None:
    """Write exact bytes to stdout: nothing is added, nothing is changed."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """Print a line of narration on stderr."""
    click.echo(printable(text), err=True)


def warn(text: str) -> None:
    """Print a warning on stderr."""
    say(click.style("warning: ", fg="yellow") + printable(text))


def complain(message: str, hint: str = "") -> None:
    """Print an error as one line, and its hint as a second, on stderr."""
    say(click.style("error: ", fg="red") + _one_line(message))
    if hint:
        say(click.style("hint: ", fg="cyan") + _one_line(hint))


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout, with the schema's number in it."""
    click.echo(json.dumps({"schema": SCHEMA, **value}, indent=2, ensure_ascii=True, default=str))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under headings: aligned for people, one tab-separated line each where stdout is no terminal."""
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(_cell(cell) for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(cell)) for cell in row))
    Console(highlight=False).print(table)


def printable(text: str) -> str:
    """Make text safe for a terminal: control characters other than newline, tab and colour become escapes."""
    clean = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if clean.isprintable():
        return clean
    return _escape(clean)


def _escape(text: str) -> str:
    out = []
    for index, char in enumerate(text):
        plain = char in "\n\t" or char.isprintable()
        # click.style writes `ESC [ … m`; anything else that starts with ESC is not ours.
        if plain or (char == "\x1b" and _is_colour(text, index)):
            out.append(char)
        else:
            out.append(char.encode("unicode_escape").decode("ascii"))
    return "".join(out)


def _is_colour(text: str, index: int) -> bool:
    end = text.find("m", index, index + 12)
    return text[index + 1 : index + 2] == "[" and end > 0 and set(text[index + 2 : end]) <= set("0123456789;")


def _cell(text: str) -> str:
    return printable(_one_line(text)).replace("\t", " ")


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))
