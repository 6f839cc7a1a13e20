"""`orch memory approve|reject|supersede|rm`: a person's decisions about single entries."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from orchestrator.adding import Decision
    from orchestrator.desk import Desk

_IDS = click.argument("ids", nargs=-1, required=True, metavar="ID...")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command("approve")
@_JSON
@_IDS
def approve(ids: tuple[str, ...], as_json: bool) -> None:
    """Vouch for entries, or take proposals that wait: they count as trusted from now on.

    An ID may be a unique beginning of it. Where one of them names nothing, nothing is done.
    """
    from orchestrator import deciding

    _decide("approve", ids, as_json, deciding.approve_all)


@click.command("reject")
@click.option("--why", default="", metavar="TEXT", help="The reason, kept in the history.")
@_JSON
@_IDS
def reject(ids: tuple[str, ...], as_json: bool, why: str) -> None:
    """Turn entries or proposals down: they go, and no agent can propose them again.

    An ID may be a unique beginning of it. Where one of them names nothing, nothing is done.
    """
    from orchestrator import deciding

    _decide("reject", ids, as_json, lambda desk, names: deciding.reject_all(desk, names, why))


@click.command("supersede")
@_JSON
@click.argument("entry", metavar="ID")
@click.argument("text", nargs=-1, required=True)
def supersede(entry: str, text: tuple[str, ...], as_json: bool) -> None:
    """Put TEXT (- reads it from standard input) in the place of an entry, which stays in the file, struck through."""
    from orchestrator import deciding
    from orchestrator.commands.words import read_words

    _decide("supersede", (entry,), as_json, lambda desk, _: (deciding.supersede(desk, entry, read_words(text)),))


@click.command("rm")
@_JSON
@_IDS
def rm(ids: tuple[str, ...], as_json: bool) -> None:
    """Remove entries from the memory. No agent can propose them again, and nothing of ours keeps their text, but for
    what agents were given: the render until the last running one ends, a context file until its agent is removed.

    An ID may be a unique beginning of it. Where one of them names nothing, nothing is done.
    """
    from orchestrator import deciding

    _decide("remove", ids, as_json, deciding.remove_all)


def _decide(
    what: str, ids: tuple[str, ...], as_json: bool, decide: "Callable[[Desk, tuple[str, ...]], tuple[Decision, ...]]"
) -> None:
    from orchestrator.channel import require_person
    from orchestrator.commands.context import load_context
    from orchestrator.desk import Desk
    from orchestrator.injection import load_injection
    from orchestrator.oversize import oversize_entries
    from orchestrator.renderfile import clear_renders
    from orchestrator.renewal import renew
    from orchestrator.settling import settle
    from orchestrator.view import answer, print_json, say, warn

    context = load_context()
    require_person(context.environ, f"{what} entries")
    for line in settle(context.project, context.records, context.config):
        say(line)
    desk = Desk(project=context.project, records=context.records)
    decisions = decide(desk, ids)
    renew(context.project, context.environ, warn)
    injection = load_injection(context.project, context.config)
    large = oversize_entries(injection, context.config, [each.id for each in decisions])
    if what == "remove" and not clear_renders(context.project.state, context.records):
        say("agents that are running keep the text that they were given, until the last of them ends")
    if as_json:
        shown = [{"id": each.id, "done": each.done, "oversize": each.id in large} for each in decisions]
        print_json({"entries": shown})
    else:
        for each in decisions:
            answer(f"{each.done} {each.id}")
    for line in large.values():
        warn(line)
