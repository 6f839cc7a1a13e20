"""`orch show`: one agent, in full."""

from typing import Any

import click

from orchestrator.agent import Agent

_SHOWN = 20


def agent_json(agent: Agent) -> dict[str, Any]:
    """An agent as JSON, the same in every command."""
    return agent.to_json()


@click.command("show")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("id")
def command(as_json: bool, id: str) -> None:
    """Show everything that is known about the agent ID (a unique beginning of it is enough)."""
    from orchestrator.agent import Status
    from orchestrator.commands.context import load_records
    from orchestrator.digest import digest_of, write_digest
    from orchestrator.liveness import observed
    from orchestrator.view import answer, print_json

    project, records = load_records()
    agent = observed(records, records.require_agent(id))
    digest = digest_of(agent)
    if digest is None and agent.status is Status.ENDED:
        # Its supervisor died before that, or is about to write it.
        digest = write_digest(records, project.common_dir, agent.id)
    if as_json:
        events = [vars_of(event) for event in records.events(agent.id)]
        print_json({"agent": agent_json(agent), "digest": digest, "events": events})
        return
    for name, value in [*_facts(agent), *(_digest_facts(digest) if digest else [])]:
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


def _digest_facts(digest: dict[str, Any]) -> list[tuple[str, str]]:
    """What it did: commits, files, what was left uncommitted, checks."""
    files = digest["files"]
    added = sum(file[2] or 0 for file in files)
    deleted = sum(file[3] or 0 for file in files)
    commits = [f"{commit[:10]} {subject}" for commit, subject in digest["commits"]]
    facts = [("commits", _listed(digest["commit_count"], commits))]
    lines = [f"{letter} {path}" for letter, path, _, _ in files]
    facts.append(("files", _listed(digest["file_count"], lines, f", +{added} -{deleted} lines" if files else "")))
    left = [f"{state} {path}" for state, path in digest["uncommitted"]]
    if left:
        facts.append(("left", _listed(digest["uncommitted_count"], left, " uncommitted")))
    if digest["checks"] is not None:
        failed = [check["name"] for check in digest["checks"] if not check["passed"]]
        facts.append(("checks", f"FAILED: {', '.join(failed)}" if failed else f"{len(digest['checks'])} passed"))
    if digest["held"]:
        facts.append(("held", f"the message holds {digest['held']}, so it is in no digest"))
    return facts


def _listed(count: int, lines: list[str], more: str = "") -> str:
    # A file's name may hold a newline: one line each, so that none can pass for a line of orch's own.
    shown = [line.replace("\n", "\\n") for line in lines[:_SHOWN]]
    rest = [f"and {count - len(shown)} more"] if count > len(shown) else []
    return ("\n" + " " * 10).join([f"{count}{more}", *shown, *rest])


def _usage(usage: dict[str, Any]) -> str:
    kind = "" if usage.get("exact", True) else " (the backend's own estimate)"
    text = f"{usage.get('input', 0)} in ({usage.get('cached', 0)} cached), {usage.get('output', 0)} out{kind}"
    cost = usage.get("cost_usd")
    return text if cost is None else f"{text}, {cost:.4f} USD as the backend computes it"
