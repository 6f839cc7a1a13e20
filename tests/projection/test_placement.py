import os
import stat
from pathlib import Path

import pytest

from projection.block import render_block
from projection.faults import BlockFault, PlacementFault
from projection.filter import BOM
from projection.placement import own_content, remove_block, write_block
from tests.projection.spawned import BLOCK

NEW = render_block("# Project memory\n\n- Other.")
CONTENTS = {
    "empty": b"",
    "plain": b"# Ours\n",
    "crlf": b"# Ours\r\nline\r\n",
    "bom": BOM + b"# Ours\n",
    "no final newline": b"# Ours\nline",
    "40 KB": b"A line of the person's own.\n" * 1500,
    "latin-1": "höher\n".encode("latin-1"),
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600])
def test_written_refreshed_and_removed_byte_for_byte(tmp_path: Path, content: bytes, mode: int) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_bytes(content)
    file.chmod(mode)
    assert write_block(tmp_path, "AGENTS.md", BLOCK).changed
    assert BLOCK in file.read_bytes()
    again = write_block(tmp_path, "AGENTS.md", BLOCK)
    assert (again.made, again.changed) == (False, False)
    assert write_block(tmp_path, "AGENTS.md", NEW).changed
    assert file.read_bytes().count(b"orch:memory begin") == 1
    assert NEW in file.read_bytes()
    assert remove_block(tmp_path, "AGENTS.md", made=False).changed
    assert file.read_bytes() == content
    assert not remove_block(tmp_path, "AGENTS.md", made=False).changed
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["AGENTS.md"]


def test_a_file_that_orch_made_goes_unless_something_is_in_it(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    assert write_block(tmp_path, "AGENTS.md", BLOCK).made
    assert file.stat().st_mode & 0o111 == 0
    assert not own_content(file, BLOCK)
    remove_block(tmp_path, "AGENTS.md", made=True)
    assert not file.exists()
    remove_block(tmp_path, "AGENTS.md", made=True)
    write_block(tmp_path, "AGENTS.md", BLOCK)
    file.write_bytes(file.read_bytes() + b"mine")
    assert own_content(file, BLOCK)
    remove_block(tmp_path, "AGENTS.md", made=True)
    assert file.read_bytes() == b"mine"


def test_an_empty_file_of_the_persons_stays(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    file.touch()
    write_block(tmp_path, "AGENTS.md", BLOCK)
    remove_block(tmp_path, "AGENTS.md", made=False)
    assert file.read_bytes() == b""


def test_a_damaged_block_is_refused_by_a_write_and_found_by_a_removal(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_bytes(BLOCK.replace(b"<!-- orch:memory end -->\n", b"") + b"mine\n")
    with pytest.raises(BlockFault):
        write_block(tmp_path, "AGENTS.md", NEW)
    remove_block(tmp_path, "AGENTS.md", made=False, old=BLOCK)
    assert file.read_bytes() == b"mine\n"


@pytest.mark.parametrize("where", ["inside", "outside", "dangling"])
def test_no_symbolic_link_is_followed(tmp_path: Path, where: str) -> None:
    worktree = tmp_path / "wt"
    worktree.mkdir()
    target = {"inside": worktree / "CLAUDE.md", "outside": tmp_path / "x", "dangling": tmp_path / "none"}[where]
    if where != "dangling":
        target.write_bytes(b"theirs\n")
    (worktree / "AGENTS.md").symlink_to(target)
    for act in (_write, _remove):
        with pytest.raises(PlacementFault, match="symbolic link"):
            act(worktree, "AGENTS.md")
    assert (worktree / "AGENTS.md").is_symlink()
    assert target.exists() == (where != "dangling")
    assert where == "dangling" or target.read_bytes() == b"theirs\n"
    assert own_content(worktree / "AGENTS.md", BLOCK)


def _write(worktree: Path, name: str) -> None:
    write_block(worktree, name, BLOCK)


def _remove(worktree: Path, name: str) -> None:
    remove_block(worktree, name, made=True)


def test_nothing_but_a_plain_file_is_touched(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "locked").write_bytes(BLOCK + b"mine\n")
    (tmp_path / "locked").chmod(0o444)
    for act in (_write, _remove):
        for name, says in (("directory", "a directory"), ("pipe", "a special file")):
            with pytest.raises(PlacementFault, match=says):
                act(tmp_path, name)
    with pytest.raises(PlacementFault, match="read-only") as caught:
        _remove(tmp_path, "locked")
    assert "chmod" in caught.value.hint
    assert (tmp_path / "locked").read_bytes() == BLOCK + b"mine\n"


@pytest.mark.parametrize("name", [".git", ".GIT", ".git/config", "../x", "a/b", "", ".", "..", "git~1", ".git."])
def test_nothing_below_git_and_nothing_outside_is_written(tmp_path: Path, name: str) -> None:
    (tmp_path / ".git").write_text("gitdir: /x\n")
    for act in (_write, _remove):
        with pytest.raises(PlacementFault):
            act(tmp_path, name)
    assert [path.name for path in tmp_path.iterdir()] == [".git"]


def test_a_worktree_that_is_gone_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(PlacementFault, match="cannot open the worktree"):
        write_block(tmp_path / "none", "AGENTS.md", BLOCK)
    assert not own_content(tmp_path / "none" / "AGENTS.md")


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_bytes(b"mine\n")

    def full(*_args: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(PlacementFault, match="No space left"):
        write_block(tmp_path, "AGENTS.md", BLOCK)
    assert file.read_bytes() == b"mine\n"
    assert [path.name for path in tmp_path.iterdir()] == ["AGENTS.md"]
