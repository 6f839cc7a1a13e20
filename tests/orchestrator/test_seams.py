import os
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.backends import own_adapter
from orchestrator.base_entry import load_entry, load_worktree_entry
from orchestrator.config import load_config
from orchestrator.config_schema import OwnBackendKeys, SeamKeys
from orchestrator.errors import SeamProblem
from orchestrator.place import Place
from orchestrator.project import Project, load_project
from orchestrator.seams import (
    SeamPlan,
    change_seam,
    choose_seam,
    hide_files,
    place_block,
    remove_agent_block,
    remove_agent_hygiene,
    write_block_hygiene,
)
from orchestrator.worktree import check_out, create_worktree, git_directory
from projection.block import render_block
from projection.hygiene import leftovers
from tests.conftest import git
from tests.projection.spawned import commit_file, every_object, footprint

CONFIG = load_config(None, {}, {})
TEXT = "# Memory\n\n- Use tabs."
ADAPTER = own_adapter("script", OwnBackendKeys(command=("true",), seam=SeamKeys(file="AGENTS.md")))
OTHER = own_adapter("other", OwnBackendKeys(command=("true",), seam=SeamKeys(file="CRUSH.md")))


@pytest.fixture
def project(repo: Path) -> Project:
    return load_project(repo)


def _place(project: Project, path: Path) -> Place:
    base = project.git().text("rev-parse", "HEAD")
    return Place(branch="agent", path=path, base=base, base_name="HEAD")


def _spawn(project: Project, path: Path, text: str = TEXT) -> SeamPlan:
    place = _place(project, path)
    plan = choose_seam(project, CONFIG, ADAPTER, place, text)
    gitdir = create_worktree(project, place)
    write_block_hygiene(project, "a1", gitdir, plan)
    check_out(project, place)
    place_block(project, place, plan)
    return plan


def _replace(project: Project, worktree: Path, text: str) -> None:
    """What a resume does after the memory has changed."""
    plan = change_seam(project, CONFIG, ADAPTER, "a1", worktree, text, old_file="AGENTS.md")
    assert plan.file == "AGENTS.md"


def _status(worktree: Path) -> str:
    return git(worktree, "status", "--porcelain", "--untracked-files=all")


def test_what_a_commit_holds(project: Project, repo: Path) -> None:
    head = load_entry(project, git(repo, "rev-parse", "HEAD"), "AGENTS.md")
    assert (head.kind, head.content, dict(head.attributes)) == ("absent", b"", {})
    assert head.beside == {"README.md"}
    commit_file(repo, "AGENTS.md", b"# Ours\r\n")
    (repo / "LINK.md").symlink_to("AGENTS.md")
    (repo / "folder.md").mkdir()
    (repo / "folder.md" / "x").touch()
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "x")
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module.md")
    git(repo, "commit", "--quiet", "--message", "y")
    (repo / "AGENTS.md").write_text("not committed")
    found = {name: load_entry(project, "HEAD", name) for name in ("AGENTS.md", "LINK.md", "folder.md", "module.md")}
    assert [entry.kind for entry in found.values()] == ["file", "symlink", "directory", "submodule"]
    assert found["AGENTS.md"].content == b"# Ours\r\n"


@pytest.mark.parametrize(
    ("where", "line", "expected"),
    [
        ("committed", "*.md filter=lfs", {"filter": "lfs"}),
        ("committed", "* -filter", {"filter": "unset"}),
        ("committed", "AGENTS.md !filter", {"filter": "unspecified"}),
        ("committed", "*.md working-tree-encoding=UTF-16", {"working-tree-encoding": "UTF-16"}),
        ("committed", "* text=auto eol=crlf ident", {}),
        ("info", "*.md filter=lfs", {"filter": "lfs"}),
        ("user", "*.md filter=lfs", {"filter": "lfs"}),
        ("user", "* -filter", {}),
        ("user", "*.txt filter=lfs", {}),
    ],
)
def test_attributes_in_the_way_of_the_filter(
    project: Project, repo: Path, home: Path, where: str, line: str, expected: dict[str, str]
) -> None:
    if where == "committed":
        commit_file(repo, ".gitattributes", line.encode())
        (repo / ".gitattributes").unlink()
    else:
        default = home / ".config" / "git" / "attributes"
        path = default if where == "user" else repo / ".git" / "info" / "attributes"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(line + "\n")
    assert load_entry(project, "HEAD", "AGENTS.md").attributes == expected


