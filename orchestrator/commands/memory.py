"""`orch memory`: exactly what the next agent reads."""

import importlib
from typing import TYPE_CHECKING

import click

from orchestrator.commands.groups import refuse_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory.trust import Judged
    from orchestrator.injection import Injection
    from orchestrator.project import Project


# name -> (module beside this one, the name of the command in it, the line shown by `orch memory --help`)
_COMMANDS: dict[str, tuple[str, str, str]] = {
    "add": ("memory_add", "add", "Add an entry; an agent proposes one."),
    "list": ("memory_list", "listing", "List the entries, and the proposals that wait."),
    "show": ("memory_list", "show", "Show everything that is known about one entry."),
    "history": ("memory_list", "history", "Show what happened to the memory, or to one entry."),
    "review": ("memory_review", "review", "Go through what needs a person."),
    "approve": ("memory_decide", "approve", "Vouch for entries or proposals."),
    "reject": ("memory_decide", "reject", "Turn entries or proposals down, for good."),
    "supersede": ("memory_decide", "supersede", "Put a new text in the place of an entry."),
    "rm": ("memory_decide", "rm", "Remove entries; nothing of ours keeps their text."),
    "lint": ("memory_lint", "lint", "Look for what is wrong in the memory."),
    "import": ("memory_import", "importing", "Take entries over from other memories, as unverified."),
}


class _Group(click.Group):
    """Knows its commands by name, and imports the module of one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, attribute, _ = _COMMANDS[cmd_name]
        found = getattr(importlib.import_module(f"orchestrator.commands.{module}"), attribute)
        if not isinstance(found, click.Command):
            raise TypeError(f"orchestrator.commands.{module}.{attribute} is no click command")
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in _COMMANDS.items()])


@click.group("memory", cls=_Group, invoke_without_command=True)
@click.option("--edit", is_flag=True, help="Open the memory file in your editor.")
@click.option("--explain", is_flag=True, help="Show for each entry whether it is in, and why not.")
@click.option("--budget", type=click.IntRange(min=0), metavar="BYTES", help="Try another budget.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, edit: bool, explain: bool, budget: int | None, as_json: bool) -> None:
    """Print exactly the text that is put into the next agent: these bytes, and nothing else on stdout."""
    if ctx.invoked_subcommand is not None:
        refuse_options(ctx, ctx.invoked_subcommand)
        return
    from orchestrator.commands.context import load_context
    from orchestrator.injection import load_injection
    from orchestrator.memory_file import edit_memory
    from orchestrator.renewal import renew
    from orchestrator.settling import settle_or_tell
    from orchestrator.sight import note_shown
    from orchestrator.view import answer_bytes, say, warn

    context = load_context()
    _make_or_tell(context.project, say)
    if edit:
        try:
            say(edit_memory(context.project, context.records, context.environ))
        finally:
            renew(context.project, context.environ, warn)
        return
    settle_or_tell(context.project, context.records, context.config, say)
    injection = load_injection(context.project, context.config, budget_bytes=budget)
    if budget is None:
        renew(context.project, context.environ, warn)
    for note in injection.notes:
        say(note)
    shown = list(injection.render.included)
    if as_json or explain:
        shown += [each.judged for each in injection.render.dropped]
    note_shown(context.environ, context.records, (each.entry.id for each in shown))
    if as_json:
        _print_json(injection)
    elif explain:
        _explain(injection)
    elif injection.text:
        answer_bytes(injection.text.encode())
    elif not context.config.memory.inject:
        say("memory.inject is off: nothing is put into an agent")
    elif injection.render.dropped:
        say("nothing of the memory is put in: orch memory --explain says why")
    else:
        say("the memory is empty: nothing is put in")


def _make_or_tell(project: "Project", tell: "Callable[[str], None]") -> None:
    """Make the first memory file. Where nothing can be written there is none, and what is read is empty."""
    from orchestrator.errors import MemoryProblem, ProjectProblem
    from orchestrator.memory_file import ensure_memory

    try:
        if ensure_memory(project):
            tell(f"made {project.memory_path}; it has no entries yet, and is yours to commit")
    except (MemoryProblem, ProjectProblem) as exc:
        tell(exc.message)


def _print_json(injection: "Injection") -> None:
    from orchestrator.view import print_json
    from projection.tokens import count_tokens

    render = injection.render
    print_json(
        {
            "text": injection.text,
            "bytes": len(injection.text.encode()),
            "tokens": count_tokens(injection.text),
            "digest": injection.digest,
            "included": [_entry_json(item) for item in render.included],
            "dropped": [{**_entry_json(item.judged), "why": item.why} for item in render.dropped],
        }
    )


def _entry_json(judged: "Judged") -> dict[str, object]:
    size, tokens = _size(judged)
    return {
        "id": judged.entry.id,
        "text": judged.entry.text,
        "section": judged.entry.section,
        "trust": judged.trust.word,
        "value": judged.value,
        "bytes": size,
        "tokens": tokens,
    }


def _size(judged: "Judged") -> tuple[int, int]:
    """The bytes and the tokens of an entry as it is rendered."""
    from projection.render import render_lines
    from projection.tokens import count_tokens

    lines = "\n".join(render_lines(judged))
    return len(lines.encode()), count_tokens(lines)


def _explain(injection: "Injection") -> None:
    from orchestrator.view import print_table, say

    rows = []
    outcomes = [(item, "included") for item in injection.render.included]
    outcomes += [(item.judged, item.why) for item in injection.render.dropped]
    for judged, why in sorted(outcomes, key=lambda pair: pair[0].entry.first_line):
        size, tokens = _size(judged)
        rows.append(
            (
                judged.entry.id,
                judged.trust.word,
                str(judged.value),
                str(size),
                str(tokens),
                why,
                judged.entry.text.split("\n")[0][:60],
            )
        )
    print_table(("id", "trust", "value", "bytes", "tokens", "in the render", "entry"), rows)
    say(f"the render: {injection.render.bytes} bytes, {injection.render.tokens} tokens")
