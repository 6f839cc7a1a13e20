"""`orch memory add`: a person adds an entry, an agent proposes one."""

import click


@click.command("add")
@click.option("-s", "--section", metavar="NAME", help="The section; made when it is not there. Default: Notes.")
@click.option("--supersedes", metavar="ID", help="The entry that this one takes the place of.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("text", nargs=-1, required=True)
def add(section: str | None, supersedes: str | None, as_json: bool, text: tuple[str, ...]) -> None:
    """Add TEXT as one entry (- reads it from standard input). From a person's terminal it counts as theirs.

    Inside an agent it is a proposal: it goes into the memory as unverified when the agent ends (memory.stage), and is
    believed no further until another agent finds the same, or a person approves it. What holds a secret is refused.
    """
    from memory.edit import DEFAULT_SECTION
    from memory.entry import Trust
    from orchestrator.adding import add_entry
    from orchestrator.channel import agent_behind
    from orchestrator.commands.words import read_words
    from orchestrator.config import environment, may_set
    from orchestrator.desk import Desk
    from orchestrator.oversize import oversize_text
    from orchestrator.project import here, load_project
    from orchestrator.records import Records
    from orchestrator.view import answer, print_json, warn

    said = read_words(text)
    # Not by the context of other commands: nothing here depends on the configuration, and loading it takes its time.
    project = load_project(here())
    desk = Desk(project=project, records=Records(path=project.records))
    environ = environment()
    agent = agent_behind(environ, desk.records)
    if agent is not None:
        from orchestrator.proposing import propose
        from orchestrator.settling import settle_if_over

        decision = propose(desk, agent, said, section=section, supersedes=supersedes)
        settle_if_over(desk, agent, lambda _: None)
    elif supersedes is not None:
        from orchestrator.deciding import supersede

        decision = supersede(desk, supersedes, said)
    else:
        decision = add_entry(desk, said, section)
    if agent is None and (project.mirrors.exists() or may_set(project.config_path, environ, "mirror")):
        from orchestrator.renewal import renew

        renew(project, environ, warn)
    trust = Trust.HUMAN if agent is None else Trust.UNVERIFIED
    large = oversize_text(project, environ, decision.text, section=section or DEFAULT_SECTION, trust=trust)
    if as_json:
        shown = {"id": decision.id, "text": decision.text, "done": decision.done, "oversize": large is not None}
        print_json({"entry": shown})
    else:
        answer(f"{decision.done} {decision.id}")
    if large is not None:
        warn(large)