def test_a_repository_that_carries_the_very_text_is_left_alone(project: Project, repo: Path, tmp_path: Path) -> None:
    commit_file(repo, "AGENTS.md", render_block(TEXT) + b"# Ours\n")
    before = footprint(repo)
    plan = _spawn(project, tmp_path / "wt")
    assert (plan.kind, plan.file) == ("file", None)
    assert "exactly this text" in plan.reason
    assert footprint(repo) == before
    assert (tmp_path / "wt" / "AGENTS.md").read_bytes().count(b"Use tabs") == 1
    place = _place(project, tmp_path / "wt2")
    with pytest.raises(SeamProblem, match="holds a block") as caught:
        choose_seam(project, CONFIG, ADAPTER, place, "Another text.")
    assert "delete the lines" in caught.value.hint


def test_attributes_are_found_in_a_bare_layout(repo: Path, tmp_path: Path) -> None:
    commit_file(repo, ".gitattributes", b"*.md filter=lfs\n")
    git(tmp_path, "clone", "--quiet", "--bare", str(repo), "bare.git")
    project = load_project(tmp_path / "bare.git")
    assert load_entry(project, "HEAD", "AGENTS.md").attributes == {"filter": "lfs"}


def test_what_a_worktree_holds(project: Project, repo: Path) -> None:
    assert load_worktree_entry(project, repo, "AGENTS.md").kind == "absent"
    (repo / "AGENTS.md").write_text("x")
    assert load_worktree_entry(project, repo, "AGENTS.md").content == b"x"
    (repo / "AGENTS.md").chmod(0o444)
    assert not load_worktree_entry(project, repo, "AGENTS.md").writable
    (repo / "link").symlink_to("AGENTS.md")
    os.mkfifo(repo / "pipe")
    (repo / "folder").mkdir()
    kinds = [load_worktree_entry(project, repo, name).kind for name in ("link", "pipe", "folder")]
    assert kinds == ["symlink", "special", "directory"]
    assert "link" in load_worktree_entry(project, repo, "AGENTS.md").beside


