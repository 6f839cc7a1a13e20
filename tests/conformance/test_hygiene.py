"""The file seam through the real `orch spawn`: what git shows of it, in every state that a repository can be in."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from projection.block import render_block
from projection.filter import BOM
from tests.conformance.scripted import commit_memory, processes, surroundings, write_backends
from tests.conftest import Orch, git
from tests.projection.spawned import commit_file, every_object

pytestmark = [pytest.mark.slow]

FILES = ("AGENTS.md", "CRUSH.md", ".goosehints", "GEMINI.md")

# What the agent does: it keeps what it finds, edits the file, and commits all that git shows it.
EDIT = """
cp "$F" "$OUT/seen"
git status --porcelain --untracked-files=all > "$OUT/status"
git diff HEAD > "$OUT/diff"
printf 'line of the agent\\n' >> "$F"
while [ -z "$(git status --porcelain)" ]; do sleep 0.1; done
git add -A
git commit -q -m Edit
git status --porcelain > "$OUT/status-after"
cp "$F" "$OUT/after"
"""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A repository with a committed memory and one scripted backend for each context file."""

    repo: Path
    orch: Orch
    out: Path

    @property
    def text(self) -> str:
        return self.orch.ok("memory").stdout

    def spawn(self, name: str, script: str, *options: str) -> dict[str, object]:
        """Run the script as an agent, to its end; return its record."""
        task = f"F={name}; OUT={self.out}\n{script}"
        result = self.orch("spawn", "--backend", _backend(name), "--wait", "--json", *options, task)
        assert result.code == 0, result.stdout + result.stderr
        agent = json.loads(result.stdout)["agent"]
        assert isinstance(agent, dict)
        return agent

    def seen(self, name: str) -> bytes:
        """A file that the agent left for us."""
        return (self.out / name).read_bytes()

    def committed(self, agent: dict[str, object], name: str) -> bytes:
        """The bytes of a file on the agent's branch."""
        argv = ["git", "cat-file", "blob", f"{agent['branch']}:{name}"]
        return subprocess.run(argv, cwd=self.repo, capture_output=True, check=True).stdout

    def remove(self, agent: dict[str, object]) -> None:
        self.orch.ok("rm", "--keep", str(agent["id"]))
        git(self.repo, "update-ref", "-d", f"refs/orch/kept/{agent['id']}")


def _backend(name: str) -> str:
    return "own-" + name.strip(".").split(".")[0].lower()


@pytest.fixture
def stage(repo: Path, home: Path, tmp_path: Path, orch: Orch) -> Stage:
    write_backends(home, {_backend(name): {"file": name} for name in FILES})
    commit_memory(repo)
    out = tmp_path / "out"
    out.mkdir()
    return Stage(repo=repo, orch=orch, out=out)


def _absent(_repo: Path, _name: str) -> None:
    return


def _untracked(repo: Path, name: str) -> None:
    (repo / name).write_bytes(b"# Mine, not committed\n")


def _ignored(repo: Path, name: str) -> None:
    commit_file(repo, ".gitignore", f"{name}\n".encode())
    (repo / name).write_bytes(b"# Mine, ignored\n")


def _tracked(content: bytes) -> Callable[[Path, str], None]:
    def prepare(repo: Path, name: str) -> None:
        commit_file(repo, name, content)

    return prepare


def _read_only(repo: Path, name: str) -> None:
    commit_file(repo, name, b"# Ours\n")
    (repo / name).chmod(0o444)


