"""`orch pr`: a pull request for an agent's branch."""

import click


@click.command("pr")
@click.option("--into", metavar="BRANCH", help="The branch that it is for; without it, the one the work started from.")
@click.option("--remote", default="origin", show_default=True, metavar="NAME", help="Where the branch is pushed to.")
@click.option("--title", metavar="TEXT", help="Its title; without it, the one commit's, or the task's first line.")
@click.option("--draft", is_flag=True, help="Open it as a draft.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("id")
def command(into: str | None, remote: str, title: str | None, draft: bool, as_json: bool, id: str) -> None:
    """Push the branch of the agent ID and open a pull request for it, through `gh`.

    Repeated, it pushes what is new. Nothing is pushed by force, and the memory is not in it.
    """
    from orchestrator.commands.context import load_records
    from orchestrator.config import environment
    from orchestrator.merging import target_branch
    from orchestrator.pullrequest import open_pull_request
    from orchestrator.view import answer, print_json, say

    project, records = load_records()
    agent = records.require_agent(id)
    target = into or target_branch(project, agent, None)
    opened = open_pull_request(
        project, records, agent, environment(), into=target, remote=remote, title=title, draft=draft, tell=say
    )
    if as_json:
        facts = {"url": opened.url, "branch": opened.branch, "into": target, "already": opened.already}
        print_json({"id": agent.id, **facts})
        return
    answer(opened.url)
