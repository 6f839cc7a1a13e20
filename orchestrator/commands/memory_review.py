"""`orch memory review`: a pass over what needs a person."""

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from orchestrator.adding import Decision
    from orchestrator.commands.context import Context
    from orchestrator.desk import Desk
    from orchestrator.reviewing import Item

_KEYS = "a approve · r reject · e edit (a new text) · x remove · s skip · q quit"


@click.command("review")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and decide nothing.")
@click.option("--list", "as_list", is_flag=True, help="Print what waits, decide nothing.")
@click.option(
    "--approve-all",
    is_flag=True,
    help="Approve all that waits as a proposal or stands there as unverified: not conflicts, nor what nobody vouched "
    "for, is held back or stale.",
)
def review(as_json: bool, as_list: bool, approve_all: bool) -> None:
    """Go through what needs a person: conflicts, entries nobody vouched for, proposals, what is held back or stale.

    Each is shown with its source, what is known of the agent's run, and the change that approving would make. One key
    decides; nothing is committed.
    """
    from orchestrator.channel import require_person
    from orchestrator.commands.context import load_context
    from orchestrator.renewal import renew
    from orchestrator.reviewing import load_items
    from orchestrator.settling import settle_or_tell
    from orchestrator.sight import note_shown
    from orchestrator.view import answer, print_json, say, warn

    if approve_all and (as_json or as_list):
        raise click.UsageError("--approve-all decides, --list and --json decide nothing: give one of them")
    context = load_context()
    settle_or_tell(context.project, context.records, context.config, say)
    items = load_items(context.project, context.config, context.records)
    note_shown(context.environ, context.records, (each.id for each in items))
    if as_json:
        print_json({"items": [each.to_json() for each in items]})
        return
    if approve_all:
        require_person(context.environ, "approve entries")
        _approve_all(context, [each for each in items if each.kind in ("proposal", "unverified")])
        renew(context.project, context.environ, warn)
        return
    if not items:
        say("nothing needs you")
        return
    if as_list or not sys.stdin.isatty() or not sys.stdout.isatty():
        for each in items:
            answer(f"{each.id}  {each.kind}  {each.text.splitlines()[0]}")
        say("on a terminal, orch memory review decides them one by one; orch memory approve and reject take ids")
        return
    require_person(context.environ, "review the memory")
    try:
        _pass(context, items)
    finally:
        renew(context.project, context.environ, warn)


def _pass(context: "Context", items: "tuple[Item, ...]") -> None:
    from orchestrator.view import answer, say

    decided = 0
    for number, item in enumerate(items, 1):
        _show(number, len(items), item)
        while True:
            say(_KEYS)
            key = _key()
            if key in ("q", "\x1b"):
                answer(f"{decided} decided, {len(items) - decided} left")
                return
            done = _decide(context, item, key)
            if done is None:
                continue
            if done:
                answer(f"  {done}")
                decided += 1
            break
    answer(f"{decided} decided" + (f", {len(items) - decided} left" if decided < len(items) else ""))


def _key() -> str:
    """The key that is pressed, in lower case; the end of the input (Ctrl-D) quits."""
    try:
        return click.getchar(echo=False).lower()
    except EOFError:
        return "q"


def _decide(context: "Context", item: "Item", key: str) -> str | None:
    """Carry out one key; None for a key that means nothing, "" for a skip."""
    from orchestrator import deciding
    from orchestrator.desk import Desk
    from orchestrator.errors import OrchError
    from orchestrator.view import complain

    if key in ("s", "\r", "\n", " "):
        return ""
    if key not in ("a", "r", "x", "e"):
        return None
    desk = Desk(project=context.project, records=context.records)
    try:
        _require_unchanged(context, item)
        if key == "a":
            return _weighed(context, deciding.approve(desk, item.id))
        if key == "r":
            return deciding.reject(desk, item.id).done
        if key == "x":
            return deciding.remove(desk, item.id).done
        try:
            text = click.prompt("new text", default=item.text)
        except click.Abort:  # Ctrl-D or Ctrl-C: another key is asked for
            return None
        # Again: a person may take long to write.
        _require_unchanged(context, item)
        return _weighed(context, _replace(desk, item, text))
    except OrchError as exc:
        complain(exc.message, exc.hint)
        return ""


def _weighed(context: "Context", *decisions: "Decision") -> str:
    """Warn of what is larger than the whole budget; return what was done, for the last one."""
    from orchestrator.injection import load_injection
    from orchestrator.oversize import oversize_entries
    from orchestrator.view import warn

    injection = load_injection(context.project, context.config)
    for line in oversize_entries(injection, context.config, [each.id for each in decisions]).values():
        warn(line)
    return decisions[-1].done if decisions else ""


def _require_unchanged(context: "Context", item: "Item") -> None:
    from orchestrator.errors import UsageProblem
    from orchestrator.reviewing import has_changed

    if has_changed(context.project, context.records, item):
        raise UsageProblem(f"{item.id} has changed since it was shown: nothing was decided, review it again")


def _replace(desk: "Desk", item: "Item", text: str) -> "Decision":
    from orchestrator import deciding
    from orchestrator.adding import add_entry, require_text

    if item.kind in ("proposal", "conflict"):
        # First: a text that is refused must not cost the proposal.
        require_text(text)
        deciding.reject(desk, item.id, "reworded by a person")
        return add_entry(desk, text)
    return deciding.supersede(desk, item.id, text)


def _approve_all(context: "Context", items: "list[Item]") -> None:
    from orchestrator import deciding
    from orchestrator.desk import Desk
    from orchestrator.view import answer, say

    if not items:
        say("there is nothing that can be approved so")
        return
    desk = Desk(project=context.project, records=context.records)
    decisions = deciding.approve_all(desk, [item.id for item in items])
    for each in decisions:
        answer(f"{each.done} {each.id}")
    _weighed(context, *decisions)


def _show(number: int, count: int, item: "Item") -> None:
    from orchestrator.view import answer

    answer("")
    answer(click.style(f"{number}/{count}  {item.kind}  {item.id}", bold=True))
    for line in item.text.split("\n"):
        answer(f"  {line}")
    for name, value in (
        ("why", item.why),
        ("against", item.against),
        ("source", item.source),
        ("agent", item.digest),
        ("fix", item.fix),
    ):
        if value:
            answer(f"  {name:<8}{value}")
    for line in item.excerpt:
        answer(f"  said    {line}")
    for line in item.diff.splitlines():
        colour = {"+": "green", "-": "red"}.get(line[:1])
        answer("  " + (click.style(line, fg=colour) if colour else line))
