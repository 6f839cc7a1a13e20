"""`orch verify` on the real backends: every cell true, and the figures of the shared prefix."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters import registry
from orchestrator.claims import Verdict
from orchestrator.verify import Subject, verify

pytestmark = pytest.mark.conformance

PROVABLE = [
    (adapter.name, seam)
    for adapter in registry().values()
    if adapter.redirect is not None
    for seam, there in (("file", adapter.file_seam), ("launch", adapter.launch_seam))
    if there is not None
]
# (backend, seam) -> least share in per cent, whether the memory lies inside of it, and what the first different part
# must not come before: measured, as research on each backend's request layout.
LEAST = {("claude", "launch"): 90.0, ("aider", "launch"): 100.0, ("codex", "launch"): 98.0}
SHARED = {("claude", "launch"): True, ("codex", "launch"): True, ("codex", "file"): False, ("aider", "launch"): True}


@pytest.mark.parametrize(("name", "seam"), PROVABLE)
def test_every_claim_holds(
    name: str, seam: str, require_backend: Callable[[str], Path], tell: Callable[[str], None]
) -> None:
    program = require_backend(name)
    row = verify(Subject(adapter=registry()[name], program=program, seam=seam), dict(os.environ))
    assert row.failed == ()
    assert {claim.verdict for claim in row.claims} <= {Verdict.TRUE, Verdict.ABSENT}
    assert row.share is not None
    share = row.share
    tell(
        f"{name} ({seam}): {share.reusable:,} of {share.total:,} bytes ({share.percent} %) shared by a second "
        f"worktree, memory {'inside' if row.shares_memory else 'outside'}, first different part {share.differs}"
    )
    assert row.share.percent >= LEAST.get((name, seam), 0)
    if (name, seam) in SHARED:
        assert row.shares_memory is SHARED[name, seam]


@pytest.mark.parametrize("name", [adapter.name for adapter in registry().values() if adapter.redirect is None])
def test_a_backend_that_cannot_be_redirected_is_checked_by_its_file_alone(name: str, tmp_path: Path) -> None:
    program = tmp_path / name
    program.write_text("#!/bin/sh\nexit 99\n", encoding="utf-8")
    program.chmod(0o755)
    row = verify(Subject(adapter=registry()[name], program=program, seam="file"), dict(os.environ))
    assert row.failed == ()
    assert {claim.name for claim in row.claims if claim.verdict is Verdict.UNPROVABLE} == {
        "once",
        "exact",
        "second_turn",
        "resume",
        "off",
    }
    assert "cannot be proven offline" in row.note
    footprint = row.claim("footprint")
    assert footprint is not None
    assert footprint.verdict is Verdict.TRUE
