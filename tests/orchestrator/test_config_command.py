"""`orch config`, run as a program."""

import json
from pathlib import Path

from tests.conftest import Orch, git


def test_each_value_with_its_source(orch: Orch, repo: Path) -> None:
    (repo / ".orch").mkdir()
    (repo / ".orch" / "config.yml").write_text(
        "memory:\n  ttl_days: 5\nbackends:\n  mine:\n    command: [sh, x]\n    env: {TOKEN: s3cret}\n"
    )
    environ = {"ORCH_MEMORY_MCP": "yes", "ORCH_ZEPHYR": "1"}
    result = orch.ok("config", "--json", environ=environ)
    rows = {row["key"]: (row["value"], row["source"]) for row in json.loads(result.stdout)["config"]}
    assert rows["memory.ttl_days"] == (5, ".orch/config.yml:2")
    assert rows["memory.mcp"] == (True, "environment variable ORCH_MEMORY_MCP")
    assert rows["memory.inject"] == (True, "default")
    assert rows["backends.mine.command"] == (["sh", "x"], ".orch/config.yml:5")
    assert "ORCH_ZEPHYR" in result.stderr
    shown = orch.ok("config", "show", environ=environ).stdout
    assert "memory.ttl_days\t5\t.orch/config.yml:2\n" in shown
    assert "s3cret" not in shown + result.stdout


def test_an_option_before_its_command_is_refused(orch: Orch, repo: Path) -> None:
    refused = orch("config", "--json", "path")
    assert (refused.code, refused.stdout) == (2, "")
    assert "orch config path …" in refused.stderr
    assert orch.ok("config", "--json").stdout == orch.ok("config", "show", "--json").stdout


def test_a_slip_is_one_line_and_a_hint(orch: Orch, repo: Path) -> None:
    (repo / ".orch").mkdir()
    (repo / ".orch" / "config.yml").write_text("memory:\n  injct: true\n")
    result = orch("config")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        "error: .orch/config.yml:2: there is no key 'memory.injct'",
        "hint: did you mean memory.inject?",
    ]


def test_a_bare_repository_has_the_file_of_its_default_branch(orch: Orch, repo: Path, tmp_path: Path) -> None:
    (repo / ".orch").mkdir()
    (repo / ".orch" / "config.yml").write_text("memory: {ttl_days: 7}\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Configure")
    bare = tmp_path / "bare.git"
    git(repo, "clone", "--quiet", "--bare", str(repo), str(bare))
    rows = json.loads(orch.ok("config", "--json", cwd=bare).stdout)["config"]
    assert {"key": "memory.ttl_days", "value": 7, "source": "HEAD:.orch/config.yml:1"} in rows


def test_outside_a_repository_the_users_own_layers_count(orch: Orch, tmp_path: Path) -> None:
    result = orch.ok("config", "--json", cwd=tmp_path, environ={"ORCH_MEMORY_MCP": "on"})
    rows = {row["key"]: row["value"] for row in json.loads(result.stdout)["config"]}
    assert rows["memory.mcp"] is True
