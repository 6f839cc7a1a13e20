"""`orch gc`: remove the agents whose work is merged."""

import click


@click.command("gc")
@click.option("--apply", "do_it", is_flag=True, help="Do it; without this it is only shown.")
@click.option("--days", type=click.FloatRange(min=0), default=7.0, show_default=True, help="Ended so long ago.")
@click.option("--kept-days", type=click.FloatRange(min=0), default=90.0, show_default=True, help="Kept for so long.")
@click.option("--drop-kept", is_flag=True, help="Delete that old kept work too, with --apply: it cannot be restored.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(do_it: bool, days: float, kept_days: float, drop_kept: bool, as_json: bool) -> None:
    """Remove agents that ended some days ago, are clean, and whose work is merged (squashed and rebased work too).

    Shown first and done with --apply. What goes is kept as by orch rm. Kept work that is old is listed, and only
    deleted with --drop-kept.
    """
    from orchestrator.collecting import drop_kept as drop
    from orchestrator.collecting import find_candidates, find_kept
    from orchestrator.commands.context import load_records
    from orchestrator.commands.rm import plan_removal
    from orchestrator.errors import OrchError
    from orchestrator.removing import remove_agent
    from orchestrator.view import answer, print_json, say, warn

    project, records = load_records()
    candidates = find_candidates(project, records, days=days)
    old = find_kept(project, days=kept_days)
    done: dict[str, str] = {}
    dropped: list[str] = []
    if do_it:
        removal = plan_removal(project, keep=False)
        for each in candidates:
            if each.why_not:
                continue
            try:
                remove_agent(project, records, each.agent, removal, tell=say)
                done[each.agent.id] = "removed"
            except OrchError as exc:
                done[each.agent.id] = exc.message
                warn(f"agent {each.agent.id} stays: {exc.message}")
        dropped = [each.ref for each in old if drop_kept and drop(project, records, each)]
    if as_json:
        agents = [
            {
                "id": each.agent.id,
                "days": round(each.days, 2),
                "remove": not each.why_not,
                "why_not": each.why_not,
                "done": done.get(each.agent.id),
            }
            for each in candidates
        ]
        kept = [{"id": e.agent_id, "ref": e.ref, "days": round(e.days, 2), "dropped": e.ref in dropped} for e in old]
        print_json({"applied": do_it, "agents": agents, "kept": kept})
        return
    for each in candidates:
        how = done.get(each.agent.id, "would be removed") if not each.why_not else f"stays: {each.why_not}"
        answer(f"agent {each.agent.id} {how}")
    for each_kept in old:
        how = "deleted" if each_kept.ref in dropped else "kept"
        answer(f"{each_kept.ref} {how}, {each_kept.days:.0f} days old")
    if do_it:
        return
    if any(not each.why_not for each in candidates) or (drop_kept and old):
        say("nothing was changed; orch gc --apply does it")
    else:
        say("there is nothing to remove")
