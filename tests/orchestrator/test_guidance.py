"""Guidance, from the configuration to what `orch memory` prints."""

import json
from pathlib import Path

import pytest

from tests.conftest import Orch


@pytest.fixture
def configured(repo: Path) -> Path:
    """A repository with a memory, and a guidance file that its configuration names."""
    (repo / ".orch").mkdir()
    (repo / ".orch" / "memory.md").write_text("# Project memory\n\n- Tests need no network.\n")
    (repo / ".orch" / "config.yml").write_text("guidance: [docs/git.md]\n")
    (repo / "docs").mkdir()
    (repo / "docs" / "git.md").write_text("Rebase, never merge.\n")
    return repo


def test_it_comes_after_the_memory(orch: Orch, configured: Path) -> None:
    text = orch.ok("memory").stdout
    assert text.index("</project-memory>\n\n<project-guidance>") < text.index("Rebase, never merge.")
    shown = json.loads(orch.ok("memory", "--json").stdout)
    assert shown["text"] == text
    assert shown["bytes"] == len(text.encode())


def test_it_goes_alone_where_the_memory_is_empty_and_not_at_all_where_it_is_off(orch: Orch, configured: Path) -> None:
    (configured / ".orch" / "memory.md").write_text("# Project memory\n")
    assert orch.ok("memory").stdout.startswith("<project-guidance>\n")
    assert orch.ok("memory", environ={"ORCH_MEMORY_INJECT": "off"}).stdout == ""


def test_an_agent_reads_exactly_that(orch: Orch, configured: Path) -> None:
    (configured / ".orch" / "config.yml").write_text(
        "guidance: [docs/git.md]\nbackends: {reader: {command: [sh, -c, 'cat \"$NOTES\" >seen'], seam: {env: NOTES}}}\n"
    )
    agent = json.loads(orch.ok("spawn", "--backend", "reader", "--wait", "--json", "x").stdout)["agent"]
    assert (Path(agent["worktree"]) / "seen").read_bytes() == orch.ok("memory").raw


def test_a_project_cannot_name_a_persons_other_files(orch: Orch, configured: Path, home: Path) -> None:
    (home / "secret").write_text("s3cret")
    (configured / "docs" / "link.md").symlink_to(home / "secret")
    (configured / ".orch" / "config.yml").write_text("guidance: [~/secret, docs/link.md, .git/config, docs/none.md]\n")
    result = orch.ok("memory")
    assert "s3cret" not in result.stdout
    assert "guidance" not in result.stdout
    assert len(result.stderr.splitlines()) == 4
    own = home / ".config" / "orch" / "config.yml"
    own.parent.mkdir(parents=True)
    own.write_text("guidance: [~/secret]\n")
    assert "s3cret" in orch.ok("memory").stdout


def test_a_file_over_the_budget_is_named(orch: Orch, configured: Path) -> None:
    (configured / "docs" / "git.md").write_text("word " * 2000)
    result = orch.ok("memory")
    assert "guidance_budget" in result.stderr
    assert "word word" not in result.stdout
