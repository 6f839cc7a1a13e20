"""`orch memory import`: entries from other memories."""

from pathlib import Path

import click


@click.command("import")
@click.option("--apply", "apply_", is_flag=True, help="Really take them over; without it, only show what would come.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
def importing(apply_: bool, as_json: bool, files: tuple[Path, ...]) -> None:
    """Take entries over from a warden memory, an OpenWolf cerebrum.md, Claude's auto-memory or any list of bullets.

    They come in as unverified, with the file as their source; what the memory has already is left out, and so is what
    holds a secret. The files themselves are only read; - is standard input. A file that is not UTF-8, is too large or
    holds unresolved merge conflicts is refused, and the others are taken.
    """
    from orchestrator.beliefs import load_document
    from orchestrator.channel import require_person
    from orchestrator.commands.context import load_context
    from orchestrator.desk import Desk
    from orchestrator.importing import carry_import, plan_import
    from orchestrator.view import complain, print_json, print_table, say

    context = load_context()
    require_person(context.environ, "import entries")
    desk = Desk(project=context.project, records=context.records)
    document, _ = load_document(context.project)
    plan = plan_import(desk, document, files)
    arrivals = plan.arrivals
    if apply_:
        carry_import(desk, arrivals)
    for each in plan.refused:
        complain(f"{each.source} is refused: {each.why}")
    if as_json:
        refused = [each.to_json() for each in plan.refused]
        print_json({"applied": apply_, "entries": [each.to_json() for each in arrivals], "refused": refused})
        return
    rows = [
        (each.fate, f"{each.source}:{each.line}", each.section, each.why or each.text.split("\n")[0][:80])
        for each in arrivals
    ]
    print_table(("fate", "source", "section", "entry"), rows)
    new = sum(each.fate == "new" for each in arrivals)
    if not arrivals:
        say("no bullets were found: nothing to take over")
    elif new == 0:
        say("nothing new: nothing to take over")
    else:
        say(f"{new} taken over, as unverified" if apply_ else f"{new} would be taken over: add --apply")
