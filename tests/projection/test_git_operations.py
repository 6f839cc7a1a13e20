"""Whatever an agent does with git: the block stays in its working file, and gets into no object."""

import io
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from projection.filter import BOM
from tests.conftest import git
from tests.projection.spawned import BLOCK, Spawned, commit_file, every_object, spawn

LINES = [b"# Ours", b"", *(b"line %d" % number for number in range(12)), b"the end"]
STYLES: dict[str, tuple[bytes, bytes, bytes]] = {  # byte order mark, line ending, final line ending
    "lf": (b"", b"\n", b"\n"),
    "no final newline": (b"", b"\n", b""),
    "crlf, bom, no final newline": (BOM, b"\r\n", b""),
}


class Scene:
    """A repository whose AGENTS.md is in some style, and an agent in it."""

    def __init__(self, repo: Path, worktree: Path, style: tuple[bytes, bytes, bytes]) -> None:
        self.style = style
        self.repo = repo
        commit_file(repo, "AGENTS.md", self.text(LINES))
        self.agent = spawn(repo, worktree)

    def text(self, lines: list[bytes]) -> bytes:
        bom, ending, final = self.style
        return bom + ending.join(lines) + final

    def with_block(self, lines: list[bytes]) -> bytes:
        return self.style[0] + BLOCK + self.text(lines).removeprefix(self.style[0])

    def edit(self, change: Callable[[list[bytes]], list[bytes]]) -> list[bytes]:
        """Edit the agent's file as an editor would, below the block; return the new lines of the person's."""
        bom, ending, final = self.style
        body = self.agent.file.read_bytes().removeprefix(bom).removeprefix(BLOCK)
        lines = change(body.removesuffix(final).split(ending))
        self.agent.file.write_bytes(self.with_block(lines))
        return lines

    def upstream(self, lines: list[bytes], message: str = "Upstream") -> None:
        (self.repo / "AGENTS.md").write_bytes(self.text(lines))
        git(self.repo, "commit", "--quiet", "--all", "--message", message)

    def check(self, lines: list[bytes], *, clean: bool = True) -> None:
        """The working file holds the block and these lines; no object of the repository holds a marker."""
        assert self.agent.file.read_bytes() == self.with_block(lines)
        if clean:
            assert self.agent.status() == ""
            assert self.agent.committed() == self.text(lines)
        assert b"orch:memory" not in every_object(self.repo)


@pytest.fixture(params=list(STYLES.values()), ids=list(STYLES))
def scene(request: pytest.FixtureRequest, repo: Path, tmp_path: Path) -> Scene:
    return Scene(repo, tmp_path / "wt", request.param)


def _last(word: bytes) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: [*lines[:-1], word]


def _first(word: bytes) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: [word, *lines[1:]]


def _commit(scene: Scene, message: str = "Edit") -> None:
    scene.agent.git("add", "--all")
    scene.agent.git("commit", "--quiet", "--message", message)


def _fails(scene: Scene, *args: str) -> None:
    done = subprocess.run(["git", *args], cwd=scene.agent.worktree, capture_output=True, check=False)
    assert done.returncode != 0, done.stdout


def test_commit(scene: Scene) -> None:
    lines = scene.edit(_last(b"edited"))
    diff = scene.agent.git("diff")
    assert "edited" in diff
    assert "orch:memory" not in diff
    scene.agent.git("commit", "--quiet", "--all", "--message", "x")
    scene.check(lines)


def test_add_by_pieces(scene: Scene) -> None:
    lines = scene.edit(lambda lines: [b"top", *lines, b"bottom"])
    answers = b"y\nn\n"
    subprocess.run(["git", "add", "--patch"], cwd=scene.agent.worktree, input=answers, capture_output=True, check=True)
    scene.agent.git("commit", "--quiet", "--message", "half")
    scene.check(lines, clean=False)
    _commit(scene)
    scene.check(lines)


def test_amend(scene: Scene) -> None:
    scene.edit(_last(b"edited"))
    _commit(scene)
    lines = scene.edit(_last(b"again"))
    scene.agent.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    scene.check(lines)


def test_merge_of_an_upstream_change(scene: Scene) -> None:
    scene.edit(_last(b"edited"))
    _commit(scene)
    scene.upstream([b"theirs", *LINES[1:]])
    scene.agent.git("merge", "--quiet", "--no-edit", "main")
    scene.check([b"theirs", *LINES[1:-1], b"edited"])


