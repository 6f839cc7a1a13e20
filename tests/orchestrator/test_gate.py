"""What orch never deletes, force included: a record that says otherwise changes nothing."""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.orchestrator.conftest import Shell
from tests.orchestrator.snapshots import load_tree


def _tamper(repo: Path, agent_id: str, **fields: Any) -> None:
    """Write something else into the record, as a fault of ours or a hostile hand would."""
    with closing(sqlite3.connect(repo / ".git" / "orch" / "records.db")) as connection, connection:
        (data,) = connection.execute("SELECT data FROM agents WHERE id = ?", (agent_id,)).fetchone()
        value = {**json.loads(data), **fields}
        connection.execute("UPDATE agents SET data = ? WHERE id = ?", (json.dumps(value), agent_id))


def _ended(shell: Shell, script: str, *options: str) -> dict[str, Any]:
    return shell.ended(shell.spawn(script, *options)["id"])


def _main(repo: Path, tmp_path: Path, own: Path) -> Path:
    return repo


def _persons(repo: Path, tmp_path: Path, own: Path) -> Path:
    git(repo, "worktree", "add", "--quiet", "-b", "persons", str(tmp_path / "persons"))
    (tmp_path / "persons" / "untracked").write_text("a person's\n")
    return tmp_path / "persons"


def _another_agents(repo: Path, tmp_path: Path, own: Path) -> Path:
    path = _persons(repo, tmp_path, own)
    (repo / ".git" / "worktrees" / "persons" / "orch-agent").write_text("ffff\n")
    return path


def _unregistered(repo: Path, tmp_path: Path, own: Path) -> Path:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "file").write_text("precious\n")
    return tmp_path / "plain"


def _git_directory(repo: Path, tmp_path: Path, own: Path) -> Path:
    return repo / ".git"


def _bare_repository(repo: Path, tmp_path: Path, own: Path) -> Path:
    git(tmp_path, "clone", "--quiet", "--bare", str(repo), "bare.git")
    return tmp_path / "bare.git"


def _other_repositorys(repo: Path, tmp_path: Path, own: Path) -> Path:
    git(tmp_path, "clone", "--quiet", str(repo), "other")
    git(tmp_path / "other", "worktree", "add", "--quiet", "-b", "x", str(tmp_path / "others"))
    return tmp_path / "others"


def _link_to_own(repo: Path, tmp_path: Path, own: Path) -> Path:
    (tmp_path / "link").symlink_to(own)
    return tmp_path / "link"


def _parent_of_own(repo: Path, tmp_path: Path, own: Path) -> Path:
    return own.parent


def _git_directory_of_own(repo: Path, tmp_path: Path, own: Path) -> Path:
    return Path(git(own, "rev-parse", "--absolute-git-dir"))


@pytest.mark.parametrize(
    "make",
    [
        _main,
        _persons,
        _another_agents,
        _unregistered,
        _git_directory,
        _bare_repository,
        _other_repositorys,
        _link_to_own,
        _parent_of_own,
        _git_directory_of_own,
    ],
)
def test_a_path_that_is_not_the_agents_own(
    shell: Shell, repo: Path, tmp_path: Path, make: Callable[[Path, Path, Path], Path]
) -> None:
    agent = _ended(shell, "echo work > work")
    path = make(repo, tmp_path, Path(agent["worktree"]))
    before = load_tree(tmp_path)
    refs = git(repo, "for-each-ref")
    _tamper(repo, agent["id"], worktree=str(path))
    for option in ("--force", "--keep"):
        result = shell.orch("rm", option, agent["id"], cwd=repo)
        assert (result.code, "it was not touched" in result.stderr) == (7, True), result.stderr
    assert load_tree(tmp_path) == before
    assert git(repo, "for-each-ref") == refs


def test_a_worktree_that_orch_did_not_make(shell: Shell, repo: Path) -> None:
    """The mark of the creation is missing: a worktree of the person's that stands where the agent's was."""
    agent = _ended(shell, "true")
    worktree = Path(agent["worktree"])
    git(repo, "worktree", "remove", str(worktree))
    git(repo, "worktree", "add", "--quiet", str(worktree), agent["branch"])
    result = shell.orch("rm", "--force", agent["id"])
    assert (result.code, "was not made by orch" in result.stderr) == (7, True)
    assert worktree.is_dir()
    assert git(repo, "rev-parse", agent["branch"])


