"""`orch memory import`: what it takes, what it refuses, and how long many facts take."""

import json
import os
import pty
import random
import subprocess
import sys
from pathlib import Path

import pytest

from memory.document import MOST_BYTES, parse
from tests.conftest import Orch, processor_seconds

_GOOD = "- The good one is here.\n"
_SYLLABLES = (("ka", "lo", "mi", "ne", "tu"), ("rat", "den", "mok", "lip"), ("er", "on", "ish", "ment", "al"))


def _fates(text: str) -> list[tuple[str, str]]:
    return [(each["text"], each["fate"]) for each in json.loads(text)["entries"]]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"- fine\n- caf\xe9 is here\n", "it is not UTF-8 text (line 2)"),
        (b"- fine\n<<<<<<< ours\n- one\n=======\n- two\n>>>>>>> theirs\n", "unresolved merge conflict at line 2"),
    ],
)
def test_a_file_that_is_refused_is_named_and_the_others_are_taken(
    orch: Orch, repo: Path, tmp_path: Path, data: bytes, says: str
) -> None:
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text(_GOOD)
    bad.write_bytes(data)
    done = orch.ok("memory", "import", "--apply", "--json", str(bad), str(good))
    assert _fates(done.stdout) == [("The good one is here.", "new")]
    assert [each["source"] for each in json.loads(done.stdout)["refused"]] == [str(bad)]
    (line,) = [line for line in done.stderr.splitlines() if str(bad) in line]
    assert says in line
    assert "The good one" in (repo / ".orch" / "memory.md").read_text()
    alone = orch("memory", "import", "--apply", str(bad))
    assert (alone.code, says in alone.stderr) == (2, True)


def test_a_conflict_that_a_code_block_shows_is_none(orch: Orch, repo: Path, tmp_path: Path) -> None:
    path = tmp_path / "shown.md"
    path.write_text("```\n<<<<<<< ours\n>>>>>>> theirs\n```\n" + _GOOD)
    assert _fates(orch.ok("memory", "import", "--json", str(path)).stdout) == [("The good one is here.", "new")]


def test_only_what_is_struck_as_a_whole_is_refused_as_struck(orch: Orch, repo: Path, tmp_path: Path) -> None:
    path = tmp_path / "struck.md"
    path.write_text(
        "- ~~half~~ live fact\n- ~~one~~ amid two ~~ends~~\n- ~~wholly struck~~\n- ~~over two\n  lines~~.\n"
        "- [superseded · 2026-01-01] by its tag\n"
    )
    entries = json.loads(orch.ok("memory", "import", "--json", str(path)).stdout)["entries"]
    assert [each["fate"] for each in entries] == ["new", "new", "refused", "refused", "refused"]


def test_standard_input_is_a_source_like_a_file(orch: Orch, repo: Path) -> None:
    done = orch.ok("memory", "import", "--apply", "--json", "-", stdin=_GOOD)
    assert _fates(done.stdout) == [("The good one is here.", "new")]
    assert "source stdin" in (repo / ".orch" / "memory.md").read_text()
    large = orch("memory", "import", "-", stdin=b"x" * (MOST_BYTES + 1))
    assert (large.code, "standard input: it is too large" in large.stderr) == (2, True)


def test_a_terminal_is_no_source(repo: Path) -> None:
    leader, follower = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-m", "orchestrator", "memory", "import", "-"],
            cwd=repo,
            stdin=follower,
            capture_output=True,
            timeout=30,
            check=False,
        )
    finally:
        os.close(leader)
        os.close(follower)
    assert (done.returncode, b"nothing is piped" in done.stderr) == (2, True)


def test_a_source_may_be_as_large_as_a_memory(orch: Orch, repo: Path, tmp_path: Path) -> None:
    path = tmp_path / "large.md"
    path.write_text(_GOOD + ("prose " * 16 + "\n") * (5 * 1024 * 1024 // 97))
    assert _fates(orch.ok("memory", "import", "--json", str(path)).stdout) == [("The good one is here.", "new")]
    with path.open("r+b") as stream:
        stream.truncate(MOST_BYTES + 1)
    assert "too large" in orch("memory", "import", str(path)).stderr


def _plain_words(number: int) -> str:
    """A fact of eight words, without a number, a path or code."""
    order = random.Random(number)
    return " ".join("".join(order.choice(part) for part in _SYLLABLES) for _ in range(8))


@pytest.mark.parametrize("heading", [False, True])
def test_ten_thousand_plain_facts_come_in_at_once(orch: Orch, repo: Path, tmp_path: Path, heading: bool) -> None:
    path = tmp_path / "plain.md"
    facts = [_plain_words(number) for number in range(10_000)]
    path.write_text("".join((f"## {fact[:40].strip()}\n" if heading else "") + f"- {fact}\n" for fact in facts))
    begun = processor_seconds()
    orch.ok("memory", "import", "--apply", str(path))
    assert processor_seconds() - begun < 15, "4 s, and far above 100 s when each is compared with each"
    found = parse((repo / ".orch" / "memory.md").read_bytes()).entries
    assert [entry.text for entry in found] == list(dict.fromkeys(facts))