def test_a_fast_forward(scene: Scene) -> None:
    scene.upstream([b"theirs", *LINES[1:]])
    scene.agent.git("merge", "--quiet", "--ff-only", "main")
    scene.check([b"theirs", *LINES[1:]])


@pytest.mark.parametrize("side", ["ours", "theirs", "resolved", "abort"])
def test_merge_with_a_conflict(scene: Scene, side: str) -> None:
    mine = scene.edit(_last(b"mine"))
    _commit(scene)
    theirs = [*LINES[:-1], b"theirs"]
    scene.upstream(theirs)
    _fails(scene, "merge", "main")
    assert scene.agent.file.read_bytes().startswith(scene.style[0] + BLOCK)
    assert b"<<<<<<<" in scene.agent.file.read_bytes()
    assert "orch:memory" not in scene.agent.git("diff")
    if side == "abort":
        scene.agent.git("merge", "--abort")
        scene.check(mine)
        return
    if side == "resolved":
        wanted = [*LINES[:-1], b"mine and theirs"]
        scene.agent.file.write_bytes(scene.with_block(wanted))
    else:
        wanted = mine if side == "ours" else theirs
        scene.agent.git("checkout", f"--{side}", "--", "AGENTS.md")
    scene.agent.git("add", "AGENTS.md")
    scene.agent.git("commit", "--quiet", "--no-edit")
    scene.check(wanted)


def test_stash_and_pop(scene: Scene) -> None:
    lines = scene.edit(_last(b"edited"))
    scene.agent.git("stash", "--quiet")
    scene.check(LINES)
    assert scene.agent.committed("stash@{0}") == scene.text(lines)
    scene.agent.git("stash", "pop", "--quiet")
    scene.check(lines, clean=False)


def test_stash_of_everything_and_apply_to_another_commit(scene: Scene) -> None:
    scene.edit(_last(b"edited"))
    (scene.agent.worktree / "new").write_text("x")
    scene.agent.git("stash", "--quiet", "--all")
    scene.check(LINES)
    scene.upstream([b"theirs", *LINES[1:]])
    scene.agent.git("merge", "--quiet", "--ff-only", "main")
    scene.agent.git("stash", "apply", "--quiet")
    scene.check([b"theirs", *LINES[1:-1], b"edited"], clean=False)


def test_checkout_of_the_file(scene: Scene) -> None:
    scene.edit(_last(b"edited"))
    scene.agent.git("checkout", "--", "AGENTS.md")
    scene.check(LINES)
    scene.edit(_last(b"edited"))
    scene.agent.git("restore", "AGENTS.md")
    scene.check(LINES)
    scene.agent.file.unlink()
    scene.agent.git("checkout", "HEAD", "--", "AGENTS.md")
    scene.check(LINES)


def test_reset_and_switch(scene: Scene) -> None:
    lines = scene.edit(_last(b"edited"))
    _commit(scene)
    scene.agent.git("reset", "--quiet", "--hard", "HEAD~")
    scene.check(LINES)
    scene.agent.git("switch", "--quiet", "--detach", "HEAD@{1}")
    scene.check(lines)
    scene.agent.git("reset", "--quiet", "--soft", "HEAD~")
    scene.check(lines, clean=False)
    scene.agent.git("reset", "--quiet", "--mixed", "HEAD")
    scene.check(lines, clean=False)
    assert scene.agent.status() == " M AGENTS.md"


def test_rebase(scene: Scene) -> None:
    scene.edit(_last(b"edited"))
    _commit(scene, "one")
    scene.edit(_last(b"edited twice"))
    _commit(scene, "two")
    scene.upstream([b"theirs", *LINES[1:]])
    scene.agent.git("rebase", "--quiet", "main")
    scene.check([b"theirs", *LINES[1:-1], b"edited twice"])


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
def test_rebase_with_a_conflict(scene: Scene, backend: str) -> None:
    scene.edit(_last(b"mine"))
    _commit(scene)
    scene.upstream([*LINES[:-1], b"theirs"])
    _fails(scene, "rebase", backend, "main")
    assert scene.agent.file.read_bytes().startswith(scene.style[0] + BLOCK)
    wanted = [*LINES[:-1], b"both"]
    scene.agent.file.write_bytes(scene.with_block(wanted))
    scene.agent.git("add", "--all")
    scene.agent.git("-c", "core.editor=true", "rebase", "--continue")
    scene.check(wanted)


def test_rebase_with_changes_put_aside(scene: Scene) -> None:
    scene.upstream([b"theirs", *LINES[1:]])
    scene.edit(_last(b"edited"))
    scene.agent.git("rebase", "--quiet", "--autostash", "main")
    scene.check([b"theirs", *LINES[1:-1], b"edited"], clean=False)


