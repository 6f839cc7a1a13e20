"""`orch merge` and `orch check` on real git: the target moves whole, or stays as it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.orchestrator.conftest import Shell
from tests.orchestrator.snapshots import load_tree


def _ended(shell: Shell, script: str, *options: str) -> dict[str, Any]:
    return shell.ended(shell.spawn(script, *options)["id"])


_WORK = "echo one > one; git add one; git commit -qm 'Add one'; echo two > two; git add two; git commit -qm 'Add two'"


def _go_on(repo: Path, name: str = "other") -> str:
    (repo / name).write_text("meanwhile\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "Meanwhile")
    return git(repo, "rev-parse", "HEAD")


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("way", ["merge", "squash", "rebase"])
def test_the_three_ways(shell: Shell, repo: Path, way: str, moved: bool) -> None:
    agent = _ended(shell, _WORK, "--branch", "work")
    base = git(repo, "rev-parse", "main")
    if moved:
        base = _go_on(repo)
    options = [] if way == "merge" else [f"--{way}"]
    result = json.loads(shell.orch.ok("merge", *options, "--json", agent["id"]).stdout)
    assert (result["into"], result["before"], result["way"]) == ("main", base, way)
    assert result["commit"] == git(repo, "rev-parse", "main")
    assert result["checked_out_at"] == str(repo)
    assert (repo / "one").read_text() == "one\n"
    assert git(repo, "status", "--porcelain") == ""
    parents = git(repo, "show", "-s", "--format=%P", "main").split()
    if way == "merge":
        assert parents == [base, git(repo, "rev-parse", "work")]
        assert git(repo, "show", "-s", "--format=%s", "main") == "Merge branch 'work' into main"
    elif way == "squash":
        assert parents == [base]
        assert git(repo, "show", "-s", "--format=%b", "main").rstrip() == "- Add one\n- Add two"
    else:
        assert git(repo, "log", "--format=%s", f"{base}..main") == "Add two\nAdd one"
        assert git(repo, "log", "--merges", "--format=%H") == ""
    assert git(repo, "show", "-s", "--format=%an <%ae>", "main") == "Test Person <person@example.invalid>"
    again = shell.orch.ok("merge", *options, agent["id"])
    assert "nothing to merge" in again.stdout
    assert git(repo, "rev-parse", "main") == result["commit"]
    assert shell.show(agent["id"])["extra"]["merged"]["commit"] == result["commit"]
    shell.orch.ok("rm", agent["id"])


def test_fast_forward_only_if_asked(shell: Shell, repo: Path) -> None:
    agent = _ended(shell, _WORK, "--branch", "work")
    shell.orch.ok("merge", "--ff-only", agent["id"])
    assert git(repo, "rev-parse", "main") == git(repo, "rev-parse", "work")
    other = _ended(shell, "git commit -q --allow-empty -m x; echo x > x; git add x; git commit -qm x")
    tip = _go_on(repo)
    refused = shell.orch("merge", "--ff-only", other["id"])
    assert (refused.code, "--rebase" in refused.stderr) == (1, True)
    assert git(repo, "rev-parse", "main") == tip


@pytest.mark.parametrize("way", [[], ["--squash"], ["--rebase"]])
def test_a_conflict_leaves_everything_as_it_was(shell: Shell, repo: Path, way: list[str]) -> None:
    agent = _ended(shell, "echo agent > README.md; echo x > x; git add -A; git commit -qm Agent")
    (repo / "README.md").write_text("person\n")
    git(repo, "commit", "--quiet", "-am", "Person")
    before = (load_tree(repo), git(repo, "for-each-ref", "refs/heads"), git(repo, "status", "--porcelain"))
    refused = shell.orch("merge", *way, agent["id"])
    assert refused.code == 1
    assert "conflicts with main" in refused.stderr
    assert "README.md" in refused.stderr
    assert "git merge main" in refused.stderr
    assert (load_tree(repo), git(repo, "for-each-ref", "refs/heads"), git(repo, "status", "--porcelain")) == before


def test_a_rebase_keeps_authors_messages_and_drops_what_is_there(shell: Shell, repo: Path) -> None:
    message = "Subject\n\nBody with ünïcode\n\nTrailer: yes"
    script = f"""
    echo 1 > a; git add a; git commit -qm first
    echo 2 > b; git add b
    export GIT_AUTHOR_DATE='2020-02-02T02:02:02+0530'
    git commit -q --author 'Ann Other <ann@example.invalid>' -F - <<'END'
{message}
END
    """
    agent = _ended(shell, script, "--branch", "work")
    _go_on(repo)
    git(repo, "cherry-pick", "work~1")
    base = git(repo, "rev-parse", "main")
    shell.orch.ok("merge", "--rebase", agent["id"])
    assert git(repo, "rev-list", "--count", f"{base}..main") == "1"
    assert git(repo, "show", "-s", "--format=%an <%ae> %aI%n%B", "main").rstrip() == (
        f"Ann Other <ann@example.invalid> 2020-02-02T02:02:02+05:30\n{message}"
    )
    assert git(repo, "show", "-s", "--format=%cn", "main") == "Test Person"


def test_a_target_that_is_nowhere_checked_out(shell: Shell, repo: Path) -> None:
    git(repo, "branch", "release")
    agent = _ended(shell, _WORK)
    before = load_tree(repo)
    result = json.loads(shell.orch.ok("merge", "--into", "release", "--json", agent["id"]).stdout)
    assert result["checked_out_at"] is None
    assert git(repo, "show", "release:two") == "two"
    assert load_tree(repo) == before
    missing = shell.orch("merge", "--into", "nothing", agent["id"])
    assert (missing.code, "there is no branch nothing" in missing.stderr) == (2, True)


def test_a_target_in_another_worktree_says_who_holds_it(shell: Shell, repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "--quiet", "-b", "release", str(tmp_path / "release"))
    agent = _ended(shell, "echo agent > README.md; git commit -qam Agent")
    (tmp_path / "release" / "README.md").write_text("a person's change\n")
    refused = shell.orch("merge", "--into", "release", agent["id"])
    assert refused.code == 7
    assert f"release is checked out at {tmp_path / 'release'}, with changes of its own in README.md" in refused.stderr
    assert (tmp_path / "release" / "README.md").read_text() == "a person's change\n"
    git(tmp_path / "release", "checkout", "--quiet", "README.md")
    (tmp_path / "release" / "note").write_text("untracked, and in nobody's way\n")
    result = shell.orch.ok("merge", "--into", "release", agent["id"])
    assert str(tmp_path / "release") in result.stdout
    assert (tmp_path / "release" / "README.md").read_text() == "agent\n"
    assert git(tmp_path / "release", "status", "--porcelain") == "?? note"


def test_an_untracked_file_in_the_way(shell: Shell, repo: Path) -> None:
    agent = _ended(shell, "echo agent > new; git add new; git commit -qm Agent")
    (repo / "new").write_text("a person's untracked file\n")
    tip = git(repo, "rev-parse", "main")
    refused = shell.orch("merge", agent["id"])
    assert (refused.code, "new" in refused.stderr) == (7, True)
    assert (repo / "new").read_text() == "a person's untracked file\n"
    assert git(repo, "rev-parse", "main") == tip


def test_a_target_where_another_agent_works(shell: Shell, repo: Path) -> None:
    first = _ended(shell, _WORK)
    other = shell.spawn("sleep 60", "--branch", "shared")
    refused = shell.orch("merge", "--into", "shared", first["id"])
    assert (refused.code, f"where agent {other['id']} works" in refused.stderr) == (7, True)
    shell.orch.ok("stop", other["id"])
    shell.orch.ok("merge", "--into", "shared", first["id"])


def test_uncommitted_work_is_not_left_out(shell: Shell, repo: Path) -> None:
    agent = _ended(shell, "echo new > new; echo more >> README.md")
    refused = shell.orch("merge", agent["id"])
    assert (refused.code, "--commit MESSAGE" in refused.stderr) == (9, True)
    shell.orch.ok("merge", "--commit", "Add what is new", agent["id"])
    assert (repo / "new").read_text() == "new\n"
    assert "Add what is new" in git(repo, "log", "--format=%s")
    running = shell.spawn("echo x > x; sleep 60")
    assert shell.orch("merge", "--commit", "x", running["id"]).code == 2
    assert git(Path(running["worktree"]), "rev-parse", "HEAD") == running["base"]
    shell.orch.ok("stop", running["id"])


def _checks(repo: Path, text: str) -> None:
    (repo / ".orch").mkdir(exist_ok=True)
    (repo / ".orch" / "check.yml").write_text(text)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "Checks")


def test_checks_run_before_a_merge(shell: Shell, repo: Path) -> None:
    _checks(repo, "checks:\n  lint: 'true'\n  test: 'echo looking; seq 1 100; test -f works'\n  late: 'test -f one'\n")
    agent = _ended(shell, _WORK + "; echo 'checks: {}' > .orch/check.yml; git commit -qam 'No checks for me'")
    tip = git(repo, "rev-parse", "main")
    refused = shell.orch("merge", agent["id"])
    assert refused.code == 1
    assert "nothing was merged into main" in refused.stderr
    lines = refused.stdout.splitlines()
    assert lines[0].startswith("test: FAILED with exit code 1")
    assert "    … 81 lines before" in lines
    assert "    100" in lines
    assert [line.split(":")[0] for line in lines if "passed" in line] == ["lint", "late"]
    assert git(repo, "rev-parse", "main") == tip
    shell.orch.ok("merge", "--no-check", agent["id"])


def test_orch_check(shell: Shell, repo: Path) -> None:
    nothing = shell.orch("check")
    assert (nothing.code, "there are no checks" in nothing.stderr) == (2, True)
    _checks(repo, "checks:\n  here: pwd; test -f here\n  fine: 'true'\n")
    agent = _ended(shell, "touch here")
    passed = json.loads(shell.orch.ok("check", "--json", agent["id"]).stdout)
    assert [(each["name"], each["passed"]) for each in passed["checks"]] == [("here", True), ("fine", True)]
    failed = shell.orch("check")
    assert failed.code == 1
    assert failed.stdout.splitlines()[0].startswith("here: FAILED")
    assert str(repo) in failed.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("checks: [a]", ".orch/check.yml:1: checks must be a table"),
        ("check:\n  a: b", ".orch/check.yml:1: check is not known"),
        ("checks:\n  a: ''", ".orch/check.yml:2: the check a must be a command"),
        ("checks:\n  a: {b: c}", ".orch/check.yml:2: the check a must be a command"),
        ("checks: {a: b", "no valid YAML"),
    ],
)
def test_a_slip_in_the_checks_is_named(shell: Shell, repo: Path, text: str, said: str) -> None:
    _checks(repo, text)
    result = shell.orch("check")
    assert (result.code, said in result.stderr) == (2, True), result.stderr