@pytest.mark.parametrize("content", [None, b"# Ours\r\n", b"no newline"])
def test_a_block_is_replaced_and_removed_and_git_sees_neither(
    project: Project, repo: Path, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        commit_file(repo, "AGENTS.md", content)
    before = footprint(repo)
    worktree = tmp_path / "wt"
    _spawn(project, worktree)
    file = worktree / "AGENTS.md"
    assert _status(worktree) == ""
    _replace(project, worktree, TEXT + "\n- And more.")
    assert file.read_bytes() == render_block(TEXT + "\n- And more.") + (content or b"")
    assert _status(worktree) == ""
    if content is not None:
        file.unlink()
        git(worktree, "checkout", "--", "AGENTS.md")
        assert b"And more" in file.read_bytes()
    remove_agent_block(project, "a1", worktree, "AGENTS.md")
    assert file.exists() == (content is not None)
    assert content is None or file.read_bytes() == content
    assert _status(worktree) == ""
    assert footprint(repo) == before
    assert b"orch:memory" not in every_object(repo)


def test_the_agents_staged_and_unstaged_edits_stay_what_they_are(project: Project, repo: Path, tmp_path: Path) -> None:
    commit_file(repo, "AGENTS.md", b"# Ours\n")
    worktree = tmp_path / "wt"
    _spawn(project, worktree)
    file = worktree / "AGENTS.md"
    file.write_bytes(file.read_bytes() + b"staged\n")
    git(worktree, "add", "AGENTS.md")
    file.write_bytes(file.read_bytes() + b"unstaged\n")
    _replace(project, worktree, "Other.")
    assert _status(worktree) == "MM AGENTS.md"
    assert git(worktree, "show", ":AGENTS.md") == "# Ours\nstaged"
    remove_agent_block(project, "a1", worktree, "AGENTS.md")
    assert _status(worktree) == "MM AGENTS.md"
    assert file.read_bytes() == b"# Ours\nstaged\nunstaged\n"


def test_a_conflict_stays_one(project: Project, repo: Path, tmp_path: Path) -> None:
    commit_file(repo, "AGENTS.md", b"# Ours\n")
    worktree = tmp_path / "wt"
    _spawn(project, worktree)
    file = worktree / "AGENTS.md"
    file.write_bytes(file.read_bytes() + b"mine\n")
    git(worktree, "commit", "--quiet", "--all", "--message", "x")
    commit_file(repo, "AGENTS.md", b"# Ours\ntheirs\n")
    project.git(worktree).run("merge", "main", check=False)
    _replace(project, worktree, "Other.")
    assert _status(worktree) == "UU AGENTS.md"


def test_a_handoff_takes_the_first_block_away(project: Project, repo: Path, tmp_path: Path) -> None:
    commit_file(repo, "AGENTS.md", b"# Ours\n")
    worktree = tmp_path / "wt"
    _spawn(project, worktree)
    plan = change_seam(project, CONFIG, OTHER, "a1", worktree, TEXT, old_file="AGENTS.md")
    assert (plan.kind, plan.file) == ("file", "CRUSH.md")
    assert (worktree / "AGENTS.md").read_bytes() == b"# Ours\n"
    assert (worktree / "CRUSH.md").read_bytes() == render_block(TEXT)
    assert _status(worktree) == ""
    plan = change_seam(project, CONFIG, ADAPTER, "a1", worktree, TEXT, old_file="CRUSH.md")
    assert (worktree / "AGENTS.md").read_bytes() == render_block(TEXT) + b"# Ours\n"
    assert not (worktree / "CRUSH.md").exists()
    assert _status(worktree) == ""
    (worktree / "AGENTS.md").write_bytes((worktree / "AGENTS.md").read_bytes() + b"more\n")
    git(worktree, "commit", "--quiet", "--all", "--message", "x")
    assert git(worktree, "show", "HEAD:AGENTS.md") == "# Ours\nmore"
    assert leftovers(project.common_dir) == ()


def test_other_hidden_files_stay_hidden(project: Project, repo: Path, tmp_path: Path) -> None:
    before = footprint(repo)
    worktree = tmp_path / "wt"
    _spawn(project, worktree)
    (worktree / "local.json").write_text("{}")
    hide_files(project, "a1", git_directory(project, worktree), ("local.json",))
    assert _status(worktree) == ""
    _replace(project, worktree, "Another text.")
    assert _status(worktree) == ""
    remove_agent_block(project, "a1", worktree, "AGENTS.md")
    assert not (worktree / "AGENTS.md").exists()
    assert _status(worktree) == ""
    assert project.git(worktree).config("filter.orch-memory.clean") is None
    assert change_seam(project, CONFIG, OTHER, "a1", worktree, TEXT).file == "CRUSH.md"
    assert _status(worktree) == ""
    remove_agent_hygiene(project, "a1")
    assert _status(worktree) == "?? CRUSH.md\n?? local.json"
    assert footprint(repo) == before


def test_a_worktree_whose_file_cannot_be_used(project: Project, repo: Path, tmp_path: Path) -> None:
    worktree = tmp_path / "wt"
    create_worktree(project, _place(project, worktree))
    check_out(project, _place(project, worktree))
    (worktree / "AGENTS.md").symlink_to("README.md")
    before = footprint(repo)
    with pytest.raises(SeamProblem, match="symbolic link"):
        change_seam(project, CONFIG, ADAPTER, "a1", worktree, TEXT)
    assert footprint(repo) == before
    launch = replace(ADAPTER, launch_seam=own_adapter("x", _flag()).launch_seam, default_seam="file")
    assert change_seam(project, CONFIG, launch, "a1", worktree, TEXT).kind == "launch"


def _flag() -> OwnBackendKeys:
    return OwnBackendKeys(command=("true",), seam=SeamKeys(flag="--memory"))


def test_a_file_that_a_sparse_checkout_leaves_out(project: Project, repo: Path, tmp_path: Path) -> None:
    commit_file(repo, "AGENTS.md", b"# Ours\n")
    git(repo, "sparse-checkout", "set", "--no-cone", "/README.md")
    worktree = tmp_path / "wt"
    create_worktree(project, _place(project, tmp_path / "plain"))
    check_out(project, _place(project, tmp_path / "plain"))
    assert not (tmp_path / "plain" / "AGENTS.md").exists()
    git(repo, "worktree", "remove", str(tmp_path / "plain"))
    git(repo, "branch", "-D", "agent")
    _spawn(project, worktree)
    assert (worktree / "AGENTS.md").read_bytes() == render_block(TEXT) + b"# Ours\n"
    assert _status(worktree) == ""


def test_a_file_that_a_hook_makes_is_the_persons(project: Project, repo: Path, tmp_path: Path) -> None:
    hook = repo / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho mine > AGENTS.md\n")
    hook.chmod(0o755)
    worktree = tmp_path / "wt"
    _spawn(project, worktree)
    assert (worktree / "AGENTS.md").read_bytes() == render_block(TEXT) + b"mine\n"
    remove_agent_block(project, "a1", worktree, "AGENTS.md")
    assert (worktree / "AGENTS.md").read_bytes() == b"mine\n"


def test_nothing_to_carry_touches_nothing(project: Project, repo: Path, tmp_path: Path) -> None:
    before = footprint(repo)
    assert _spawn(project, tmp_path / "wt", "").kind == "none"
    assert footprint(repo) == before
    assert not (repo / ".git" / "orch").exists()
    remove_agent_hygiene(project, "a1")
    assert not (repo / ".git" / "orch").exists()