def test_cherry_pick_and_revert(scene: Scene) -> None:
    scene.upstream([b"theirs", *LINES[1:]], "one")
    scene.upstream([b"theirs", *LINES[1:-1], b"two"], "two")
    scene.agent.git("cherry-pick", "main~")
    scene.check([b"theirs", *LINES[1:]])
    scene.agent.git("cherry-pick", "main")
    scene.check([b"theirs", *LINES[1:-1], b"two"])
    scene.agent.git("revert", "--no-edit", "HEAD~")
    scene.check([*LINES[:-1], b"two"])


def test_patches(scene: Scene) -> None:
    lines = scene.edit(_first(b"edited"))
    _commit(scene)
    argv = ["git", "format-patch", "--stdout", "-1"]
    patch = subprocess.run(argv, cwd=scene.agent.worktree, capture_output=True, check=True).stdout
    assert b"orch:memory" not in patch
    scene.agent.git("reset", "--quiet", "--hard", "HEAD~")
    apply = ["git", "am", "--quiet", "--keep-cr", "-3"]
    subprocess.run(apply, cwd=scene.agent.worktree, input=patch, capture_output=True, check=True)
    scene.check(lines)
    scene.agent.git("reset", "--quiet", "--hard", "HEAD~")
    for option in ([], ["--index"]):
        subprocess.run(
            ["git", "apply", *option], cwd=scene.agent.worktree, input=patch, capture_output=True, check=True
        )
        scene.check(lines, clean=False)
        scene.agent.git("reset", "--quiet", "--hard")


def test_diff_and_blame_and_others_speak_of_the_persons_lines(scene: Scene) -> None:
    scene.edit(_last(b"edited"))
    for command in (["diff", "HEAD"], ["diff", "--stat"], ["blame", "AGENTS.md"], ["stash", "create"], ["diff-files"]):
        assert "orch:memory" not in scene.agent.git(*command)
    assert "1 insertion(+), 1 deletion(-)" in scene.agent.git("diff", "--stat")


def test_a_worktree_that_moves(scene: Scene, tmp_path: Path) -> None:
    scene.edit(_last(b"edited"))
    git(scene.repo, "worktree", "move", str(scene.agent.worktree), str(tmp_path / "moved"))
    git(tmp_path / "moved", "commit", "--quiet", "--all", "--message", "x")
    assert git(tmp_path / "moved", "status", "--porcelain") == ""
    assert b"orch:memory" not in every_object(scene.repo)


def test_an_interactive_rebase_that_squashes(scene: Scene) -> None:
    scene.edit(_last(b"one"))
    _commit(scene, "one")
    lines = scene.edit(_last(b"two"))
    scene.agent.git("commit", "--quiet", "--all", "--message", "fixup! one")
    scene.agent.git("-c", "sequence.editor=true", "rebase", "--quiet", "-i", "--autosquash", "HEAD~2")
    scene.check(lines)
    assert scene.agent.git("rev-list", "--count", "main..HEAD") == "1"


def test_removed_and_made_again(scene: Scene) -> None:
    scene.agent.git("rm", "--quiet", "AGENTS.md")
    scene.agent.git("commit", "--quiet", "--message", "gone")
    assert not scene.agent.file.exists()
    scene.agent.file.write_bytes(scene.text([b"new"]))
    _commit(scene)
    assert scene.agent.committed() == scene.text([b"new"])
    scene.agent.git("checkout", "--quiet", "HEAD~2", "--", "AGENTS.md")
    scene.check(LINES, clean=False)


@pytest.mark.parametrize("target", ["docs/AGENTS.md", "CLAUDE.md", "docs/notes.md"])
def test_moved_or_copied_elsewhere(scene: Scene, target: str) -> None:
    (scene.agent.worktree / "docs").mkdir()
    scene.agent.git("mv", "AGENTS.md", target)
    scene.agent.git("commit", "--quiet", "--all", "--message", "moved")
    (scene.agent.worktree / "copy.md").write_bytes(scene.with_block(LINES))
    scene.agent.git("add", "--all")
    scene.agent.git("commit", "--quiet", "--message", "copied")
    assert scene.agent.status() == ""
    assert b"orch:memory" not in every_object(scene.repo)


