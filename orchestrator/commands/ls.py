"""`orch ls`: the agents of this project."""

import click


@click.command("ls")
@click.option("-a", "--all", "everything", is_flag=True, help="Show removed agents too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(everything: bool, as_json: bool) -> None:
    """List the agents of this project, oldest first."""
    from orchestrator.agent import Status
    from orchestrator.commands.context import load_records
    from orchestrator.commands.show import agent_json
    from orchestrator.commands.texts import duration_text, state_text, task_line
    from orchestrator.liveness import observed
    from orchestrator.view import print_json, print_table, say

    _, records = load_records()
    agents = [observed(records, agent) for agent in records.agents()]
    shown = [agent for agent in agents if everything or agent.status is not Status.REMOVED]
    if as_json:
        print_json({"agents": [agent_json(agent) for agent in shown]})
        return
    if not shown:
        say("no agents; orch spawn --backend NAME TASK starts one")
        return
    rows = [
        (
            agent.id,
            agent.backend,
            state_text(agent),
            duration_text(agent),
            agent.branch or "(detached)",
            task_line(agent),
        )
        for agent in shown
    ]
    print_table(("id", "backend", "state", "time", "branch", "task"), rows)
