"""`orch show`: one agent, in full."""

from typing import Any

import click

from orchestrator.agent import Agent


def agent_json(agent: Agent) -> dict[str, Any]:
    """An agent as JSON, the same in every command."""
    return agent.to_json()


@click.command("show")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("id")
def command(as_json: bool, id: str) -> None:
    """Show everything that is known about the agent ID (a unique beginning of it is enough)."""
    from orchestrator.commands.context import load_records
    from orchestrator.liveness import observed
    from orchestrator.view import answer, print_json

    _, records = load_records()
    agent = observed(records, records.require_agent(id))
    if as_json:
        print_json({"agent": agent_json(agent), "events": [vars_of(event) for event in records.events(agent.id)]})
        return
    for name, value in _facts(agent):
        answer(f"{name:<10}{value}")


def vars_of(event: Any) -> dict[str, Any]:
    """An event as JSON."""
    return {"at": event.at, "kind": event.kind, **event.detail}


def _facts(agent: Agent) -> list[tuple[str, str]]:
    import shlex

    from orchestrator.commands.texts import duration_text, memory_text, outcome_text
    from orchestrator.operation import interrupted_text

    facts = [
        ("id", agent.id),
        ("state", outcome_text(agent)),
        ("backend", f"{agent.backend} {agent.version or '(version unknown)'} at {agent.executable}"),
        ("branch", f"{agent.branch or '(detached)'} from {agent.base_name} ({agent.base[:10]})"),
        ("worktree", agent.worktree),
        ("memory", memory_text(agent)),
        ("created", agent.created),
        ("time", duration_text(agent)),
        ("command", shlex.join(agent.argv)),
    ]
    if interrupted := interrupted_text(agent):
        facts.insert(2, ("attention", interrupted))
    if agent.model:
        facts.append(("model", agent.model))
    if agent.session:
        facts.append(("session", agent.session))
    if agent.usage:
        facts.append(("tokens", _usage(agent.usage)))
    facts.extend(("note", note) for note in agent.notes)
    facts.append(("task", agent.task.rstrip("\n").replace("\n", "\n" + " " * 10)))
    if agent.message:
        facts.append(("message", agent.message.rstrip("\n").replace("\n", "\n" + " " * 10)))
    return facts


def _usage(usage: dict[str, Any]) -> str:
    kind = "" if usage.get("exact", True) else " (the backend's own estimate)"
    text = f"{usage.get('input', 0)} in ({usage.get('cached', 0)} cached), {usage.get('output', 0)} out{kind}"
    cost = usage.get("cost_usd")
    return text if cost is None else f"{text}, {cost:.4f} USD as the backend computes it"
