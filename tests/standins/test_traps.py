"""The stand-ins have the traps that the vendors' programs are known for: an adapter that steps into one is seen."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters import registry
from orchestrator.recorder import Error, Recorder, Script
from tests.conftest import git

FOLDER = Path(__file__).parent
TASK = "Look into the notes."


@pytest.fixture
def requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the stand-ins without an endpoint write what they would send."""
    path = tmp_path / "requests"
    monkeypatch.setenv("STANDIN_REQUESTS", str(path))
    monkeypatch.setenv("CURSOR_API_KEY", "key")
    return path


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[Recorder]:
    """A model endpoint that crush and goose are pointed at."""
    with Recorder() as recorder:
        for name in ("crush", "goose"):
            redirect = registry()[name].redirect
            assert redirect is not None
            made = redirect(recorder.url, home)
            for path, data in made.files.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            for variable, value in made.environ.items():
                monkeypatch.setenv(variable, value)
        monkeypatch.setenv("GOOSE_MODE", "auto")
        yield recorder


def run(repo: Path, name: str, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a stand-in in the repository."""
    return subprocess.run(
        [sys.executable, FOLDER / f"{name}.py", *words],
        cwd=repo,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )


def last_sent(requests: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(requests.read_text(encoding="utf-8").splitlines()[-1])
    return value


def system(recorder: Recorder) -> str:
    parsed = recorder.requests[-1].parsed
    assert isinstance(parsed, dict)
    return str(parsed["messages"][0]["content"])


AGY = ("--dangerously-skip-permissions", "--output-format", "json")


def test_agy_takes_the_word_after_p_for_the_prompt(repo: Path, requests: Path) -> None:
    run(repo, "antigravity", "-p", *AGY, TASK)
    assert not requests.exists()
    run(repo, "antigravity", *AGY, f"-p={TASK}")
    assert last_sent(requests)["prompt"] == TASK


def test_agy_has_no_workspace_unless_it_is_added(repo: Path, requests: Path) -> None:
    (repo / "AGENTS.md").write_text("x" * 23_000 + "\n" + "y" * 2_000)
    run(repo, "antigravity", *AGY, f"-p={TASK}")
    assert last_sent(requests)["rules"] == []
    run(repo, "antigravity", *AGY, "--add-dir", str(repo), f"-p={TASK}")
    assert last_sent(requests)["rules"][0]["text"] == "x" * 23_000 + "\n", "24,000 bytes, cut at a line"


def test_agy_says_nothing_when_a_tool_is_denied(repo: Path, requests: Path) -> None:
    done = run(repo, "antigravity", f"-p={TASK}")
    assert (done.returncode, done.stdout) == (0, "")


CURSOR = ("-p", "--output-format", "json")


def test_cursor_wants_trust_and_force_and_fails_without_json(repo: Path, requests: Path) -> None:
    for words in (("--force",), ("--trust",)):
        done = run(repo, "cursor", *CURSOR, *words, TASK)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr
    assert json.loads(run(repo, "cursor", *CURSOR, "--force", "--trust", TASK).stdout)["type"] == "result"


def test_cursor_reads_up_to_the_root_and_drops_a_file_that_says_the_same(repo: Path, requests: Path) -> None:
    (repo.parent / "AGENTS.md").write_text("Above.")
    (repo / "AGENTS.md").write_text("z" * 103_000)
    (repo / "CLAUDE.md").write_text(" Above.\n")
    rules = repo / ".cursor" / "rules"
    rules.mkdir(parents=True)
    (rules / "a.mdc").write_text("---\nalwaysApply: true\n---\nA rule.\n")
    (rules / "b.mdc").write_text("---\nalwaysApply: false\n---\nNo rule.\n")
    (rules / "c.md").write_text("---\nalwaysApply: true\n---\nNo rule.\n")
    run(repo, "cursor", *CURSOR, "--force", "--trust", TASK)
    texts = [rule["text"] for rule in last_sent(requests)["rules"]]
    assert texts[-3:] == ["Above.", "z" * 102_400 + "\n[truncated", "A rule.\n"]


def test_cursor_finds_a_chat_only_in_the_directory_where_it_was(repo: Path, requests: Path) -> None:
    chat = json.loads(run(repo, "cursor", *CURSOR, "--force", "--trust", TASK).stdout)["session_id"]
    words = (*CURSOR, "--force", "--trust", "--resume", chat, TASK)
    assert run(repo, "cursor", *words).returncode == 0
    (repo / "inner").mkdir()
    assert run(repo / "inner", "cursor", *words).returncode == 1


def test_goose_ignores_system_beside_a_file_of_instructions(repo: Path, endpoint: Recorder) -> None:
    (repo / "task").write_text(TASK)
    run(repo, "goose", "run", "-n", "a", "--system", "The memory.", "-i", "task")
    assert "The memory." not in system(endpoint)
    run(repo, "goose", "run", "-n", "b", "--system", "The memory.", "-i", "-", stdin=TASK)
    assert system(endpoint).endswith("The memory.")


def test_goose_drops_a_large_file_whole_and_a_link_that_leads_out(repo: Path, endpoint: Recorder) -> None:
    (repo / ".goosehints").write_text("x" * (1024 * 1024 + 1))
    (repo.parent / "out.md").write_text("From outside.")
    (repo / "AGENTS.md").symlink_to(repo.parent / "out.md")
    run(repo, "goose", "run", "-n", "a", "-t", TASK)
    assert "Project Hints" not in system(endpoint)
    (repo / ".goosehints").write_text("The hint.")
    run(repo, "goose", "run", "-n", "b", "-t", TASK)
    assert system(endpoint).endswith("### Project Hints\nThe hint.")


def test_goose_takes_no_session_id_for_a_new_session(repo: Path, endpoint: Recorder) -> None:
    assert run(repo, "goose", "run", "--session-id", "1", "-t", TASK).returncode == 2
    assert run(repo, "goose", "run", "-r", "-n", "none", "-t", TASK).returncode == 1


def test_crush_reads_every_name_in_any_order(repo: Path, endpoint: Recorder) -> None:
    for name in ("AGENTS.md", "CRUSH.md", "GEMINI.md", "CLAUDE.md"):
        (repo / name).write_text(f"From {name}.")
    seen = set()
    for _ in range(6):
        assert run(repo, "crush", "run", "-q", TASK).returncode == 0
        text = system(endpoint)
        assert all(text.count(f"From {name}.") == 1 for name in ("AGENTS.md", "CRUSH.md", "GEMINI.md", "CLAUDE.md"))
        seen.add(text)
    assert len(seen) > 1
    assert (repo / ".crush").is_dir()
    assert ".crush" not in git(repo, "status", "--porcelain"), "it ignores itself"


def test_crush_does_not_read_a_lone_lower_case_name(repo: Path, endpoint: Recorder) -> None:
    (repo / "crush.md").write_text("Unread.")
    run(repo, "crush", "run", "-q", TASK)
    assert "Unread." not in system(endpoint)


def test_crush_has_no_yolo_on_run_and_fails_with_1(repo: Path, endpoint: Recorder) -> None:
    done = run(repo, "crush", "run", "--yolo", TASK)
    assert done.returncode == 1
    assert "unknown flag: --yolo" in done.stderr
    endpoint.play(Script(final=Error(401)))
    assert run(repo, "crush", "run", "-q", TASK).returncode == 1
