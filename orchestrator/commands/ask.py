"""`orch ask`: an answer from the project's memory, or none."""

import click


@click.command("ask")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--verbatim", is_flag=True, help="Show the entries themselves, even where a local model is configured.")
@click.argument("question", nargs=-1, required=True)
def command(as_json: bool, verbatim: bool, question: tuple[str, ...]) -> None:
    """Answer QUESTION (- reads it from standard input) from the project's memory alone, each entry cited; else say: not
    in project memory.

    The memory is only read, and nothing leaves this machine. Where an agent asks, its record keeps what it was told.
    """
    from orchestrator.asking import ask, open_memory
    from orchestrator.commands.context import load_context
    from orchestrator.commands.words import read_words
    from orchestrator.sight import note_shown
    from orchestrator.view import answer, print_json, say

    context = load_context()
    memory = open_memory(context.project, context.config)
    found, note = ask(memory, read_words(question), context.config, verbatim=verbatim)
    note_shown(context.environ, context.records, found.told)
    if note is not None:
        say(note)
    if as_json:
        print_json(found.to_json())
    else:
        from orchestrator.answer import render_answer

        answer(render_answer(found))