@pytest.mark.parametrize("branch", ["main", "trunk", "release"])
def test_the_default_branch_stays(shell: Shell, repo: Path, branch: str) -> None:
    if branch == "trunk":
        git(repo, "branch", "trunk")
    if branch == "release":
        git(repo, "branch", "release")
        git(repo, "update-ref", "refs/remotes/origin/release", "HEAD")
        git(repo, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/release")
    agent = _ended(shell, "true")
    _tamper(repo, agent["id"], branch=branch)
    git(repo, "checkout", "--quiet", "--detach")
    result = shell.orch.ok("rm", "--force", agent["id"])
    assert f"the branch {branch} is the default branch and stays" in result.stderr
    assert git(repo, "rev-parse", branch)


def test_a_branch_that_somebody_has_checked_out_stays(shell: Shell, repo: Path) -> None:
    agent = _ended(shell, "git checkout -q --detach", "--branch", "work")
    git(repo, "checkout", "--quiet", "work")
    git(repo, "branch", "-m", "main", "old")
    result = shell.orch.ok("rm", "--force", agent["id"])
    assert "stays" in result.stderr
    assert git(repo, "rev-parse", "work")


def test_a_locked_worktree_stays(shell: Shell, repo: Path) -> None:
    agent = _ended(shell, "true")
    git(repo, "worktree", "lock", agent["worktree"])
    result = shell.orch("rm", "--force", agent["id"])
    assert (result.code, "git worktree unlock" in result.stderr) == (7, True)
    git(repo, "worktree", "unlock", agent["worktree"])
    shell.orch.ok("rm", agent["id"])


def test_a_worktree_with_another_one_in_it_stays(shell: Shell, repo: Path) -> None:
    agent = _ended(shell, "git worktree add -q -b inner inner && echo precious > inner/file")
    result = shell.orch("rm", "--force", agent["id"])
    assert (result.code, "holds the worktree" in result.stderr) == (7, True)
    assert (Path(agent["worktree"]) / "inner" / "file").read_text() == "precious\n"


def test_not_from_inside(shell: Shell, repo: Path) -> None:
    agent = _ended(shell, "mkdir folder; echo a > folder/a")
    result = shell.orch("rm", "--force", agent["id"], cwd=Path(agent["worktree"]) / "folder")
    assert (result.code, "cd out of it first" in result.stderr) == (7, True)
    assert (Path(agent["worktree"]) / "folder" / "a").exists()


def test_a_running_agent_stays(shell: Shell, repo: Path) -> None:
    agent = shell.spawn("sleep 60")
    result = shell.orch("rm", "--force", agent["id"])
    assert (result.code, f"orch stop {agent['id']}" in result.stderr) == (2, True)
    shell.orch.ok("stop", agent["id"])
    shell.orch.ok("rm", agent["id"])


def _work(shell: Shell, repo: Path) -> dict[str, Any]:
    (repo / "list").write_text("".join(f"{number}\n" for number in range(30)))
    git(repo, "add", "list")
    git(repo, "commit", "--quiet", "-m", "A list")
    script = """
    for i in 1 2 3; do sed -i "s/^$i\\$/number $i/" list; echo $i > file$i; git add -A; git commit -qm "Step $i"; done
    """
    return _ended(shell, script, "--branch", "work")


def _move_on(repo: Path) -> None:
    (repo / "list").write_text((repo / "list").read_text().replace("25\n", "twenty-five\n"))
    (repo / "file1").write_text("and changed since\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "Going on")


@pytest.mark.parametrize("way", ["merge", "squash", "rebase"])
@pytest.mark.parametrize("moved", [False, True])
def test_merged_work_is_no_risk(shell: Shell, repo: Path, way: str, moved: bool) -> None:
    agent = _work(shell, repo)
    refused = shell.orch("rm", agent["id"])
    assert (refused.code, "commits that no other branch has" in refused.stderr) == (9, True)
    (repo / "other").write_text("meanwhile\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "Meanwhile")
    if way == "merge":
        git(repo, "merge", "--quiet", "--no-edit", "work")
    elif way == "squash":
        git(repo, "merge", "--quiet", "--squash", "work")
        git(repo, "commit", "--quiet", "-m", "All of it")
    else:
        git(repo, "cherry-pick", "main..work")
    if moved:
        _move_on(repo)
    result = shell.orch.ok("rm", "--json", agent["id"])
    assert json.loads(result.stdout)["removed"][0]["branch_deleted"] is True
    assert git(repo, "branch", "--list", "work") == ""


def test_partly_merged_work_is_a_risk(shell: Shell, repo: Path) -> None:
    agent = _work(shell, repo)
    git(repo, "cherry-pick", "main..work~1")
    refused = shell.orch("rm", agent["id"])
    assert (refused.code, "commits that no other branch has" in refused.stderr) == (9, True)


def test_commits_on_a_pushed_branch_are_no_risk(shell: Shell, repo: Path) -> None:
    agent = _work(shell, repo)
    git(repo, "update-ref", "refs/remotes/origin/work", "work")
    shell.orch.ok("rm", agent["id"])


def test_what_the_teardown_changes_is_seen(shell: Shell, repo: Path, home: Path) -> None:
    (home / ".config" / "orch" / "config.yml").write_text(
        "backends: {sh: {command: [/bin/sh, -c]}}\nworktrees: {teardown: ['echo late > late.txt']}\n"
    )
    agent = _ended(shell, "true")
    (script,) = json.loads(shell.orch.ok("trust", "--json").stdout)["scripts"]
    shell.orch.ok("trust", "--yes", script["hash"])
    refused = shell.orch("rm", agent["id"])
    assert (refused.code, "uncommitted changes" in refused.stderr) == (9, True)
    assert (Path(agent["worktree"]) / "late.txt").exists()
    shell.orch.ok("rm", "--keep", agent["id"])
    assert git(repo, "show", f"refs/orch/kept/{agent['id']}:late.txt") == "late"


def test_a_worktree_that_is_gone_keeps_its_commits(shell: Shell, repo: Path) -> None:
    import shutil

    agent = _ended(shell, "echo a > a; git add a; git commit -qm a", "--branch", "work")
    shutil.rmtree(agent["worktree"])
    refused = shell.orch("rm", agent["id"])
    assert refused.code == 9
    shell.orch.ok("rm", "--keep", agent["id"])
    assert "[work]" not in git(repo, "worktree", "list")
    shell.orch.ok("restore", agent["id"])
    assert (Path(agent["worktree"]) / "a").read_text() == "a\n"
    assert git(repo, "rev-parse", "work")


def test_read_only_folders_are_removed(shell: Shell, repo: Path) -> None:
    """As a Go module cache has them."""
    agent = _ended(shell, "mkdir -p a/b; echo x > a/b/c; chmod 444 a/b/c; chmod 555 a/b a")
    shell.orch.ok("rm", "--keep", agent["id"])
    assert not os.path.lexists(agent["worktree"])
    shell.orch.ok("restore", agent["id"])
    assert (Path(agent["worktree"]) / "a/b/c").read_text() == "x\n"


def test_a_commit_of_a_submodule_that_is_nowhere_else(shell: Shell, repo: Path, tmp_path: Path) -> None:
    source = tmp_path / "library"
    source.mkdir()
    git(source, "init", "--quiet")
    git(source, "commit", "--quiet", "--allow-empty", "-m", "Library")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source), "lib")
    git(repo, "commit", "--quiet", "-m", "Use it")
    inside = "git -C lib -c user.name=x -c user.email=x@x commit -q --allow-empty -m inner"
    agent = _ended(shell, f"{inside}; git add lib; git commit -qm 'Move the library'", "--branch", "work")
    git(repo, "merge", "--quiet", "--no-edit", "work")
    refused = shell.orch("rm", agent["id"])
    assert (refused.code, "commits in lib that are nowhere else" in refused.stderr) == (9, True)
