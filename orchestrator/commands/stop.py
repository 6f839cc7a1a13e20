"""`orch stop`: stop an agent."""

import click


@click.command("stop")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def command(as_json: bool, ids: tuple[str, ...]) -> None:
    """Stop agents and everything that they started; worktrees and branches stay."""
    from orchestrator.commands.context import load_records
    from orchestrator.commands.show import agent_json
    from orchestrator.commands.texts import outcome_text
    from orchestrator.stopping import stop_agent
    from orchestrator.view import answer, print_json

    _, records = load_records()
    agents = [stop_agent(records, agent) for agent in [records.require_agent(each) for each in ids]]
    if as_json:
        print_json({"agents": [agent_json(agent) for agent in agents]})
        return
    for agent in agents:
        answer(f"agent {agent.id} {outcome_text(agent)}")
