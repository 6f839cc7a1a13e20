"""`orch wait`: wait for agents to end."""

import sys
import time
from collections.abc import Sequence

import click

from orchestrator.agent import Agent
from orchestrator.records import Records

_PAUSE_SECONDS = 0.25


@click.command("wait")
@click.option("--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Give up after so long (exit 1).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def command(timeout: float | None, as_json: bool, ids: tuple[str, ...]) -> int:
    """Wait until the agents have ended; the exit code is that of the first one that did not complete."""
    from orchestrator.commands.context import load_records

    _, records = load_records()
    return await_agents(records, [records.require_agent(each).id for each in ids], as_json=as_json, timeout=timeout)


def await_agents(
    records: Records, ids: Sequence[str], *, as_json: bool, alone: bool = False, timeout: float | None = None
) -> int:
    """Wait, show progress on a terminal, print the ends, and return the exit code.

    `alone` is for the one agent of a spawn: it is announced, and its JSON is that of `orch spawn` without --wait.
    Ctrl-C ends the waiting, never the agents. Raises OrchError when `timeout` seconds are over.
    """
    from orchestrator.commands.show import agent_json
    from orchestrator.commands.texts import describe_started
    from orchestrator.outcome import exit_code
    from orchestrator.settling import settle_after
    from orchestrator.view import answer, print_json, say

    agents = [_observed(records, each) for each in ids]
    if alone and not as_json:
        for agent in agents:
            for line in describe_started(agent):
                say(line)
    try:
        agents = _watch(records, agents, timeout)
    except KeyboardInterrupt:
        say(f"no longer waiting; the agents go on (orch stop {' '.join(ids)} ends them)")
        raise
    # The supervisor does so too, after it has recorded the end; whoever has waited finds it done.
    settle_after(records.path.parent.parent, records, say)
    if as_json:
        shown = [agent_json(agent) for agent in agents]
        print_json({"agent": shown[0]} if alone else {"agents": shown})
    else:
        for agent in agents:
            answer(_end_line(agent))
    return next((code for agent in agents if (code := exit_code(agent.outcome))), 0)


def _observed(records: Records, agent_id: str) -> Agent:
    from orchestrator.liveness import observed

    return observed(records, records.require_agent(agent_id))


def _watch(records: Records, agents: list[Agent], timeout: float | None) -> list[Agent]:
    from orchestrator.errors import OrchError

    deadline = None if timeout is None else time.monotonic() + timeout
    with _Progress(records) as progress:
        while any(agent.live for agent in agents):
            progress.show(agents)
            if deadline is not None and time.monotonic() >= deadline:
                live = " ".join(agent.id for agent in agents if agent.live)
                raise OrchError(f"still running after {timeout:g} s: {live}", f"orch wait {live}")
            time.sleep(_PAUSE_SECONDS)
            agents = [_observed(records, agent.id) if agent.live else agent for agent in agents]
    return agents


class _Progress:
    """A live line per running agent, on a terminal; nothing elsewhere."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._live = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True, highlight=False), transient=True, refresh_per_second=4)

    def __enter__(self) -> "_Progress":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, agents: Sequence[Agent]) -> None:
        """Show how each stands: time, and the last line that its backend printed."""
        if self._live is None:
            return
        from rich.text import Text

        from orchestrator.commands.texts import duration_text
        from orchestrator.output import last_line
        from orchestrator.view import printable

        lines = []
        for agent in agents:
            said = last_line(self._records.path.parent / "agents" / agent.id / "output") if agent.live else ""
            state = agent.status.value if agent.outcome is None else agent.outcome.value
            lines.append(f"{agent.id} {agent.backend} {state} {duration_text(agent)}  {printable(said)[:100]}")
        self._live.update(Text("\n".join(lines), overflow="ellipsis", no_wrap=True))


def _end_line(agent: Agent) -> str:
    from orchestrator.commands.texts import duration_text, outcome_text

    return f"agent {agent.id} {outcome_text(agent)} after {duration_text(agent)}"
