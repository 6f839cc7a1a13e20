"""Bad input to `orch spawn`: one line, one hint, and nothing left behind; odd input that has to work."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Orch, git

CONFIG = """\
backends:
  echo: {command: [sh, -c, 'printf %s "$1" >task.txt', sh], seam: none}
  stdin: {command: [sh, -c, 'cat >task.txt'], prompt: stdin, seam: none}
  reader: {command: [sh, -c, 'cat "${NOTES:-/dev/null}" >notes.txt'], seam: {env: NOTES}}
"""


@pytest.fixture
def configured(repo: Path) -> Path:
    """The repository, with backends that only write down what they were given."""
    (repo / ".orch").mkdir()
    (repo / ".orch" / "config.yml").write_text(CONFIG)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Configure")
    return repo


def _traces(repo: Path) -> tuple[object, ...]:
    """What a failed spawn could leave: branches, worktrees, configuration, agents."""
    folder = repo / ".git" / "orch" / "agents"
    return (
        git(repo, "for-each-ref"),
        git(repo, "worktree", "list"),
        (repo / ".git" / "config").read_bytes(),
        sorted(folder.iterdir()) if folder.exists() else [],
        git(repo, "status", "--porcelain"),
    )


def _refused(orch: Orch, repo: Path, *args: str, **options: Any) -> tuple[int, str, str]:
    """Exit code, error and hint of a refused spawn, which has printed nothing else and left nothing."""
    before = _traces(repo)
    result = orch("spawn", *args, **options)
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 2, result.stderr
    assert lines[0].startswith("error: ")
    assert lines[1].startswith("hint: "), result.stderr
    assert _traces(repo) == before
    return result.code, lines[0], lines[1]


def test_an_unknown_backend(orch: Orch, configured: Path) -> None:
    code, error, hint = _refused(orch, configured, "--backend", "ecko", "x")
    assert (code, error, hint) == (6, "error: there is no backend 'ecko'", "hint: did you mean echo?")
    code, _, hint = _refused(orch, configured, "--backend", "cladue", "x")
    assert (code, hint) == (6, "hint: did you mean claude?")
    for name in ("mine", "x", "zorg", "code-agent"):
        code, _, hint = _refused(orch, configured, "--backend", name, "x")
        assert code == 6
        assert hint.startswith("hint: the backends are: aider, "), hint


@pytest.mark.parametrize("task", ["--weird", "-rf is wrong", "- fix it", "--weird=1"])
def test_a_task_that_begins_with_a_dash(orch: Orch, configured: Path, task: str) -> None:
    code, error, hint = _refused(orch, configured, "--backend", "echo", task)
    assert (code, error.startswith("error: No such option")) == (2, True)
    assert hint.endswith("a task that begins with - goes after --: orch spawn … -- TASK")
    assert "goes after --" in _refused(orch, configured, "--backend", "echo", "-fix it")[2]
    for words in (["memory", "add"], ["memory", "supersede", "abcd"], ["ask"], ["resume", "abcd"]):
        assert (
            "begins with - goes after --: orch " + " ".join(words[:2]).removesuffix(" abcd")
            in orch(*words, task).stderr
        )
    assert "goes after" not in orch("ls", task).stderr


def test_a_task_without_quotes(orch: Orch, configured: Path) -> None:
    code, _, hint = _refused(orch, configured, "--backend", "echo", "fix", "the", "bug")
    assert (code, hint) == (2, "hint: put a task of several words in quotes: orch spawn … 'task of several words'")


@pytest.mark.parametrize(("name", "near"), [("spwn", "spawn"), ("merg", "merge"), ("test", None), ("start", None)])
def test_an_unknown_command(orch: Orch, configured: Path, name: str, near: str | None) -> None:
    said = orch(name).stderr.splitlines()[0]
    assert said.endswith(f"did you mean: orch {near}" if near else "orch --help lists the commands")


def test_a_backend_that_is_not_installed(orch: Orch, configured: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "git")
    code, error, hint = _refused(orch, configured, "--backend", "claude", "x", environ={"PATH": str(programs)})
    assert code == 6
    assert "claude is not installed" in error
    assert "npm install" in hint


def test_no_repository(orch: Orch, configured: Path, tmp_path: Path) -> None:
    code, error, hint = _refused(orch, configured, "--backend", "echo", "x", cwd=tmp_path)
    assert code == 4
    assert "is not in a git repository" in error
    assert "git init" in hint


def test_no_commit_yet(orch: Orch, configured: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "--quiet")
    shutil.copytree(configured / ".orch", empty / ".orch")
    code, error, hint = _refused(orch, empty, "--backend", "echo", "x", cwd=empty)
    assert code == 4
    assert "no commit yet" in error
    assert "git commit" in hint


def test_a_branch_that_exists(orch: Orch, configured: Path) -> None:
    git(configured, "branch", "taken")
    code, error, hint = _refused(orch, configured, "--backend", "echo", "--branch", "taken", "x")
    assert code == 7
    assert "taken exists already" in error
    assert "--branch" in hint
    for name in ("taken/below", "-x", "a..b", "a b"):
        assert _refused(orch, configured, "--backend", "echo", f"--branch={name}", "x")[0] in (2, 7)


def test_a_path_that_exists(orch: Orch, configured: Path) -> None:
    (configured.parent / "repo.worktrees" / "there").mkdir(parents=True)
    code, error, _ = _refused(orch, configured, "--backend", "echo", "--branch", "there", "x")
    assert code == 7
    assert "is in the way" in error


def test_a_base_that_is_no_commit(orch: Orch, configured: Path) -> None:
    code, error, _ = _refused(orch, configured, "--backend", "echo", "--base", "nowhere", "x")
    assert code == 2
    assert "nowhere" in error


@pytest.mark.parametrize("task", ["", "   ", "\n\n"])
def test_an_empty_task(orch: Orch, configured: Path, task: str) -> None:
    code, error, _ = _refused(orch, configured, "--backend", "echo", task)
    assert (code, error) == (2, "error: the task is empty")
    assert _refused(orch, configured, "--backend", "echo", stdin=task)[0] == 2


def test_a_task_that_is_no_text(orch: Orch, configured: Path) -> None:
    assert "not UTF-8" in _refused(orch, configured, "--backend", "echo", stdin=b"caf\xe9")[1]
    assert "NUL" in _refused(orch, configured, "--backend", "echo", stdin=b"a\0b")[1]


def test_a_broken_configuration(orch: Orch, configured: Path) -> None:
    (configured / ".orch" / "config.yml").write_text(CONFIG + "memory:\n  injct: true\n")
    code, error, hint = _refused(orch, configured, "--backend", "echo", "x")
    assert code == 2
    assert error == "error: .orch/config.yml:6: there is no key 'memory.injct'"
    assert hint == "hint: did you mean memory.inject?"


TASKS = {
    "one": "Fix the bug",
    "dash": "--help",
    "dashes": "--",
    "lines": "First\n\n  second 'quoted' \"twice\" $(touch owned) `touch owned` %s \\n !\n",
    "unicode": "Größe prüfen: 日本語 🙂",
    "argument": "x" * 131_000,
}


@pytest.mark.parametrize("name", TASKS)
def test_tasks_arrive_as_they_were_given(orch: Orch, configured: Path, name: str) -> None:
    task = TASKS[name]
    agent = json.loads(orch.ok("spawn", "--backend", "echo", "--wait", "--json", "--", task).stdout)["agent"]
    assert (Path(agent["worktree"]) / "task.txt").read_text() == task
    assert sorted(path.name for path in Path(agent["worktree"]).iterdir()) == [".git", ".orch", "README.md", "task.txt"]


def test_a_long_task(orch: Orch, configured: Path) -> None:
    task = "A long task. " * 16_000
    assert len(task) > 200_000
    agent = json.loads(orch.ok("spawn", "--backend", "stdin", "--wait", "--json", stdin=task).stdout)["agent"]
    assert (Path(agent["worktree"]) / "task.txt").read_text() == task
    code, error, hint = _refused(orch, configured, "--backend", "echo", stdin=task)
    assert code == 6
    assert "too long to be an argument" in error
    assert "prompt: stdin" in hint


def test_a_task_from_a_file(orch: Orch, configured: Path, tmp_path: Path) -> None:
    (tmp_path / "task").write_text("- A list\n- of things\n")
    made = orch.ok("spawn", "--backend", "echo", "--wait", "--json", "--file", str(tmp_path / "task"))
    worktree = Path(json.loads(made.stdout)["agent"]["worktree"])
    assert (worktree / "task.txt").read_text() == "- A list\n- of things\n"
    assert _refused(orch, configured, "--backend", "echo", "--file", str(tmp_path / "none"))[0] == 2


def test_a_detached_head(orch: Orch, configured: Path) -> None:
    git(configured, "switch", "--quiet", "--detach")
    agent = json.loads(orch.ok("spawn", "--backend", "echo", "--wait", "--json", "x").stdout)["agent"]
    assert agent["base"] == git(configured, "rev-parse", "HEAD")


def _unreadable(memory: Path) -> None:
    memory.unlink()
    memory.mkdir()


@pytest.mark.parametrize("spoil", [lambda file: file.write_bytes(b"# Notes\n- caf\xe9\n"), _unreadable])
def test_a_memory_that_cannot_be_read(orch: Orch, configured: Path, spoil: Any) -> None:
    """docs/errors.md: the spawn is refused, so that nobody believes the agent to know what it was not told."""
    memory = configured / ".orch" / "memory.md"
    memory.write_text("# Notes\n\n- A fact.\n")
    spoil(memory)
    code, error, hint = _refused(orch, configured, "--backend", "reader", "x")
    assert code == 5
    assert "memory.md" in error
    assert "--no-memory" in hint
    orch.ok("spawn", "--backend", "reader", "--no-memory", "--wait", "x")


def test_a_memory_without_permission(orch: Orch, configured: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every file")
    (configured / ".orch" / "memory.md").write_text("# Notes\n")
    (configured / ".orch" / "memory.md").chmod(0)
    assert _refused(orch, configured, "--backend", "reader", "x")[0] == 5


def test_the_usage_of_options(orch: Orch, configured: Path) -> None:
    assert _refused(orch, configured, "x")[0] == 2
    assert _refused(orch, configured, "--backend", "echo", "--seam", "lunch", "x")[0] == 2
    assert _refused(orch, configured, "--backend", "echo", "x", "y")[0] == 2
