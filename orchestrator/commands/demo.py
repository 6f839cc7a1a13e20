"""`orch demo`: see the memory arrive, with no account and no network."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from orchestrator.demo import Demonstration

_TOLD = {
    "ran": "The agent ran through the real pipeline and completed",
    "once": "The text is in the first request, once",
    "exact": "It is there exactly, byte for byte",
    "second_turn": "After a tool call it is there once, at the same place",
    "status": "The agent's worktree is clean for git",
    "footprint": "After orch rm the repository is as before, .git/config byte for byte",
}


@click.command("demo")
@click.option("-b", "--backend", metavar="NAME", help="The backend; default: the first that is installed.")
@click.option("--keep", is_flag=True, help="Keep the scratch folder with every recorded request.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(backend: str | None, keep: bool, as_json: bool) -> int:
    """Spawn one agent in a scratch repository against a model on this machine, and show what reached the model.

    It needs no account, no key and no network, and touches nothing of yours. Exits with 1 when a claim fails.
    """
    from orchestrator.claims import Verdict
    from orchestrator.config import environment, load_config
    from orchestrator.demo import demonstrate
    from orchestrator.view import print_json, say

    environ = environment()
    shown = demonstrate(load_config(None, environ), environ, backend, keep=keep, tell=say)
    ok = all(claim.verdict is Verdict.TRUE for claim in shown.claims)
    if as_json:
        print_json(_json(shown, ok))
    else:
        _print(shown, ok)
    return 0 if ok else 1


def _json(shown: "Demonstration", ok: bool) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "ok": ok,
        "backend": shown.backend,
        "program": shown.program,
        "version": shown.agent.get("version"),
        "seam": shown.agent.get("seam"),
        "text": shown.text,
        "place": None if shown.place is None else asdict(shown.place),
        "requests": [
            {"method": each.method, "path": each.path, "bytes": len(each.body), "api": each.api}
            for each in shown.requests
        ],
        "claims": {claim.name: {"verdict": claim.verdict, "detail": claim.detail} for claim in shown.claims},
        "folder": None if shown.folder is None else str(shown.folder),
    }


def _print(shown: "Demonstration", ok: bool) -> None:
    from orchestrator.claims import Verdict
    from orchestrator.view import answer

    version = shown.agent.get("version")
    answer(f"backend   {shown.backend} {version or ''}".rstrip() + f" ({shown.program})")
    answer(f"seam      {shown.agent.get('seam')} {shown.agent.get('seam_file') or ''}".rstrip())
    answer("")
    answer(f"What `orch memory` prints and the agent was given ({len(shown.text.encode())} bytes):")
    answer("")
    for line in shown.text.split("\n"):
        answer(f"  | {line}")
    answer("")
    if shown.place is not None:
        first, place = shown.requests[0], shown.place
        before, after = shown.context
        answer(f"Where it arrived: {first.method} {first.path}, {len(first.body):,} bytes")
        answer(f"  {place.path}, at character {place.offset:,} of that string, byte {place.byte:,} of the request")
        answer(f"  before it: {before!r}")
        answer(f"  after it:  {after!r}")
        answer("")
    for claim in shown.claims:
        holds = claim.verdict is Verdict.TRUE
        detail = f": {claim.detail}" if claim.detail else ""
        answer(
            f"{click.style('yes', fg='green') if holds else click.style('NO ', fg='red')}  {_TOLD[claim.name]}{detail}"
        )
    answer("")
    if shown.folder is not None:
        answer(f"kept in {shown.folder} (requests/ has every request)")
    answer("Everything that is claimed holds." if ok else "Not everything that is claimed holds.")
