"""`orch rm` then `orch restore`: every byte and mode is back, the index as it was, and the repository as it was."""

import os
import sys
from pathlib import Path

import pytest

from tests.conftest import git
from tests.orchestrator.conftest import Shell
from tests.orchestrator.snapshots import load_git, load_index, load_tree

_MEMORY = "# Project memory\n\n## Do not repeat\n- Never edit generated files.\n"


def _submodule(tmp_path: Path, repo: Path) -> None:
    source = tmp_path / "library"
    source.mkdir()
    git(source, "init", "--quiet")
    (source / "lib.c").write_text("int a;\n")
    (source / "old.c").write_text("int old;\n")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "-m", "Library")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source), "lib")
    git(repo, "commit", "--quiet", "-m", "Use the library")


def _round_trip(shell: Shell, agent_id: str, worktree: Path) -> None:
    """Remove with --keep, restore, and compare all of it."""
    before = (load_tree(worktree), load_index(worktree), load_git(worktree))
    refs = git(shell.orch.cwd, "for-each-ref", "refs/heads")
    shell.orch.ok("rm", "--keep", agent_id)
    assert not os.path.lexists(worktree)
    assert str(worktree) not in git(shell.orch.cwd, "worktree", "list")
    shell.orch.ok("restore", agent_id)
    after = (load_tree(worktree), load_index(worktree), load_git(worktree))
    assert after[0] == before[0]
    assert after[1] == before[1]
    assert after[2] == before[2]
    assert git(shell.orch.cwd, "for-each-ref", "refs/heads") == refs
    git(shell.orch.cwd, "fsck", "--strict", "--no-dangling")


_EVERYTHING = r"""
set -e
echo committed > committed.txt; git add committed.txt; git commit -qm 'A commit'
echo staged > staged.txt; printf 'bin\0\377\r\nary' > staged.bin; git add staged.txt staged.bin
echo staged first > both.txt; git add both.txt; echo then unstaged >> both.txt
echo changed >> README.md
rm gone.txt; git rm -q --cached cached.txt; git mv old-name.txt new-name.txt
chmod +x mode.txt; chmod 600 private.txt
rm link; ln -s elsewhere link
rm -r folder; echo 'now a file' > folder
rm plain; mkdir plain; echo in > plain/in.txt
mkdir -p deep/er; echo untracked > deep/er/untracked.txt; chmod 755 deep/er/untracked.txt
ln -s ../nowhere deep/dangling
printf 'a\0b' > 'new
line'; echo q > '"quoted" $name `x`'; echo t > '	tab '
: > empty
echo later > later.txt; git add -N later.txt
echo SECRET=1 > .env; mkdir -p cache; echo c > cache/listed; echo no > cache/other
printf 'one\r\ntwo\r\n' > crlf.txt; git add crlf.txt
git update-index --assume-unchanged assumed.txt; echo hidden change > assumed.txt
git update-index --skip-worktree skipped.txt; echo hidden too > skipped.txt
cd lib; echo 'int b;' >> lib.c; echo 'int c;' > new.c; git add new.c; echo 'int d;' >> new.c; rm old.c
git -c user.name=x -c user.email=x@x commit -qm 'In the submodule' lib.c; echo u > untracked.c; cd ..
git init -q inner; cd inner; echo i > i.txt; git add i.txt
git -c user.name=x -c user.email=x@x commit -qm Inner; echo more > more.txt; cd ..
git init -q unborn; echo u > unborn/u.txt; git -C unborn add u.txt
"""


