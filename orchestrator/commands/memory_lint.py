"""`orch memory lint`: what is wrong in the memory."""

import click


@click.command("lint")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def lint(as_json: bool) -> int:
    """Look for what is wrong in the memory: secrets, forged or unknown tags, what is hidden, stale or held back.

    Conflicts with what a person wrote or approved are shown too. Exit code 1 when something was found.
    """
    from orchestrator.commands.context import load_context
    from orchestrator.memory_lint import lint_memory
    from orchestrator.sight import note_shown
    from orchestrator.view import print_json, print_table, say

    context = load_context()
    findings = lint_memory(context.project, context.config, context.records)
    note_shown(context.environ, context.records, (each.entry for each in findings if each.entry))
    if as_json:
        print_json({"findings": [each.to_json() for each in findings]})
        return 1 if findings else 0
    if not findings:
        say("nothing is wrong in the memory")
        return 0
    rows = [(f"{each.line}" if each.line else "-", each.entry or "-", each.kind, each.what) for each in findings]
    print_table(("line", "entry", "kind", "what"), rows)
    return 1
