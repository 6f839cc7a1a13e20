"""`orch merge`: merge an agent's work."""

import click


@click.command("merge")
@click.option("--squash", "way", flag_value="squash", help="One commit with everything.")
@click.option("--rebase", "way", flag_value="rebase", help="Each commit again, on top of the target.")
@click.option("--ff-only", "way", flag_value="ff-only", help="Only where the target has nothing else.")
@click.option("--into", metavar="BRANCH", help="The target; without it, the branch that the work started from.")
@click.option("--commit", "message", metavar="MESSAGE", help="Commit first what the agent left uncommitted.")
@click.option("--no-check", is_flag=True, help="Do not run the checks first.")
@click.option("--with-memory", is_flag=True, help="Take the branch's own edits of the memory for yours.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("id")
def command(
    way: str | None,
    into: str | None,
    message: str | None,
    no_check: bool,
    with_memory: bool,
    as_json: bool,
    id: str,
) -> int:
    """Merge the work of the agent ID, by a merge commit unless told otherwise; checks run first where there are any.

    With a conflict, a failed check, or edits of the memory that would count as a person's, the target stays as it is.
    Nothing is pushed, and the agent stays.
    """
    from typing import cast

    from orchestrator.channel import require_person
    from orchestrator.checks import load_checks
    from orchestrator.commands.check import judge, show
    from orchestrator.commands.context import load_records
    from orchestrator.config import environment
    from orchestrator.merging import Way, commit_rest, merge_agent, require_source, target_branch
    from orchestrator.renewal import renew
    from orchestrator.settling import settle_after
    from orchestrator.view import answer, complain, print_json, say, warn

    if with_memory:
        require_person(environment(), "take over what a branch says in the memory")
    project, records = load_records()
    agent = records.require_agent(id)
    target = target_branch(project, agent, into)
    if message is not None:
        commit = commit_rest(project, records, agent, message)
        if commit is not None:
            say(f"committed what was left, as {commit[:10]}")
    source = require_source(project, records, agent)
    checks = () if no_check else load_checks(project)
    if checks:
        found = judge(project, records, agent, checks)
        if not all(each.passed for each in found):
            show(found)
            complain(f"the checks failed, so nothing was merged into {target}", f"orch merge {agent.id} --no-check")
            return 1
    landed = merge_agent(
        project,
        records,
        agent,
        into=target,
        way=cast(Way, way or "merge"),
        tested=source.commit,
        with_memory=with_memory,
        tell=say,
    )
    # A fact that waits for the merge (memory.stage) lands with it.
    settle_after(project.common_dir, records, say)
    renew(project, environment(), warn)
    if as_json:
        print_json(
            {
                "id": agent.id,
                "into": landed.into,
                "way": landed.way,
                "before": landed.before,
                "commit": landed.commit,
                "already": landed.already,
                "checked_out_at": landed.holder,
                "checked": bool(checks),
            }
        )
        return 0
    if landed.already:
        answer(f"nothing to merge: {target} has all of agent {agent.id}'s work")
    else:
        where = f", checked out at {landed.holder}" if landed.holder else ""
        answer(f"agent {agent.id} merged into {target} ({landed.way}): {landed.commit[:10]}{where}")
    say(f"orch rm {agent.id} removes its worktree and branch")
    return 0