def _prepare(repo: Path, tmp_path: Path) -> None:
    (repo / ".gitignore").write_text(".env\ncache/\n")
    (repo / ".gitattributes").write_text("crlf.txt text eol=lf\n")
    (repo / ".worktreeinclude").write_text(".env\ncache/listed\n")
    for name in ("gone", "cached", "old-name", "mode", "private", "assumed", "skipped", "both"):
        (repo / f"{name}.txt").write_text(f"{name}\n" * 20)
    (repo / "link").symlink_to("README.md")
    (repo / "folder").mkdir()
    (repo / "folder" / "file").write_text("in a folder\n")
    (repo / "plain").write_text("a plain file\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "Files")
    _submodule(tmp_path, repo)


def test_everything_comes_back(shell: Shell, repo: Path, tmp_path: Path) -> None:
    _prepare(repo, tmp_path)
    odd = f'{sys.executable} -c \'open(b"\\xff\\xfe.bin", "wb").write(bytes(range(256)))\'\n'
    agent = shell.spawn(_EVERYTHING + odd)
    worktree = Path(agent["worktree"])
    assert shell.ended(agent["id"])["outcome"] == "completed", shell.output(agent["id"])
    refused = shell.orch("rm", agent["id"])
    assert refused.code == 9
    assert "uncommitted changes" in refused.stderr
    assert f"orch rm --keep {agent['id']}" in refused.stderr
    (worktree / "cache" / "other").unlink()  # ignored and not listed: not kept
    inside = {name: (load_index(worktree / name)) for name in ("lib", "unborn", "inner")}
    log = git(worktree / "lib", "log", "--oneline")
    _round_trip(shell, agent["id"], worktree)
    assert {name: (load_index(worktree / name)) for name in ("lib", "unborn", "inner")} == inside
    assert git(worktree / "lib", "log", "--oneline") == log
    assert (worktree / "crlf.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert (worktree / ".env").read_text() == "SECRET=1\n"
    # And once more, from what was restored.
    _round_trip(shell, agent["id"], worktree)


_CONFLICT = """
echo theirs > README.md; git commit -qam theirs; git checkout -q -b other HEAD~1
echo ours > README.md; git commit -qam ours; {operation} || true; echo resolved half > README.md
"""


@pytest.mark.parametrize(
    "operation", ["git merge {branch}", "git rebase {branch}", "git cherry-pick {branch}", "git bisect start"]
)
def test_an_operation_in_progress_comes_back(shell: Shell, repo: Path, operation: str) -> None:
    agent = shell.spawn(_CONFLICT.format(operation=operation.format(branch="work")), "--branch", "work")
    shell.ended(agent["id"])
    worktree = Path(agent["worktree"])
    refused = shell.orch("rm", agent["id"])
    assert refused.code == 9
    assert "in progress" in refused.stderr
    _round_trip(shell, agent["id"], worktree)
    if "rebase" in operation:
        git(worktree, "add", "README.md")
        git(worktree, "-c", "core.editor=true", "rebase", "--continue")
        assert git(worktree, "log", "-1", "--format=%s") == "ours"


def test_commits_that_only_the_reflog_has_come_back(shell: Shell, repo: Path) -> None:
    script = "echo a > a; git add a; git commit -qm lost; git rev-parse HEAD; git reset -q --hard HEAD~1; touch b"
    agent = shell.spawn(script)
    shell.ended(agent["id"])
    lost = shell.output(agent["id"]).decode().split()[0]
    shell.orch.ok("rm", "--keep", agent["id"])
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "--quiet", "--prune=now")
    assert git(repo, "cat-file", "-t", lost) == "commit"
    shell.orch.ok("restore", agent["id"])
    assert git(Path(agent["worktree"]), "show", f"{lost}:a") == "a"


def test_it_survives_a_collection_of_garbage(shell: Shell, repo: Path, tmp_path: Path) -> None:
    _prepare(repo, tmp_path)
    agent = shell.spawn(_EVERYTHING)
    shell.ended(agent["id"])
    worktree = Path(agent["worktree"])
    (worktree / "cache" / "other").unlink()
    before = (load_tree(worktree), load_index(worktree))
    shell.orch.ok("rm", "--force", agent["id"])
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "--quiet", "--prune=now")
    shell.orch.ok("restore", agent["id"])
    assert (load_tree(worktree), load_index(worktree)) == before


