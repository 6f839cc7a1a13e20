"""`orch verify` against programs that break the delivery on purpose: each fault is caught, and by its own claim."""

import os
import shlex
import sys
from pathlib import Path

import pytest

from adapters import registry
from orchestrator.claims import Row, Verdict
from orchestrator.verify import Subject, verify
from tests.fakes import claude as fake

# way -> the claims that must fail, and what the detail of the first must say
EXPECTED: dict[str, tuple[set[str], str]] = {
    "honest": (set(), ""),
    "drop": ({"once", "exact", "second_turn", "resume"}, "did not arrive"),
    "truncate": ({"once", "exact", "second_turn", "resume"}, "arrived cut"),
    "behead": ({"once", "exact", "second_turn", "resume"}, "arrived beheaded"),
    "trim": ({"once", "exact", "second_turn", "resume"}, "arrived cut"),
    "reword": ({"once", "exact", "second_turn", "resume"}, "arrived changed"),
    "duplicate": ({"once", "second_turn", "resume"}, "and 1 more: system[2].text"),
    "damaged-copy": ({"once", "second_turn", "resume"}, "and 1 damaged"),
    "forget": ({"second_turn"}, "did not arrive"),
    "move": ({"second_turn"}, "system[2].text"),
    "one-turn": ({"second_turn"}, "made no second request"),
    "forget-on-resume": ({"resume"}, "did not arrive"),
    "begin-anew": ({"resume"}, "the conversation was not taken up"),
    "remember-when-off": ({"off"}, "holds some of it"),
    "litter": ({"off", "footprint"}, "litter.txt"),
    "fail": ({"ran"}, "the run ended as"),
}


def verified(way: str, tmp_path: Path) -> Row:
    program = tmp_path / "claude"
    command = shlex.join([sys.executable, "-I", str(Path(fake.__file__)), way])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    adapter = registry()["claude"]
    return verify(Subject(adapter=adapter, program=program, seam="launch"), dict(os.environ))


def test_every_way_is_expected_to_be_caught() -> None:
    assert set(EXPECTED) == set(fake.WAYS) - {"hang", "newer"}


@pytest.mark.parametrize("way", EXPECTED)
def test_each_way_of_breaking_the_delivery_is_caught(way: str, tmp_path: Path) -> None:
    row = verified(way, tmp_path)
    failing, told = EXPECTED[way]
    assert {claim.name for claim in row.failed} == failing, row.failed
    if failing:
        assert told in row.failed[0].detail or any(told in claim.detail for claim in row.failed)
    else:
        assert row.note == ""
        assert all(claim.verdict is Verdict.TRUE for claim in row.claims)
        assert row.share is not None
        assert row.place is not None
        assert row.place.path == "system[1].text"


def test_a_newer_version_is_verified_and_said(tmp_path: Path) -> None:
    row = verified("newer", tmp_path)
    assert row.failed == ()
    assert (row.version, row.note) == ("9.0.0", "version 9.0.0 is newer than what it was measured on")


def test_where_a_cut_text_stopped_is_shown(tmp_path: Path) -> None:
    claim = verified("truncate", tmp_path).claim("once")
    assert claim is not None
    assert "characters in system[1].text; last there " in claim.detail
    assert ", first lost " in claim.detail
