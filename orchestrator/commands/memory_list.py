"""`orch memory list|show|history`: what is in the memory, and how it came there."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from memory.trust import Judged
    from orchestrator.commands.context import Context
    from orchestrator.line import Line
    from orchestrator.proposals import Proposal

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command("list")
@click.option("--trust", type=click.Choice(["human", "trusted", "unverified"]), help="Only entries that count so.")
@click.option("--section", metavar="NAME", help="Only entries and proposals of this section.")
@_JSON
def listing(trust: str | None, section: str | None, as_json: bool) -> None:
    """List the entries with what they count for, and the proposals that wait."""
    from orchestrator.sight import note_shown
    from orchestrator.view import print_json, print_table, say

    context, judged, waiting = _load()
    if section is not None and section not in {item.entry.section for item in judged} | {p.section for p in waiting}:
        say(f"there is no section {section!r} with entries")
    shown = [item for item in judged if trust in (None, item.trust.word) and section in (None, item.entry.section)]
    waiting = [p for p in waiting if trust in (None, "unverified") and section in (None, p.section)]
    note_shown(context.environ, context.records, [*(item.entry.id for item in shown), *(p.entry for p in waiting)])
    if as_json:
        print_json({"entries": [entry_json(item) for item in shown], "proposals": [proposal_json(p) for p in waiting]})
        return
    rows = [(item.entry.id, state(item), item.entry.section, _first_line(item.entry.text)) for item in shown]
    rows += [(p.entry, f"proposed ({p.state.value})", p.section, _first_line(p.text)) for p in waiting]
    print_table(("id", "counts as", "section", "entry"), rows)


@click.command("show")
@_JSON
@click.argument("entry", metavar="ID")
def show(entry: str, as_json: bool) -> None:
    """Show one entry: its text, what it counts for and why, where it came from, and its history."""
    from orchestrator.errors import UsageProblem
    from orchestrator.ledger import Ledger
    from orchestrator.naming import require_name
    from orchestrator.proposals import Proposals
    from orchestrator.sight import note_shown
    from orchestrator.view import answer, print_json

    require_name(entry)
    context, judged, waiting = _load()
    found = {item.entry.id: item for item in judged if item.entry.id.startswith(entry)}
    also = {p.entry: p for p in waiting if p.entry.startswith(entry)}
    ids = set(found) | set(also)
    if len(ids) != 1:
        what = f"there is no entry {entry!r}" if not ids else f"{entry!r} is not unique: {', '.join(sorted(ids))}"
        raise UsageProblem(what, "orch memory list shows the ids")
    (name,) = ids
    note_shown(context.environ, context.records, ids)
    lines = Ledger(records=context.records).lines(name)
    sources = Proposals(records=context.records).all(entry=name)
    if as_json:
        print_json(
            {
                "entry": entry_json(found[name]) if name in found else None,
                "proposals": [proposal_json(each) for each in sources],
                "history": [line_json(line) for line in lines],
            }
        )
        return
    if name in found:
        item = found[name]
        answer(f"{name}  {state(item)}" + (f"  in {item.entry.section!r}" if item.entry.section else ""))
        answer(item.entry.text)
        if item.entry.tag:
            answer(f"tag      {item.entry.tag}")
        if item.forged:
            answer("         the tag claims more than its channel gives: orch memory approve, or commit it")
    for each in sources:
        backend = f" ({each.backend})" if each.backend else ""
        branch = f", branch {each.branch}" if each.branch else ""
        answer(f"proposed {each.at[:10]} by agent {each.agent}{backend}{branch}: {each.state}")
    for line in lines:
        answer(_line_text(line))


@click.command("history")
@_JSON
@click.argument("entry", metavar="ID", required=False)
def history(entry: str | None, as_json: bool) -> None:
    """Show what happened to the memory, oldest first, or to one entry (also one that is gone)."""
    from orchestrator.ledger import Ledger
    from orchestrator.naming import nothing_named, require_name
    from orchestrator.view import answer, print_json

    if entry is not None:
        require_name(entry)
    context, judged, _ = _load()
    lines = [line for line in Ledger(records=context.records).lines() if entry is None or line.entry.startswith(entry)]
    if entry is not None and not lines and not any(item.entry.id.startswith(entry) for item in judged):
        raise nothing_named(entry)
    if as_json:
        print_json({"history": [line_json(line) for line in lines]})
        return
    for line in lines:
        answer(_line_text(line))


def _first_line(text: str) -> str:
    """The beginning of a text, with a sign where it goes on."""
    shown = text.split("\n")[0][:90]
    return shown if shown == text else f"{shown.rstrip()} …"


def state(item: "Judged") -> str:
    """What an entry counts for, in a few words."""
    if item.entry.superseded:
        return "superseded"
    marks = [
        mark
        for mark, on in (
            ("forged tag" if item.entry.tag else "not committed", item.forged),
            ("stale", item.stale),
            ("held", item.held),
        )
        if on
    ]
    return item.trust.word + (f" ({', '.join(marks)})" if marks else "")


def entry_json(item: "Judged") -> dict[str, Any]:
    """One judged entry as JSON."""
    from dataclasses import asdict

    return {
        "id": item.entry.id,
        "text": item.entry.text,
        "section": item.entry.section,
        "trust": item.trust.word,
        "claimed": item.entry.claimed.word,
        "superseded": item.entry.superseded,
        "stale": item.stale,
        "held": item.held,
        "value": item.value,
        "line": item.entry.first_line + 1,
        "provenance": asdict(item.entry.provenance),
    }


def proposal_json(proposal: "Proposal") -> dict[str, Any]:
    """One proposal as JSON."""
    from dataclasses import asdict

    return {**asdict(proposal), "state": proposal.state.value}


def line_json(line: "Line") -> dict[str, Any]:
    """One line of the ledger as JSON."""
    return {
        "at": line.at,
        "entry": line.entry,
        "act": line.act.value,
        "channel": line.channel,
        "agent": line.agent,
        "detail": line.detail,
    }


def _line_text(line: "Line") -> str:
    who = line.channel if not line.agent else f"agent {line.agent}"
    if line.agent and line.channel != "agent":
        who = f"{line.channel}, {who}"
    detail = ", ".join(
        f"{key} {value}" for key, value in line.detail.items() if value and key not in ("text", "wording")
    )
    return f"{line.at[:19]}  {line.entry}  {line.act.value} ({who})" + (f"  {detail}" if detail else "")


def _load() -> "tuple[Context, list[Judged], list[Proposal]]":
    from orchestrator.beliefs import load_beliefs
    from orchestrator.commands.context import load_context
    from orchestrator.proposals import Proposals, State
    from orchestrator.settling import settle_or_tell
    from orchestrator.view import say

    context = load_context()
    settle_or_tell(context.project, context.records, context.config, say)
    beliefs = load_beliefs(context.project, context.config)
    waiting = list(Proposals(records=context.records).all(State.WAITING, State.CONFLICT))
    return context, list(beliefs.checked()) if beliefs is not None else [], waiting