def test_the_memory_block_is_in_no_kept_object(shell: Shell, repo: Path, home: Path) -> None:
    (home / ".config" / "orch" / "config.yml").write_text(
        "backends: {sh: {command: [/bin/sh, -c], seam: {file: AGENTS.md}}}\n"
    )
    (repo / ".orch").mkdir()
    (repo / ".orch" / "memory.md").write_text(_MEMORY)
    (repo / "AGENTS.md").write_text("The person's own text\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "Memory")
    script = "echo more >> AGENTS.md; cp AGENTS.md COPY.md; git add COPY.md; cp AGENTS.md deep.md; cat AGENTS.md"
    agent = shell.spawn(script)
    shell.ended(agent["id"])
    assert b"orch:memory begin" in shell.output(agent["id"])
    shell.orch.ok("rm", "--keep", agent["id"])
    objects = git(repo, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)").splitlines()
    for line in objects:
        name, kind = line.split()
        if kind == "blob":
            assert "orch:memory begin" not in git(repo, "cat-file", "blob", name)
    shell.orch.ok("restore", agent["id"])
    worktree = Path(agent["worktree"])
    for name in ("AGENTS.md", "COPY.md", "deep.md"):
        assert (worktree / name).read_text() == "The person's own text\nmore\n"


def test_a_context_file_that_was_committed_is_clean_when_it_is_back_without_its_block(
    shell: Shell, repo: Path, home: Path
) -> None:
    (home / ".config" / "orch" / "config.yml").write_text(
        "backends: {sh: {command: [/bin/sh, -c], seam: {file: AGENTS.md}}}\n"
    )
    (repo / ".orch").mkdir()
    (repo / ".orch" / "memory.md").write_text(_MEMORY)
    (repo / "AGENTS.md").write_text("The person's own text\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "Memory")
    committed = shell.spawn("echo more >> AGENTS.md; git commit -qam more; touch left")
    changed = shell.spawn("echo more >> AGENTS.md; touch left")
    for agent, status in ((committed, "?? left"), (changed, " M AGENTS.md\n?? left")):
        shell.ended(agent["id"])
        worktree = Path(agent["worktree"])
        assert git(worktree, "status", "--porcelain").strip("\n") == status
        shell.orch.ok("rm", "--keep", agent["id"])
        shell.orch.ok("restore", agent["id"])
        assert git(worktree, "status", "--porcelain").strip("\n") == status
        assert (worktree / "AGENTS.md").read_text() == "The person's own text\nmore\n"


def test_logs_and_diff_after_the_removal(shell: Shell, repo: Path) -> None:
    agent = shell.spawn("echo said; echo work > work.txt")
    shell.ended(agent["id"])
    shell.orch.ok("rm", "--keep", agent["id"])
    assert shell.output(agent["id"]) == b"said\n"
    assert "+work" in shell.orch.ok("diff", agent["id"]).stdout
    assert shell.show(agent["id"])["status"] == "removed"
    again = shell.orch("rm", agent["id"])
    assert (again.code, "removed already" in again.stderr) == (2, True)


def test_a_removed_agent_without_work_is_restored_too(shell: Shell, repo: Path) -> None:
    agent = shell.spawn("true")
    shell.ended(agent["id"])
    config = (repo / ".git" / "config").read_bytes()
    shell.orch.ok("rm", agent["id"])
    assert agent["branch"] not in git(repo, "branch", "--list", "--format=%(refname:short)")
    shell.orch.ok("restore", agent["id"])
    assert git(Path(agent["worktree"]), "status", "--porcelain") == ""
    assert git(Path(agent["worktree"]), "branch", "--show-current") == agent["branch"]
    assert (repo / ".git" / "config").read_bytes() == config
    shell.orch.ok("rm", agent["id"])


def test_restore_says_what_is_in_the_way(shell: Shell, repo: Path, tmp_path: Path) -> None:
    agent = shell.spawn("echo a > a; git add a; git commit -qm a; echo b > b")
    shell.ended(agent["id"])
    worktree = Path(agent["worktree"])
    early = shell.orch("restore", agent["id"])
    assert (early.code, "is not removed" in early.stderr) == (2, True)
    shell.orch.ok("rm", "--keep", agent["id"])
    worktree.mkdir(parents=True)
    (worktree / "mine").write_text("a person's file\n")
    refused = shell.orch("restore", agent["id"])
    assert (refused.code, f"orch restore {agent['id']} --path" in refused.stderr) == (7, True)
    assert (worktree / "mine").read_text() == "a person's file\n"
    # The name of the branch is taken by another one meanwhile: HEAD is restored detached, and nothing is overwritten.
    git(repo, "branch", agent["branch"])
    shell.orch.ok("restore", agent["id"], "--path", str(tmp_path / "elsewhere"))
    assert (tmp_path / "elsewhere" / "b").read_text() == "b\n"
    assert git(tmp_path / "elsewhere", "show", "HEAD:a") == "a"
    assert git(repo, "rev-parse", agent["branch"]) == git(repo, "rev-parse", "main")
    shell.orch.ok("rm", "--keep", agent["id"])
    assert not (tmp_path / "elsewhere").exists()


def test_a_submodule_is_connected_at_another_place(shell: Shell, repo: Path, tmp_path: Path) -> None:
    _submodule(tmp_path, repo)
    agent = shell.spawn(
        "echo x >> lib/lib.c; git -C lib -c user.name=x -c user.email=x@x commit -qam x; echo y > lib/y"
    )
    shell.ended(agent["id"])
    commits = git(Path(agent["worktree"]) / "lib", "rev-parse", "HEAD")
    shell.orch.ok("rm", "--keep", agent["id"])
    shell.orch.ok("restore", agent["id"], "--path", str(tmp_path / "some" / "where" / "else"))
    lib = tmp_path / "some" / "where" / "else" / "lib"
    assert git(lib, "rev-parse", "HEAD") == commits
    assert git(lib, "status", "--porcelain") == "?? y"
    assert git(lib.parent, "status", "--porcelain") == " M lib"


def test_a_file_that_cannot_be_read_stops_the_removal(shell: Shell, repo: Path) -> None:
    agent = shell.spawn("echo a > secret; chmod 000 secret; mkdir shut; echo b > shut/b; chmod 000 shut/b")
    shell.ended(agent["id"])
    if os.geteuid() == 0:
        shell.orch.ok("rm", "--keep", agent["id"])
        shell.orch.ok("restore", agent["id"])
        assert (Path(agent["worktree"]) / "secret").stat().st_mode & 0o777 == 0
        return
    refused = shell.orch("rm", "--keep", agent["id"])
    assert (refused.code, "cannot be kept" in refused.stderr) == (9, True)
    assert (Path(agent["worktree"]) / "shut").is_dir()


def test_a_kept_ref_that_leads_out_of_the_worktree_is_refused(shell: Shell, repo: Path, tmp_path: Path) -> None:
    """An agent can write refs: it must not get orch to write elsewhere."""
    agent = shell.spawn("echo a > a")
    shell.ended(agent["id"])
    shell.orch.ok("rm", "--keep", agent["id"])
    ref = f"refs/orch/kept/{agent['id']}"
    text = git(repo, "show", f"{ref}^2:manifest.json").replace('"a"', '"../../outside"')
    (tmp_path / "manifest").write_text(text)
    blob = git(repo, "hash-object", "-w", str(tmp_path / "manifest"))
    files = git(repo, "rev-parse", f"{ref}^2:files")
    (tmp_path / "tree").write_text(f"100644 blob {blob}\tmanifest.json\n040000 tree {files}\tfiles\n")
    import subprocess

    tree = subprocess.run(
        ["git", "mktree"], input=(tmp_path / "tree").read_bytes(), cwd=repo, capture_output=True, check=True
    ).stdout.decode()
    second = git(repo, "commit-tree", "-m", "x", tree.strip())
    first = git(repo, "rev-parse", f"{ref}^1")
    git(repo, "update-ref", ref, git(repo, "commit-tree", "-m", "x", "-p", first, "-p", second, f"{ref}^{{tree}}"))
    refused = shell.orch("restore", agent["id"])
    assert (refused.code, "leads out of the worktree" in refused.stderr) == (1, True)
    assert not Path(agent["worktree"]).exists()
