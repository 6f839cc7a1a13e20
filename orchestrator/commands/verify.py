"""`orch verify`: prove on this machine that the memory reaches the backends."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from orchestrator.errors import UsageProblem

if TYPE_CHECKING:
    from orchestrator.claims import Claim, Row
    from orchestrator.sharing import Share


@click.command("verify")
@click.option("-b", "--backend", "names", multiple=True, metavar="NAME", help="Verify this one; may be repeated.")
@click.option("--all", "everything", is_flag=True, help="Verify every backend that is installed (default).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(names: tuple[str, ...], everything: bool, as_json: bool) -> int:
    """Run each installed backend in a throwaway repository against a recording model on this machine, and show what
    arrived: no account, no network, nothing of yours is read or changed. Exits with 1 when a claim fails.
    """
    from orchestrator.config import environment, load_config
    from orchestrator.verify import verify
    from orchestrator.verify_plan import plan_verification
    from orchestrator.view import print_json, say

    if names and everything:
        raise UsageProblem("--all and --backend exclude each other", "orch verify --backend NAME, or orch verify --all")
    environ = environment()
    # The user's configuration tells where the programs are; a project is not needed, and its settings do not count.
    plan = plan_verification(load_config(None, environ), environ, names)
    rows = []
    for subject in plan.subjects:
        say(f"verifying {subject.adapter.name} through the {subject.seam} seam …")
        rows.append(verify(subject, environ))
    rows += plan.absent
    asked_in_vain = bool(names) and bool(plan.absent)
    ok = not any(row.failed for row in rows) and not asked_in_vain
    if as_json:
        print_json({"ok": ok, "rows": [row_json(row) for row in rows]})
    else:
        _show(rows)
    return 0 if ok else 1


def row_json(row: "Row") -> dict[str, Any]:
    """One row as JSON."""
    return {
        "backend": row.backend,
        "seam": row.seam,
        "installed": row.installed,
        "version": row.version,
        "tested": list(row.tested),
        "claims": {claim.name: {"verdict": claim.verdict, "detail": claim.detail} for claim in row.claims},
        "place": None if row.place is None else vars_of(row.place),
        "share": None if row.share is None else share_json(row.share),
        "shares_memory": row.shares_memory,
        "note": row.note,
    }


def vars_of(value: Any) -> dict[str, Any]:
    """A dataclass as JSON."""
    from dataclasses import asdict

    return asdict(value)


def share_json(share: "Share") -> dict[str, Any]:
    """The shared beginning as JSON; sizes in bytes."""
    return {
        "total": share.total,
        "common": share.common,
        "reusable": share.reusable,
        "percent": share.percent,
        "differs": share.differs,
    }


def _show(rows: Sequence["Row"]) -> None:
    from orchestrator.claims import HEADINGS
    from orchestrator.view import answer, print_table

    columns = ["backend", "seam", "version", "tested", *HEADINGS.values(), "reusable in a 2nd worktree"]
    print_table(columns, [_cells(row) for row in rows])
    for row in rows:
        name = f"{row.backend} ({row.seam})"
        if row.place is not None:
            answer(f"{name}: the text stands in {row.place.path}, at byte {row.place.byte} of the request")
        for claim in row.failed:
            answer(f"{name}: {HEADINGS[claim.name]} does not hold: {claim.detail}")
        if row.note:
            answer(f"{name}: {row.note}")


def _cells(row: "Row") -> list[str]:
    from orchestrator.claims import HEADINGS

    version = (row.version or "?") if row.installed else "-"
    cells = [row.backend, row.seam, version, "–".join(dict.fromkeys(row.tested))]
    return [*cells, *(_mark(row.claim(name)) for name in HEADINGS), _share(row)]


def _mark(claim: "Claim | None") -> str:
    from orchestrator.claims import Verdict

    if claim is None:
        return "-"
    marks = {Verdict.TRUE: "yes", Verdict.FALSE: "NO", Verdict.UNPROVABLE: "not provable", Verdict.ABSENT: "none"}
    return marks[claim.verdict]


def _share(row: "Row") -> str:
    if row.share is None:
        return "-"
    shared = {True: "memory included", False: "memory not included", None: ""}[row.shares_memory]
    return f"{row.share.reusable:,} of {row.share.total:,} B ({row.share.percent} %), {shared}".rstrip(", ")