USABLE: dict[str, tuple[Callable[[Path, str], None], bytes | None]] = {
    "absent": (_absent, None),
    "untracked": (_untracked, None),
    "ignored": (_ignored, None),
    "tracked": (_tracked(b"# Ours\n\nUse tabs.\n"), b"# Ours\n\nUse tabs.\n"),
    "read-only": (_read_only, b"# Ours\n"),
    "40 KB": (_tracked(b"A line of the person's own.\n" * 1500), b"A line of the person's own.\n" * 1500),
    "crlf": (_tracked(b"# Ours\r\nUse tabs.\r\n"), b"# Ours\r\nUse tabs.\r\n"),
    "bom": (_tracked(BOM + b"# Ours\n"), BOM + b"# Ours\n"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("state", USABLE)
def test_the_block_is_in_the_file_and_nowhere_else(stage: Stage, name: str, state: str) -> None:
    prepare, content = USABLE[state]
    prepare(stage.repo, name)
    mine = (stage.repo / name).read_bytes() if (stage.repo / name).exists() else None
    before = surroundings(stage.repo)
    # An ignored file is never shown by git, so the agent has to force it.
    script = EDIT.replace('while [ -z "$(git status --porcelain)" ]; do sleep 0.1; done', 'git add -f "$F"')
    agent = stage.spawn(name, script if state == "ignored" else EDIT)

    assert (agent["seam"], agent["seam_file"]) == ("file", name)
    bom = BOM if content is not None and content.startswith(BOM) else b""
    block = render_block(stage.text)
    body = (content or b"").removeprefix(bom)
    assert stage.seen("seen") == bom + block + body
    assert stage.seen("status") == b""
    assert stage.seen("diff") == b""
    assert stage.seen("status-after") == b""
    assert stage.seen("after") == bom + block + body + b"line of the agent\n"
    assert stage.committed(agent, name) == bom + body + b"line of the agent\n"
    assert b"orch:memory" not in every_object(stage.repo)
    assert mine is None or (stage.repo / name).read_bytes() == mine

    stage.remove(agent)
    assert surroundings(stage.repo) == before
    assert processes(stage.repo) == []


def _link_inside(repo: Path, name: str) -> None:
    (repo / "CONTEXT.md").write_text("# Ours\n")
    (repo / name).symlink_to("CONTEXT.md")


def _link_outside(repo: Path, name: str) -> None:
    (repo.parent / "outside.md").write_text("# Elsewhere\n")
    (repo / name).symlink_to("../outside.md")


def _directory(repo: Path, name: str) -> None:
    (repo / name).mkdir()
    (repo / name / "x").touch()


def _block_of_ours(repo: Path, name: str) -> None:
    (repo / name).write_bytes(render_block("# Old memory") + b"# Ours\n")


def _other_filter(repo: Path, name: str) -> None:
    (repo / ".gitattributes").write_text("* -filter\n")
    (repo / name).write_bytes(b"# Ours\n")


UNUSABLE = {
    "symlink inside": (_link_inside, "symbolic link"),
    "symlink outside": (_link_outside, "symbolic link"),
    "directory": (_directory, "a directory"),
    "block": (_block_of_ours, "holds a block of orch's memory already"),
    "filter": (_other_filter, "filter"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("state", UNUSABLE)
def test_what_cannot_be_used_is_refused_in_one_line_and_nothing_is_touched(stage: Stage, name: str, state: str) -> None:
    prepare, says = UNUSABLE[state]
    prepare(stage.repo, name)
    git(stage.repo, "add", "--all")
    git(stage.repo, "commit", "--quiet", "--message", "x")
    before = surroundings(stage.repo)
    for options in ([], ["--seam", "file"]):
        result = stage.orch("spawn", "--backend", _backend(name), *options, "true")
        assert result.code == 8
        message, hint = result.stderr.strip().splitlines()
        assert says in message
        assert name in message
        assert hint.strip().startswith("hint: ")
    assert surroundings(stage.repo) == before
    agent = stage.spawn(name, "test ! -e .x", "--no-memory")
    assert agent["seam"] == "none"
    stage.remove(agent)
    assert surroundings(stage.repo) == before


def test_a_context_file_that_is_brought_along_gets_the_block_on_top(stage: Stage) -> None:
    commit_file(stage.repo, ".gitignore", b"AGENTS.md\n")
    commit_file(stage.repo, ".worktreeinclude", b"AGENTS.md\n")
    (stage.repo / "AGENTS.md").write_bytes(b"# Mine, ignored\n")
    before = surroundings(stage.repo)
    agent = stage.spawn("AGENTS.md", 'cp AGENTS.md "$OUT/seen"; git status --porcelain > "$OUT/status"')
    assert stage.seen("seen") == render_block(stage.text) + b"# Mine, ignored\n"
    assert stage.seen("status") == b""
    stage.remove(agent)
    assert surroundings(stage.repo) == before


FALLS_BACK: dict[str, tuple[Callable[[Path, str], None], str]] = {
    "symlink inside": (_link_inside, "a symbolic link"),
    "symlink outside": (_link_outside, "a symbolic link"),
    "directory": (_directory, "a directory"),
    "filter": (_other_filter, "filter"),
    "40 KB": (_tracked(b"A line of the person's own.\n" * 1500), "only 32768 are read"),
}


@pytest.mark.parametrize("state", FALLS_BACK)
def test_a_backend_with_two_seams_falls_back_to_the_other_and_says_so(stage: Stage, state: str) -> None:
    prepare, says = FALLS_BACK[state]
    prepare(stage.repo, "AGENTS.md")
    git(stage.repo, "add", "--all")
    git(stage.repo, "commit", "--quiet", "--allow-empty", "--message", "x")
    program = stage.out / "codex"
    program.write_text('#!/bin/sh\ngit status --porcelain > "$(dirname "$0")/status"\nprintf "%s" "$*" > "$0.argv"\n')
    program.chmod(0o755)
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "orch" / "config.yml"
    config.write_text(json.dumps({"backends": {"codex": {"executable": str(program)}}}))
    before = surroundings(stage.repo)
    stage.orch("spawn", "--backend", "codex", "--wait", "A task.")
    agent = json.loads(stage.orch.ok("ls", "--json").stdout)["agents"][0]
    assert (agent["seam"], agent["seam_file"]) == ("launch", None)
    assert says in agent["seam_reason"]
    assert says in stage.orch.ok("show", agent["id"]).stdout
    assert stage.seen("status") == b""
    assert "developer_instructions" in (stage.out / "codex.argv").read_text()
    refused = stage.orch("spawn", "--backend", "codex", "--seam", "file", "A task.")
    assert refused.code == 8
    assert says in refused.stderr
    assert "projection.seam: launch" in refused.stderr
    stage.remove(agent)
    assert surroundings(stage.repo) == before


def test_the_main_checkout_is_as_usual_while_an_agent_runs(stage: Stage) -> None:
    before = git(stage.repo, "config", "--list").splitlines()
    wait = 'touch "$OUT/up"; for i in $(seq 600); do test -e "$OUT/go" && break; sleep 0.1; done'
    started = stage.orch.ok("spawn", "--backend", _backend("AGENTS.md"), "--json", f"OUT={stage.out}\n{wait}")
    agent = json.loads(started.stdout)["agent"]
    until = time.monotonic() + 20
    while not (stage.out / "up").exists() and time.monotonic() < until:
        time.sleep(0.05)
    (stage.repo / "AGENTS.md").write_text("# Mine\n")
    assert git(stage.repo, "status", "--porcelain") == "?? AGENTS.md"
    git(stage.repo, "add", "AGENTS.md")
    git(stage.repo, "commit", "--quiet", "--message", "Mine")
    assert git(stage.repo, "show", "HEAD:AGENTS.md") == "# Mine"
    entry = "includeif.gitdir:**/worktrees/*.path=orch/gitconfig"
    assert git(stage.repo, "config", "--list").splitlines() == [*before, entry]
    (stage.out / "go").touch()
    stage.orch.ok("wait", agent["id"])
    assert (Path(agent["worktree"]) / "AGENTS.md").read_bytes() == render_block(stage.text)
    stage.remove(agent)


UPSTREAM = """
git status --porcelain > "$OUT/status"
printf 'agent\\n' >> AGENTS.md
git commit -q -a -m Edit
git -C "$MAIN" checkout -q main
sed -i '1s/.*/# Theirs/' "$MAIN/AGENTS.md"
git -C "$MAIN" commit -q -a -m Theirs
"""


@pytest.mark.parametrize(
    ("action", "committed"),
    [
        ("git merge -q --no-edit main", b"# Theirs\n\nUse tabs.\nagent\n"),
        ("git rebase -q main", b"# Theirs\n\nUse tabs.\nagent\n"),
        (
            "echo more >> AGENTS.md; git stash -q; git stash pop -q; git commit -qam x",
            b"# Ours\n\nUse tabs.\nagent\nmore\n",
        ),
        ("echo more >> AGENTS.md; git checkout -q -- AGENTS.md", b"# Ours\n\nUse tabs.\nagent\n"),
        ("git cherry-pick main >/dev/null", b"# Theirs\n\nUse tabs.\nagent\n"),
        (
            "git format-patch -q -1 -o ../p; git reset -q --hard HEAD~; git am -q ../p/*; rm -r ../p",
            b"# Ours\n\nUse tabs.\nagent\n",
        ),
    ],
    ids=["merge", "rebase", "stash", "checkout", "cherry-pick", "am"],
)
def test_git_operations_of_an_agent(stage: Stage, action: str, committed: bytes) -> None:
    commit_file(stage.repo, "AGENTS.md", b"# Ours\n\nUse tabs.\n")
    before = git(stage.repo, "rev-parse", "HEAD")
    finish = '\ngit status --porcelain > "$OUT/status-after"; cp AGENTS.md "$OUT/after"'
    agent = stage.spawn("AGENTS.md", f"MAIN={stage.repo}\n{UPSTREAM}{action}{finish}")
    assert stage.seen("status") == stage.seen("status-after") == b""
    assert stage.seen("after") == render_block(stage.text) + committed
    assert stage.committed(agent, "AGENTS.md") == committed
    assert b"orch:memory" not in every_object(stage.repo)
    assert git(stage.repo, "rev-parse", "main~") == before
    stage.remove(agent)
