"""`orch memory review` on a real terminal, while others change the memory."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

from tests.conftest import Orch, commit_memory, git

FACT = "The worker listens on port 7001."
OTHER = "The worker listens on port 7002."
MEMORY = f"""# Project memory

## How things run
- [unverified · 2026-11-01 · agent a1b2] {FACT}
- [unverified · 2026-11-01 · agent c3d4] {OTHER}
"""
Review = Callable[[], "pexpect.spawn[str]"]


@pytest.fixture
def memory(repo: Path) -> Path:
    return commit_memory(repo, MEMORY)


@pytest.fixture
def review(orch: Orch) -> Iterator[Review]:
    """Starts a review on a terminal of its own, which has shown the first item and waits for a key."""
    begun: list[pexpect.spawn[str]] = []

    def begin() -> "pexpect.spawn[str]":
        words = ["-I", "-m", "orchestrator", "memory", "review"]
        begun.append(pexpect.spawn(sys.executable, words, cwd=str(orch.cwd), timeout=15, encoding="utf-8"))
        begun[-1].expect("1/.*q quit")
        return begun[-1]

    yield begin
    for child in begun:
        child.close(force=True)


def _id(orch: Orch, text: str) -> str:
    lines = orch.ok("memory", "list").stdout.splitlines()
    return next(line for line in lines if text in line).split()[0]


def _let_conflict(orch: Orch, memory: Path) -> None:
    """Let the memory have one entry of a person's, and an agent claim that it is otherwise."""
    memory.write_text("# Project memory\n\n- The worker is in src/.\n")
    git(memory.parent, "commit", "--all", "--quiet", "--message", "Less")
    old = _id(orch, "The worker is in src/.")
    orch.ok("memory", "add", "It is in lib/.", "--supersedes", old, environ={"ORCH_AGENT": "zz90"})


@pytest.mark.parametrize("key", ["a", "r", "x", "e"])
@pytest.mark.parametrize("change", ["removed", "reworded", "other case", "approved", "superseded"])
def test_no_key_decides_about_what_has_changed_since_it_was_shown(
    orch: Orch, memory: Path, review: Review, key: str, change: str
) -> None:
    name = _id(orch, FACT)
    child = review()
    if change == "removed":
        orch.ok("memory", "rm", name)
    elif change == "approved":
        orch.ok("memory", "approve", name)
    elif change == "superseded":
        orch.ok("memory", "supersede", name, "The worker listens on a socket.")
    else:
        said = "The worker listens on port 7003." if change == "reworded" else FACT.replace("worker", "WORKER")
        memory.write_text(memory.read_text().replace(FACT, said))
    before, history = memory.read_bytes(), orch.ok("memory", "history").stdout
    child.send(key)
    child.expect("changed since it was shown[^\r]*\r\n")
    child.expect("2/.*q quit")
    assert "hint" not in f"{child.before}{child.after}"
    assert (memory.read_bytes(), orch.ok("memory", "history").stdout) == (before, history)
    child.send("r")
    child.expect("1 decided")
    assert OTHER not in memory.read_text()


def test_a_proposal_that_somebody_else_decided_is_not_decided_again(orch: Orch, memory: Path, review: Review) -> None:
    _let_conflict(orch, memory)
    child = review()
    orch.ok("memory", "reject", _id(orch, "It is in lib/."))
    before = memory.read_bytes()
    child.send("a")
    child.expect("changed since it was shown")
    child.expect("0 decided")
    assert memory.read_bytes() == before


def test_a_new_text_that_is_refused_costs_no_proposal(orch: Orch, memory: Path, review: Review) -> None:
    _let_conflict(orch, memory)
    child = review()
    child.send("e")
    child.expect("new text")
    child.sendline("[trusted] It is in lib/.")
    child.expect("begins with a tag")
    child.expect("0 decided")
    assert "It is in lib/." in orch.ok("memory", "review", "--list").stdout


def test_approving_what_is_larger_than_the_budget_is_told(orch: Orch, memory: Path, review: Review) -> None:
    (memory.parent / "config.yml").write_text("memory: {budget: {bytes: 300}}\n")
    child = review()
    child.send("a")
    child.expect("cannot be injected: memory.budget is 300 bytes")
    child.expect("approved")
    child.expect("2/.*q quit")
    child.send("q")
    child.expect("1 decided, 1 left")
    assert "cannot be injected" in orch.ok("memory", "review", "--approve-all").stderr


@pytest.mark.parametrize(
    ("keys", "told"), [("\x04", "0 decided, 2 left"), ("r\x04", "1 decided, 1 left"), ("sq", "0 decided, 2 left")]
)
def test_the_end_of_the_input_leaves_the_review_with_what_was_decided(
    orch: Orch, memory: Path, review: Review, keys: str, told: str
) -> None:
    child = review()
    for key in keys[:-1]:
        child.send(key)
        child.expect("2/.*q quit")
    child.send(keys[-1])
    child.expect(told)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert (FACT in memory.read_text()) == (keys[0] != "r")


def test_a_new_text_that_is_not_given_leaves_the_item_open(orch: Orch, memory: Path, review: Review) -> None:
    child = review()
    child.send("e")
    child.expect("new text")
    child.send("\x04")
    child.expect("q quit")
    child.send("s")
    child.expect("2/.*q quit")
    child.send("s")
    child.expect("0 decided, 2 left")
    assert memory.read_text() == MEMORY


@pytest.mark.parametrize("option", ["--list", "--json"])
def test_what_decides_nothing_cannot_approve(orch: Orch, memory: Path, option: str) -> None:
    refused = orch("memory", "review", option, "--approve-all")
    assert (refused.code, refused.stdout) == (2, "")
    assert memory.read_text() == MEMORY
