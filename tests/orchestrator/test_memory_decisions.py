"""`orch memory approve|reject|rm` of many entries in one call: one change, for all of them or for none."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.document import parse
from tests.conftest import Orch, commit_memory, processor_seconds
from tests.fakes.agents import live_agent
from tests.floor import Floor

_COUNT = 2000


@pytest.fixture
def memory(repo: Path) -> Path:
    """A memory of two entries that a person reviewed and two that came from elsewhere."""
    return commit_memory(repo, "# Project memory\n\n## Notes\n- Fixtures live in testdata/.\n- The port is 8080.\n")


@pytest.fixture
def waiting(orch: Orch, memory: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The text of a proposal that waits for the merge of its branch."""
    monkeypatch.setenv("ORCH_MEMORY_STAGE", "merge")
    live_agent(orch, ["Learned on a branch.", "The port is 9090."], commit=True)
    return "Learned on a branch."


def _ids(memory: Path) -> list[str]:
    return [entry.id for entry in parse(memory.read_bytes()).entries]


def _history(orch: Orch) -> list[dict[str, str]]:
    found = json.loads(orch.ok("memory", "history", "--json").stdout)["history"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("what", ["approve", "reject", "rm"])
def test_thousands_are_decided_in_one_change(orch: Orch, memory: Path, what: str) -> None:
    with memory.open("a") as stream:
        stream.writelines(f"- [unverified · 2026-06-30] Fact number {number} is here.\n" for number in range(_COUNT))
    before, ids = parse(memory.read_bytes()).entries, _ids(memory)
    floor, begun = Floor(), processor_seconds()
    done = orch.ok("memory", what, *ids[2:])
    took = processor_seconds() - begun
    assert took < floor.times(100), "10 times as long"
    assert len(done.stdout.splitlines()) == _COUNT
    after = parse(memory.read_bytes()).entries
    left = before if what == "approve" else before[:2]
    assert [(entry.text, entry.section) for entry in after] == [(entry.text, entry.section) for entry in left]
    if what == "approve":
        assert {entry.claimed.word for entry in after[2:]} == {"trusted"}
    assert len({each["entry"] for each in _history(orch)}) == _COUNT


@pytest.mark.parametrize("what", ["approve", "reject", "rm"])
def test_where_one_cannot_be_decided_none_is(orch: Orch, memory: Path, what: str) -> None:
    before, known, said = memory.read_bytes(), _ids(memory)[0], _history(orch)
    refused = orch("memory", what, known, "zzzz")
    assert (refused.code, "zzzz" in refused.stderr) == (2, True)
    assert (memory.read_bytes(), _history(orch)) == (before, said)


def test_one_that_is_named_twice_is_decided_once(orch: Orch, memory: Path) -> None:
    known = _ids(memory)[0]
    assert orch.ok("memory", "reject", known, known[:6]).stdout.split() == ["rejected", known]


@pytest.mark.parametrize("what", ["approve", "reject", "rm", "show", "history"])
@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_id_names_nothing(orch: Orch, memory: Path, what: str, name: str) -> None:
    memory.write_text("- The only entry.\n")
    refused = orch("memory", what, name)
    assert (refused.code, "an id cannot be empty" in refused.stderr) == (2, True)
    assert memory.read_text() == "- The only entry.\n"


def test_proposals_and_entries_are_approved_together(orch: Orch, memory: Path, waiting: str) -> None:
    with memory.open("a") as stream:
        stream.write("- [unverified · 2026-06-30] Tests need the database.\n")
    proposals = json.loads(orch.ok("memory", "list", "--json").stdout)["proposals"]
    conflict = next(each for each in proposals if "9090" in each["text"])
    orch.ok("memory", "approve", _ids(memory)[-1], *(each["entry"] for each in proposals))
    entries = {entry.text: entry for entry in parse(memory.read_bytes()).entries}
    for text in (waiting, "The port is 9090.", "Tests need the database."):
        assert entries[text].claimed.word == "trusted"
    assert entries["The port is 8080."].superseded is (conflict["state"] == "conflict")
    assert json.loads(orch.ok("memory", "list", "--json").stdout)["proposals"] == []


def test_an_empty_id_is_no_waiting_proposal(orch: Orch, repo: Path, memory: Path, waiting: str) -> None:
    for what in ("approve", "reject", "rm"):
        assert orch("memory", what, "").code == 2
    assert waiting in orch.ok("memory", "list").stdout


def test_a_list_tells_where_an_entry_goes_on_and_keeps_to_its_section(orch: Orch, memory: Path, waiting: str) -> None:
    with memory.open("a") as stream:
        stream.write("- First line\n  second line\n")
    lines = orch.ok("memory", "list").stdout.splitlines()
    (entry,) = [line for line in lines if "First line" in line]
    assert entry.rstrip().endswith("First line …")
    (whole,) = [line for line in lines if "8080" in line]
    assert "…" not in whole
    assert waiting in orch.ok("memory", "list", "--section", "Notes").stdout
    elsewhere = orch.ok("memory", "list", "--section", "Elsewhere")
    assert waiting not in elsewhere.stdout
    assert "there is no section 'Elsewhere' with entries" in elsewhere.stderr
    assert json.loads(orch.ok("memory", "list", "--json", "--section", "Elsewhere").stdout)["proposals"] == []


def test_approve_all_is_one_change(orch: Orch, memory: Path) -> None:
    today = datetime.now(UTC).date().isoformat()  # what is stale is left to a person
    with memory.open("a") as stream:
        stream.writelines(f"- [unverified · {today}] Fact number {number} is here.\n" for number in range(_COUNT))
    done = orch.ok("memory", "review", "--approve-all", timeout=30)
    assert len(done.stdout.splitlines()) == _COUNT
    assert {entry.claimed.word for entry in parse(memory.read_bytes()).entries[2:]} == {"trusted"}
    assert orch.ok("memory", "review", "--approve-all").stdout == ""


@pytest.mark.parametrize("command", [["approve"], ["reject"], ["rm"], ["show"]])
def test_the_beginning_of_several_ids_is_a_fault_of_the_argument(orch: Orch, memory: Path, command: list[str]) -> None:
    with memory.open("a") as stream:
        stream.writelines(f"- Fact number {number} is here.\n" for number in range(40))
    before = memory.read_bytes()
    shared = next(one[0] for one in _ids(memory) if sum(each.startswith(one[0]) for each in _ids(memory)) > 1)
    refused = orch("memory", *command, shared)
    assert (refused.code, len(refused.stderr.splitlines())) == (2, 2)
    assert str(memory) not in refused.stderr
    assert memory.read_bytes() == before


def test_the_history_of_nothing_is_a_fault_of_the_argument(orch: Orch, memory: Path) -> None:
    gone = _ids(memory)[0]
    assert orch.ok("memory", "history", gone).stdout == "", "nothing has happened to it"
    orch.ok("memory", "rm", gone)
    assert "removed" in orch.ok("memory", "history", gone).stdout
    assert orch("memory", "history", "no-such-id").code == 2


def test_an_agent_names_the_one_entry_whose_place_its_claim_takes(orch: Orch, memory: Path) -> None:
    with memory.open("a") as stream:
        stream.writelines(f"- [unverified · 2026-06-30 · agent a1] Fact number {number}.\n" for number in range(40))
    ids = _ids(memory)
    shared = next(one[0] for one in ids if sum(each.startswith(one[0]) for each in ids) > 1)
    agent = {"ORCH_AGENT": "zz93"}
    for named in (shared, "", "no-such-id"):
        assert orch("memory", "add", "--supersedes", named, "It is so now.", environ=agent).code == 2
    orch.ok("memory", "add", "--supersedes", ids[5][:8], "It is so now.", environ=agent)
    after = {entry.id: entry for entry in parse(memory.read_bytes()).entries}
    assert [each for each in ids if after[each].superseded] == [ids[5]]
    orch.ok("memory", "review", "--list")