def test_many_documents_are_looked_at_by_one_process(repo: Path, tmp_path: Path) -> None:
    for number in range(200):
        (repo / f"{number}.md").write_text(f"{number}\n" * number)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Documents")
    agent = spawn(repo, tmp_path / "wt")
    # As if each were of the second of the checkout, in which git can't trust a time stamp.
    for number in range(200):
        os.utime(agent.worktree / f"{number}.md")
    trace = {**os.environ, "GIT_TRACE": "1"}
    argv = ["git", "status", "--porcelain"]
    done = subprocess.run(argv, cwd=agent.worktree, env=trace, capture_output=True, check=True)
    assert done.stdout == b""
    assert done.stderr.count(b"run_command: 'if [ -x") == 1


def _agent_with_attributes(repo: Path, worktree: Path, attributes: str, content: bytes) -> Spawned:
    commit_file(repo, ".gitattributes", attributes.encode())
    (repo / "AGENTS.md").write_bytes(content)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Add AGENTS.md")
    return spawn(repo, worktree)


@pytest.mark.parametrize(
    "attributes", ["* text=auto\n", "* text eol=crlf\n", "*.md text eol=lf ident\n", "*.md -text\n"]
)
@pytest.mark.parametrize("autocrlf", ["true", "input", "false"])
@pytest.mark.parametrize("safecrlf", ["true", "false"])
def test_line_ending_conversion_by_git(
    repo: Path, tmp_path: Path, home: Path, attributes: str, autocrlf: str, safecrlf: str
) -> None:
    git(repo, "config", "--global", "core.autocrlf", autocrlf)
    agent = _agent_with_attributes(repo, tmp_path / "wt", attributes, b"# Ours $Id$\n\nline\n")
    git(repo, "config", "--global", "core.safecrlf", safecrlf)
    assert agent.file.read_bytes().startswith(BLOCK)
    assert agent.status() == ""
    before = agent.committed()
    agent.file.write_bytes(agent.file.read_bytes().replace(b"line", b"edited"))
    agent.git("commit", "--quiet", "--all", "--message", "x")
    assert agent.committed() == before.replace(b"line", b"edited")
    assert agent.status() == ""
    agent.git("checkout", "--quiet", "HEAD~")
    agent.git("checkout", "--quiet", "-")
    assert agent.status() == ""
    assert b"orch:memory" not in every_object(repo)


def test_a_whole_file_turned_to_crlf_by_an_editor(repo: Path, tmp_path: Path) -> None:
    scene = Scene(repo, tmp_path / "wt", STYLES["lf"])
    scene.agent.file.write_bytes(scene.agent.file.read_bytes().replace(b"\n", b"\r\n"))
    scene.agent.git("commit", "--quiet", "--all", "--message", "x")
    assert scene.agent.committed() == scene.text(LINES).replace(b"\n", b"\r\n")
    assert b"orch:memory" not in every_object(repo)
    assert scene.agent.status() == ""


def test_upstream_adds_the_file_that_was_absent(repo: Path, tmp_path: Path) -> None:
    agent = spawn(repo, tmp_path / "wt")
    commit_file(repo, "AGENTS.md", b"# Theirs\n")
    agent.git("merge", "--quiet", "main")
    assert agent.file.read_bytes() == BLOCK + b"# Theirs\n"
    assert agent.status() == ""
    agent.file.write_bytes(agent.file.read_bytes() + b"mine\n")
    agent.git("commit", "--quiet", "--all", "--message", "x")
    assert agent.committed() == b"# Theirs\nmine\n"
    agent.git("checkout", "--quiet", "HEAD~2")
    assert b"orch:memory" not in every_object(repo)


def test_an_absent_file_is_in_no_stash_and_no_clean(repo: Path, tmp_path: Path) -> None:
    agent = spawn(repo, tmp_path / "wt")
    (agent.worktree / "new").write_text("x")
    agent.git("stash", "--quiet", "--include-untracked")
    assert agent.file.read_bytes() == BLOCK
    agent.git("stash", "pop", "--quiet")
    agent.git("clean", "-fdq")
    assert agent.file.read_bytes() == BLOCK
    agent.git("stash", "--quiet", "--all")
    assert b"orch:memory" not in every_object(repo)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the calling git is known by /proc only")
def test_an_archive_holds_what_the_commit_holds(repo: Path, tmp_path: Path) -> None:
    scene = Scene(repo, tmp_path / "wt", STYLES["lf"])
    for where, options in ((scene.agent.worktree, []), (repo, []), (repo, ["-C", str(scene.agent.worktree)])):
        argv = ["git", *options, "archive", "--format=tar", "HEAD"]
        data = subprocess.run(argv, cwd=where, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            member = archive.extractfile("AGENTS.md")
            assert member is not None
            assert member.read() == scene.text(LINES)
