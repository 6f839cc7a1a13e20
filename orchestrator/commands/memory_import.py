"""`orch memory import`: entries from other memories."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from orchestrator.importing import Arrival


@click.command("import")
@click.option("--apply", "apply_", is_flag=True, help="Really take them over; without it, only show what would come.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
def importing(apply_: bool, as_json: bool, files: tuple[Path, ...]) -> None:
    """Take entries over from a warden memory, an OpenWolf cerebrum.md, Claude's auto-memory or any list, bulleted or
    numbered.

    They come in as unverified, with the file as their source, whatever tags they have there; what the memory has
    already is left out, and so is what a person turned down or what holds a secret. The files themselves are only
    read; - is standard input. Where one of them cannot be read, is not UTF-8, is too large or holds unresolved merge
    conflicts, nothing is taken.
    """
    from orchestrator.beliefs import load_document
    from orchestrator.channel import require_person
    from orchestrator.commands.context import load_context
    from orchestrator.desk import Desk
    from orchestrator.importing import carry_import, plan_import
    from orchestrator.renewal import renew
    from orchestrator.view import print_json, print_table, say, warn

    context = load_context()
    require_person(context.environ, "import entries")
    desk = Desk(project=context.project, records=context.records)
    document, _ = load_document(context.project)
    arrivals = plan_import(desk, document, files)
    if apply_:
        carry_import(desk, arrivals)
        renew(context.project, context.environ, warn)
    if as_json:
        print_json({"applied": apply_, "entries": [each.to_json() for each in arrivals]})
        return
    rows = [
        (each.fate, f"{each.source}:{each.line}", each.section, each.why or each.text.split("\n")[0][:80])
        for each in arrivals
    ]
    print_table(("fate", "source", "section", "entry"), rows)
    for line in _summary(arrivals, apply_):
        say(line)


def _summary(arrivals: Sequence["Arrival"], applied: bool) -> Iterator[str]:
    new = [each for each in arrivals if each.fate == "new"]
    if not arrivals:
        yield "no bullets were found: nothing to take over"
    elif not new:
        yield "nothing new: nothing to take over"
    else:
        yield f"{len(new)} taken over, as unverified" if applied else f"{len(new)} would be taken over: add --apply"
    tagged = sum(each.tagged for each in new)
    if tagged:
        yield f"{tagged} had a tag there, which counts for nothing here"
    for why, count in Counter(each.why for each in arrivals if each.fate != "new").items():
        yield f"left out: {count}, since {why}"
    if any(each.closed for each in arrivals):
        yield "what a person turned down, orch memory add takes all the same"
