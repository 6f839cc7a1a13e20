"""`orch logs`: what an agent's backend has printed."""

import click


@click.command("logs")
@click.option("-f", "--follow", is_flag=True, help="Go on until the agent ends.")
@click.option("--raw", is_flag=True, help="Write the exact bytes, control sequences included.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the output as one string.")
@click.argument("id")
def command(follow: bool, raw: bool, as_json: bool, id: str) -> None:
    """Print what the backend of the agent ID has printed."""
    from orchestrator.commands.context import load_records
    from orchestrator.errors import UsageProblem
    from orchestrator.output import follow_output
    from orchestrator.view import answer, answer_bytes, print_json

    project, records = load_records()
    agent = records.require_agent(id)
    path = project.agents / agent.id / "output"
    if as_json:
        if follow:
            raise UsageProblem("--json prints one object, so it cannot go with --follow", "leave one of them out")
        data = path.read_bytes() if path.exists() else b""
        print_json({"id": agent.id, "output": data.decode("utf-8", "replace")})
        return
    ended = True
    for data in follow_output(records, agent.id, path, follow=follow):
        if raw:
            answer_bytes(data)
        else:
            answer(data.decode("utf-8", "replace").replace("\r\n", "\n"), newline=False)
            ended = data.endswith(b"\n")
    if not raw and not ended:
        answer("")
