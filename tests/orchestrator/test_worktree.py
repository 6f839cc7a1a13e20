"""Worktrees on real git: every situation that a repository can be in when an agent is spawned in it."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from orchestrator.project import load_project, load_superproject
from tests.conftest import Orch, git
from tests.orchestrator.conftest import Shell


def _commit(repo: Path, name: str, content: str = "x\n", message: str = "Add") -> str:
    (repo / name).parent.mkdir(parents=True, exist_ok=True)
    (repo / name).write_text(content)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", message)
    return git(repo, "rev-parse", "HEAD")


def _clean(worktree: str) -> bool:
    return git(Path(worktree), "status", "--porcelain", "--untracked-files=all") == ""


def _state(repo: Path) -> tuple[str, str]:
    return git(repo, "worktree", "list"), git(repo, "for-each-ref")


# Base and branch


def test_the_base_is_printed(shell: Shell, repo: Path) -> None:
    tip = git(repo, "rev-parse", "HEAD")
    result = shell.orch.ok("spawn", "-b", "sh", "true")
    assert f"from main ({tip[:10]})" in result.stdout


def test_a_base_of_a_remote_is_no_upstream(shell: Shell, repo: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(repo), str(clone))
    git(clone, "config", "branch.autoSetupMerge", "always")
    agent = shell.spawn("true", "--branch", "new", "--base", "origin/main", cwd=clone)
    assert agent["base_name"] == "origin/main"
    config = subprocess.run(["git", "config", "--get-regexp", r"^branch\.new\."], cwd=clone, capture_output=True)
    assert config.stdout == b""


def test_a_base_behind_its_upstream_is_told(shell: Shell, repo: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(repo), str(clone))
    assert "behind" not in shell.orch.ok("spawn", "-b", "sh", "true", cwd=clone).stderr
    tip = _commit(repo, "new")
    git(clone, "fetch", "--quiet")
    result = shell.orch.ok("spawn", "-b", "sh", "true", cwd=clone)
    assert "the base is 1 commit behind origin/main; --base origin/main" in result.stderr
    agent = shell.spawn("true", "--base", "origin/main", cwd=clone)
    assert agent["base"] == tip


def test_detached_head(shell: Shell, repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    _commit(repo, "second")
    git(repo, "checkout", "--quiet", "--detach", first)
    agent = shell.spawn("true")
    assert (agent["base"], agent["base_name"]) == (first, "HEAD")


def test_an_agent_that_detaches_its_head(shell: Shell, repo: Path) -> None:
    agent = shell.spawn("git checkout --quiet --detach && git commit --allow-empty -q -m x && git rev-parse HEAD")
    shell.ended(agent["id"])
    shell.orch.ok("ls")
    shell.orch.ok("show", agent["id"])
    tip = git(Path(agent["worktree"]), "rev-parse", "HEAD")
    refused = shell.orch("rm", agent["id"])
    assert refused.code == 9, refused.stderr
    shell.orch.ok("rm", "--keep", agent["id"])
    assert git(repo, "rev-parse", f"refs/orch/kept/{agent['id']}^1") == tip


def test_an_unborn_branch_beside_others_asks_for_a_base(shell: Shell, repo: Path) -> None:
    git(repo, "checkout", "--quiet", "--orphan", "fresh")
    result = shell.orch("spawn", "-b", "sh", "true")
    assert (result.code, "HEAD is on fresh" in result.stderr, "--base main" in result.stderr) == (2, True, True)


@pytest.mark.parametrize(
    ("existing", "wanted", "said"),
    [
        ("feat", "feat/x", "the branch feat leaves no room for feat/x"),
        ("feat/x", "feat", "the branch feat/x leaves no room for feat"),
        ("Feat", "feat", "differs from Feat only by case"),
        ("Feat/x", "feat/y", "differs from Feat/x only by case"),
        ("a/Feat", "a/feat/y", "differs from a/Feat only by case"),
        ("caf\u00e9", "cafe\u0301", "differs from"),
        ("x", "x", "the branch x exists already"),
        ("x", "a..b", "no valid branch name"),
        ("x", "-x", "no valid branch name"),
    ],
)
def test_a_branch_in_the_way(shell: Shell, repo: Path, existing: str, wanted: str, said: str) -> None:
    git(repo, "config", "core.precomposeUnicode", "false")
    git(repo, "branch", existing)
    before = _state(repo)
    result = shell.orch("spawn", "-b", "sh", f"--branch={wanted}", "true")
    assert result.code in (2, 7)
    assert said in result.stderr
    assert "hint: " in result.stderr
    assert _state(repo) == before


@pytest.mark.parametrize("name", ["orch", "Orch", "ORCH/x"])
def test_a_branch_that_leaves_no_room_for_ours(shell: Shell, repo: Path, name: str) -> None:
    git(repo, "branch", name)
    assert shell.spawn("true")["branch"].startswith("orch-true-")


def test_the_case_of_a_branch_is_never_changed(shell: Shell, repo: Path) -> None:
    agent = shell.spawn("true", "--branch", "Feature/ABC-12")
    assert agent["branch"] == "Feature/ABC-12"
    assert git(Path(agent["worktree"]), "symbolic-ref", "HEAD") == "refs/heads/Feature/ABC-12"


def test_two_branches_that_would_share_a_folder(shell: Shell) -> None:
    first = shell.spawn("true", "--branch", "feat/x")
    second = shell.spawn("true", "--branch", "feat-x")
    assert first["worktree"].endswith("/feat-x")
    assert second["worktree"] == f"{first['worktree']}-{second['id']}"


def test_a_branch_name_longer_than_a_file_name_may_be(shell: Shell) -> None:
    agent = shell.spawn("true", "--branch", "/".join(["ä" * 60] * 4))
    assert len(os.fsencode(Path(agent["worktree"]).name)) < 120
    assert _clean(agent["worktree"])


# Hooks


def _hook(repo: Path, text: str) -> None:
    path = repo / ".git" / "hooks" / "post-checkout"
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def test_the_post_checkout_hook_runs_as_worktree_add_runs_it(shell: Shell, repo: Path, tmp_path: Path) -> None:
    text = f'pwd >> {tmp_path}/hook; echo "$@" >> {tmp_path}/hook; git rev-parse --show-toplevel >> {tmp_path}/hook\n'
    _hook(repo, text)
    git(repo, "worktree", "add", "--quiet", str(tmp_path / "plain"))
    by_git = (tmp_path / "hook").read_text().replace(str(tmp_path / "plain"), "W")
    (tmp_path / "hook").unlink()
    agent = shell.spawn("true")
    assert (tmp_path / "hook").read_text().replace(agent["worktree"], "W") == by_git
    assert by_git.count("W") == 2


def test_a_failing_hook_is_told_and_tolerated(shell: Shell, repo: Path) -> None:
    _hook(repo, "echo no database >&2; exit 3\n")
    result = shell.orch.ok("spawn", "-b", "sh", "--wait", "test -f README.md")
    assert "the post-checkout hook failed with exit code 3: no database" in result.stderr


def test_a_hook_that_leaves_a_process_behind_is_not_waited_for(shell: Shell, repo: Path) -> None:
    _hook(repo, "echo hi >&2; sleep 200 &\n")
    shell.orch.ok("spawn", "-b", "sh", "true", timeout=90)


def test_a_hook_in_a_folder_of_its_own(shell: Shell, repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "core.hooksPath", ".hooks")
    _commit(repo, ".hooks/post-checkout", f"#!/bin/sh\npwd > {tmp_path}/hook\n")
    (repo / ".hooks" / "post-checkout").chmod(0o755)
    git(repo, "commit", "--quiet", "--all", "--message", "Mode")
    agent = shell.spawn("true")
    assert (tmp_path / "hook").read_text().strip() == agent["worktree"]


# Layouts


def test_a_bare_repository(shell: Shell, repo: Path, tmp_path: Path) -> None:
    bare = tmp_path / "project.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(repo), str(bare))
    agent = shell.spawn("git add -A; git commit -q --allow-empty -m x", cwd=bare)
    assert Path(agent["worktree"]).parent == tmp_path / "project.worktrees"
    assert _clean(agent["worktree"])
    shell.orch.ok("wait", agent["id"], cwd=bare)
    shell.orch.ok("ls", cwd=Path(agent["worktree"]))


@pytest.mark.parametrize("marked", [True, False])
def test_a_hidden_bare_layout(shell: Shell, repo: Path, tmp_path: Path, marked: bool) -> None:
    top = tmp_path / "layout"
    top.mkdir()
    git(top, "clone", "--quiet", "--bare", str(repo), ".bare")
    (top / ".git").write_text("gitdir: ./.bare\n")
    if not marked:
        git(top / ".bare", "config", "--unset", "core.bare")
    git(top, "worktree", "add", "--quiet", "-b", "work", "main")
    for place in (top / "main", top, top / ".bare"):
        project = load_project(place)
        assert (project.common_dir, project.main) == (top / ".bare", None), place
    _commit(top / "main", "second")
    agent = shell.spawn("true", cwd=top / "main")
    assert Path(agent["worktree"]).parent == top
    assert agent["base"] == git(top / "main", "rev-parse", "HEAD")
    assert _clean(agent["worktree"])


def test_a_git_directory_elsewhere(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    git(tmp_path, "init", "--quiet", "--separate-git-dir", str(tmp_path / "store.git"), str(folder))
    _commit(folder, "a")
    project = load_project(folder)
    assert (project.common_dir, project.main) == (tmp_path / "store.git", folder)
    agent = shell.spawn("true", cwd=folder)
    assert Path(agent["worktree"]).parent == tmp_path / "work.worktrees"
    assert _clean(agent["worktree"])


def test_from_a_linked_worktree_and_a_subdirectory(shell: Shell, repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "linked"))
    tip = _commit(tmp_path / "linked", "sub/file")
    agent = shell.spawn("true", cwd=tmp_path / "linked" / "sub")
    assert (agent["base"], agent["base_name"]) == (tip, "other")
    assert Path(agent["worktree"]).parent == tmp_path / "repo.worktrees"
    # And from the worktree of an agent.
    inner = shell.spawn("true", cwd=Path(agent["worktree"]))
    assert inner["base_name"] == agent["branch"]
    assert Path(inner["worktree"]).parent == tmp_path / "repo.worktrees"


def test_inside_the_git_directory(shell: Shell, repo: Path) -> None:
    agent = shell.spawn("true", cwd=repo / ".git")
    assert agent["base"] == git(repo, "rev-parse", "HEAD")


@pytest.fixture
def submodule(tmp_path: Path, home: Path) -> Path:
    """A superproject with a submodule `libs/sub`, which has a submodule of its own."""
    git(tmp_path, "config", "--global", "protocol.file.allow", "always")
    for name in ("inner", "sub", "super"):
        git(tmp_path, "init", "--quiet", name)
        _commit(tmp_path / name, f"{name}.txt")
    git(tmp_path / "sub", "submodule", "--quiet", "add", str(tmp_path / "inner"), "inner")
    git(tmp_path / "sub", "commit", "--quiet", "--message", "Inner")
    git(tmp_path / "super", "submodule", "--quiet", "add", str(tmp_path / "sub"), "libs/sub")
    git(tmp_path / "super", "submodule", "--quiet", "update", "--init", "--recursive")
    git(tmp_path / "super", "commit", "--quiet", "--message", "Sub")
    return tmp_path / "super"


def test_inside_a_submodule(shell: Shell, submodule: Path) -> None:
    inside = submodule / "libs" / "sub"
    before = git(submodule, "status", "--porcelain")
    result = shell.orch.ok("spawn", "-b", "sh", "true", cwd=inside)
    assert f"{inside} is a submodule of {submodule}" in result.stderr
    project = load_project(inside)
    assert (project.main, load_superproject(project)) == (inside, submodule)
    (row,) = shell.orch.ok("ls", "--json", cwd=inside).stdout.split('"worktree": ')[1:]
    worktree = Path(row.split('"')[1])
    assert worktree.parent == submodule.parent / "super.sub.worktrees"
    assert load_project(worktree).main == inside
    assert git(submodule, "status", "--porcelain") == before


def test_inside_a_submodule_with_a_git_directory_of_its_own(shell: Shell, tmp_path: Path) -> None:
    for name in ("super", "super/sub"):
        git(tmp_path, "init", "--quiet", name)
        _commit(tmp_path / name, "a")
    git(tmp_path / "super", "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    git(tmp_path / "super", "commit", "--quiet", "--message", "Sub")
    agent = shell.spawn("true", cwd=tmp_path / "super" / "sub")
    assert Path(agent["worktree"]).parent == tmp_path / "super.sub.worktrees"
    assert _clean(str(tmp_path / "super"))


# Content


def test_submodules_are_filled_without_the_network(shell: Shell, submodule: Path, tmp_path: Path) -> None:
    config = (submodule / ".git" / "config").read_bytes()
    for name in ("sub", "inner"):
        # Only what the main checkout has is left.
        shutil.move(tmp_path / name, tmp_path / f"{name}-gone")
    agent = shell.spawn("cat libs/sub/sub.txt libs/sub/inner/inner.txt", cwd=submodule)
    assert shell.orch("wait", agent["id"], cwd=submodule).code == 0
    worktree = Path(agent["worktree"])
    assert (worktree / "libs/sub/inner/inner.txt").read_text() == "x\n"
    assert _clean(agent["worktree"])
    assert git(worktree / "libs/sub", "remote", "get-url", "origin") == str(tmp_path / "sub")
    assert (submodule / ".git" / "config").read_bytes() == config
    # A commit in it stays in it.
    _commit(worktree / "libs/sub", "more")
    assert git(submodule / "libs/sub", "status", "--porcelain") == ""


def test_a_submodule_that_cannot_be_filled_is_told(shell: Shell, submodule: Path, tmp_path: Path) -> None:
    git(submodule, "submodule", "--quiet", "deinit", "--force", "libs/sub")
    shutil.rmtree(submodule / ".git" / "modules")
    result = shell.orch.ok("spawn", "-b", "sh", "true", cwd=submodule)
    assert "libs/sub" in result.stderr
    assert "git submodule update --init" in result.stderr


_LFS_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"


@pytest.mark.parametrize("required", [None, "false", "true"])
def test_pointers_of_git_lfs_are_told(shell: Shell, repo: Path, required: str | None) -> None:
    for name in ("a.bin", "folder/ä b.bin"):
        _commit(repo, name, _LFS_POINTER)
    _commit(repo, "plain.txt")
    _commit(repo, ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    if required is not None:
        for key, value in (("process", "no-such-lfs filter-process"), ("smudge", "no-such-lfs smudge -- %f")):
            git(repo, "config", f"filter.lfs.{key}", value)
        git(repo, "config", "filter.lfs.required", required)
    result = shell.orch.ok("spawn", "-b", "sh", "--wait", "test -s a.bin && test -s plain.txt")
    assert "a.bin, folder/ä b.bin are git-lfs pointers" in result.stderr
    if required != "false":  # then git goes on by itself, or fails, by whether the filter ends before it is written to
        assert ("git-lfs failed" in result.stderr) == (required == "true")


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
def test_a_sparse_checkout_is_inherited(shell: Shell, repo: Path, cone: str) -> None:
    for name in ("in/a", "out/b"):
        _commit(repo, name)
    git(repo, "sparse-checkout", "set", cone, "in")
    agent = shell.spawn("true")
    worktree = Path(agent["worktree"])
    assert ((worktree / "in/a").exists(), (worktree / "out").exists()) == (True, False)
    assert _clean(agent["worktree"])


def test_names_that_are_no_text(shell: Shell, home: Path, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b'/re po-\xc3\xa9-\xff\'s "dir"'))
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes only names that are text")
    git(folder, "init", "--quiet")
    strange = os.fsdecode(b"\xff\xfe name\twith\nall.txt")
    _commit(folder, strange)
    agent = shell.spawn(
        f'{sys.executable} -c \'import os; open(os.listdir(b".")[0], "a").write("more")\' || true; pwd', cwd=folder
    )
    orch = Orch(folder)
    orch("wait", agent["id"])
    orch.ok("ls")
    orch.ok("show", agent["id"])
    orch.ok("diff", agent["id"])
    assert b"\xff" in orch.ok("logs", "--raw", agent["id"]).raw
    orch.ok("rm", "--keep", agent["id"])
    assert not Path(agent["worktree"]).exists()


def test_file_names_are_kept(shell: Shell, repo: Path) -> None:
    name = os.fsdecode(b"\xff\xfe name\twith\nall \xe2\x82\xac.txt")
    try:
        _commit(repo, name)
    except OSError:
        pytest.skip("this file system takes only names that are text")
    agent = shell.spawn('for each in *.txt; do echo more >> "$each"; done; cp *.txt new; sleep 0.2')
    shell.ended(agent["id"])
    assert (Path(agent["worktree"]) / name).read_text() == "x\nmore\n"
    assert b"name\\twith\\nall" in shell.orch.ok("diff", agent["id"]).raw


# What is in the way


def test_another_program_that_holds_a_ref_for_a_moment_is_waited_for(shell: Shell, repo: Path) -> None:
    lock = repo / ".git" / "refs" / "heads" / "new.lock"
    lock.touch()
    timer = threading.Timer(1.0, lock.unlink)
    timer.start()
    agent = shell.spawn("true", "--branch", "new")
    timer.join()
    assert _clean(agent["worktree"])
    lock.with_name("second.lock").touch()
    before = _state(repo)
    refused = shell.orch("spawn", "-b", "sh", "--branch", "second", "true")
    assert (refused.code, "git worktree add failed" in refused.stderr) == (7, True)
    assert _state(repo) == before


def test_a_path_in_the_way(shell: Shell, repo: Path) -> None:
    path = repo.parent / "repo.worktrees" / "new"
    path.mkdir(parents=True)
    before = _state(repo)
    result = shell.orch("spawn", "-b", "sh", "--branch", "new", "true")
    assert result.code == 7
    assert f"{path} is in the way: it exists, without a registration or a branch of that name" in result.stderr
    assert _state(repo) == before
    assert path.is_dir()


@pytest.mark.parametrize("locked", [False, True])
def test_a_stale_registration(shell: Shell, repo: Path, locked: bool) -> None:
    sibling = shell.spawn("true", "--branch", "sibling")
    agent = shell.spawn("true", "--branch", "new")
    if locked:
        git(repo, "worktree", "lock", agent["worktree"])
    shutil.rmtree(agent["worktree"])
    result = shell.orch("spawn", "-b", "sh", "--branch", "new", "true")
    assert (
        f"the branch new exists already, and git still lists a worktree of it at {agent['worktree']}" in result.stderr
    )
    git(repo, "update-ref", "-d", "refs/heads/new")
    result = shell.orch("spawn", "-b", "sh", "--branch", "new", "true")
    assert result.code == 7
    assert "but the directory is gone" in result.stderr
    hint = next(line for line in result.stderr.splitlines() if "git worktree remove" in line)
    command = "git worktree remove" + hint.rpartition("git worktree remove")[2]
    subprocess.run(["/bin/sh", "-c", command], cwd=repo, check=True)
    shell.spawn("true", "--branch", "new")
    assert Path(sibling["worktree"]).is_dir()
    assert sibling["worktree"] in git(repo, "worktree", "list")


def test_a_directory_whose_registration_is_gone(shell: Shell, repo: Path) -> None:
    agent = shell.spawn("true", "--branch", "new")
    shutil.rmtree(repo / ".git" / "worktrees" / "new")
    git(repo, "update-ref", "-d", "refs/heads/new")
    result = shell.orch("spawn", "-b", "sh", "--branch", "new", "true")
    assert "it was a worktree, but git does not list it any more" in result.stderr
    assert Path(agent["worktree"]).is_dir()


def test_a_branch_that_is_checked_out(shell: Shell, repo: Path) -> None:
    result = shell.orch("spawn", "-b", "sh", "--branch", "main", "true")
    assert f"the branch main exists already and is checked out at {repo}" in result.stderr


def test_a_folder_inside_the_main_checkout(shell: Shell, repo: Path) -> None:
    inside = {"ORCH_WORKTREES_DIR": str(repo / "trees")}
    refused = shell.orch("spawn", "-b", "sh", "true", environ=inside)
    assert refused.code == 7
    assert "would be untracked files" in refused.stderr
    assert git(repo, "status", "--porcelain") == ""
    _commit(repo, ".gitignore", "/trees/\n")
    result = shell.orch.ok("spawn", "-b", "sh", "true", environ=inside)
    assert "read context files of parent folders" in result.stderr
    assert git(repo, "status", "--porcelain") == ""
    in_git = shell.orch("spawn", "-b", "sh", "true", environ={"ORCH_WORKTREES_DIR": str(repo / ".git" / "trees")})
    assert (in_git.code, "into the git directory" in in_git.stderr) == (7, True)


def test_a_folder_behind_a_symbolic_link(shell: Shell, repo: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    agent = shell.spawn("true", environ={"ORCH_WORKTREES_DIR": str(tmp_path / "link" / "trees")})
    assert Path(agent["worktree"]).parent == tmp_path / "real" / "trees"
    shell.ended(agent["id"])
    shell.orch.ok("rm", agent["id"])
    assert not Path(agent["worktree"]).exists()


def test_a_repository_behind_a_symbolic_link(shell: Shell, repo: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("repo")
    agent = shell.spawn("true", cwd=tmp_path / "link")
    assert Path(agent["worktree"]).parent == tmp_path / "repo.worktrees"
    shell.ended(agent["id"])
    shell.orch.ok("rm", agent["id"], cwd=tmp_path / "link")


def test_a_deleted_current_directory(shell: Shell, repo: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"rmdir {gone}; exec {sys.executable} -I -m orchestrator ls"
    done = subprocess.run(["/bin/sh", "-c", script], cwd=gone, capture_output=True, text=True)
    assert (done.returncode, "the current directory has been deleted" in done.stderr) == (4, True), done.stderr


# Rights. Root may write everywhere, so that right is taken away where the tests run as root.


def _limited(repo: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-m", "orchestrator", *args]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and there is no setpriv to take that away")
        command = ["setpriv", "--bounding-set", "-dac_override", *command]
    return subprocess.run(command, cwd=repo, capture_output=True, text=True, timeout=60, check=False)


def test_a_read_only_main_checkout(shell: Shell, repo: Path) -> None:
    (repo / "README.md").chmod(0o444)
    repo.chmod(0o555)
    done = _limited(repo, "spawn", "-b", "sh", "--wait", "echo x >> README.md")
    repo.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert (repo / "README.md").read_text() == "# A small project\n"


def test_a_read_only_parent(shell: Shell, repo: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    before = _state(repo)
    done = _limited(repo, "spawn", "-b", "sh", "true")
    tmp_path.chmod(0o755)
    assert done.returncode == 7, done.stderr
    assert "cannot make the folder" in done.stderr
    assert "set worktrees.dir" in done.stderr
    assert _state(repo) == before


def test_a_read_only_git_directory(shell: Shell, repo: Path) -> None:
    (repo / ".git").chmod(0o555)
    done = _limited(repo, "spawn", "-b", "sh", "true")
    (repo / ".git").chmod(0o755)
    assert done.returncode == 4, done.stderr
    assert "cannot write into" in done.stderr
