"""`orch trust`: consent to the commands that the configuration runs around worktrees."""

import sys

import click


@click.command("trust")
@click.option("--yes", "key", metavar="HASH", help="Consent without being asked, to the text with this hash.")
@click.option("--revoke", is_flag=True, help="Take the consent back.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; nothing is asked.")
def command(key: str | None, revoke: bool, as_json: bool) -> int:
    """Show the commands of worktrees.setup and worktrees.teardown, and consent to exactly them.

    The consent holds for this text in this clone: a changed command is asked about again.
    """
    from orchestrator.channel import require_person
    from orchestrator.commands.context import load_context
    from orchestrator.consent import is_trusted, write_consent
    from orchestrator.errors import UsageProblem
    from orchestrator.preparation import scripts
    from orchestrator.view import answer, print_json, say

    context = load_context()
    if key is not None or (sys.stdin.isatty() and not revoke and not as_json):
        require_person(context.environ, "consent to commands", hint="run orch trust in a terminal of your own")
    found = scripts(context.config)
    if key is not None:
        chosen = [script for script in found if len(key) >= 8 and script.key.startswith(key)]
        if not chosen:
            raise UsageProblem(f"no command here has the hash {key!r} (8 digits at least)", "orch trust shows them")
        write_consent(context.project, chosen, trusted=True)
    if revoke:
        write_consent(context.project, found, trusted=False)
    trusted = {script.key: is_trusted(context.project, script) for script in found}
    if as_json:
        print_json(
            {
                "scripts": [
                    {
                        "kind": script.kind,
                        "commands": list(script.commands),
                        "hash": script.key,
                        "trusted": trusted[script.key],
                    }
                    for script in found
                ]
            }
        )
        return 0
    if not found:
        say("worktrees.setup and worktrees.teardown are empty: there is nothing to consent to")
        return 0
    for script in found:
        source = context.config.sources.get(f"worktrees.{script.kind}", "the configuration")
        state = "trusted" if trusted[script.key] else "not trusted"
        answer(f"worktrees.{script.kind}, from {source}: {state}, hash {script.key[:16]}")
        for line in script.commands:
            answer("  " + line.replace("\n", "\n  "))
    open_ones = [script for script in found if not trusted[script.key]]
    if not open_ones or revoke or key is not None:
        return 0
    if not sys.stdin.isatty():
        say(f"to consent: orch trust on a terminal, or orch trust --yes {open_ones[0].key[:16]}")
        return 1
    if not click.confirm("Run these in the worktrees of agents?", err=True):
        return 1
    write_consent(context.project, open_ones, trusted=True)
    return 0
