"""What a new worktree gets besides its files from git: listed files, local settings, ports, and the set-up."""

import json
import os
import socket
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from orchestrator.copying import copy_entry
from orchestrator.local_settings import merge_settings
from orchestrator.ports import port_variables, reserve_ports
from orchestrator.project import load_project
from tests.conftest import git
from tests.orchestrator.conftest import Shell


def _write(repo: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(content)


def _commit(repo: Path, files: dict[str, str]) -> None:
    _write(repo, files)
    git(repo, "add", "--force", *files)
    git(repo, "commit", "--quiet", "--message", "Add")


def _clean(worktree: Path) -> bool:
    return git(worktree, "status", "--porcelain", "--untracked-files=all") == ""


# Listed files


def test_listed_and_ignored_files_are_copied(shell: Shell, repo: Path) -> None:
    _commit(repo, {".gitignore": ".env*\n/deps/\n*.key\nlink\nout\n", "tracked.key": "committed"})
    _write(
        repo,
        {
            ".env": "A=1\n",
            ".env.local": "B=2\n",
            "sub/.env": "C=3\n",
            "deps/a/b.js": "code",
            "deps/.bin/tool": "run",
            "secret.key": "not listed",
            "untracked.txt": "listed but not ignored",
        },
    )
    (repo / "deps/.bin/tool").chmod(0o750)
    os.utime(repo / "deps/a/b.js", ns=(10**18, 10**18))
    (repo / "deps/link").symlink_to("a/b.js")
    (repo / "deps/away").symlink_to(repo.parent)
    os.mkfifo(repo / "deps/pipe")
    _commit(repo, {".worktreeinclude": ".env*\n!.env.local\n/deps/\nuntracked.txt\ntracked.key\n"})
    (repo / "tracked.key").write_text("changed here")
    agent = shell.spawn("true")
    worktree = Path(agent["worktree"])
    assert (worktree / ".env").read_text() == "A=1\n"
    assert (worktree / "sub/.env").read_text() == "C=3\n"
    assert not (worktree / ".env.local").exists()
    assert not (worktree / "secret.key").exists()
    assert not (worktree / "untracked.txt").exists()
    assert (worktree / "tracked.key").read_text() == "committed"
    tool = (worktree / "deps/.bin/tool").stat()
    assert (stat.S_IMODE(tool.st_mode), tool.st_nlink) == (0o750, 1)
    assert (worktree / "deps/a/b.js").stat().st_mtime_ns == 10**18
    assert not (worktree / "deps").is_symlink()
    assert (worktree / "deps/link").readlink() == Path("a/b.js")
    assert (worktree / "deps/away").readlink() == repo.parent
    assert not os.path.lexists(worktree / "deps/pipe")
    assert _clean(worktree)
    assert any(note.startswith("brought 6 files") for note in agent["notes"])
    # It is a copy: what the agent does to it stays with the agent.
    (worktree / ".env").write_text("changed")
    assert (repo / ".env").read_text() == "A=1\n"


def test_the_configuration_lists_files_too(shell: Shell, repo: Path) -> None:
    _commit(repo, {".gitignore": "*.local\n", ".orch/config.yml": "worktrees: {include: ['*.local', '!b.local']}\n"})
    _write(repo, {"a.local": "a", "b.local": "b"})
    worktree = Path(shell.spawn("true")["worktree"])
    assert sorted(path.name for path in worktree.glob("*.local")) == ["a.local"]


def test_a_folder_that_leads_out_of_the_worktree_is_not_written_through(
    shell: Shell, repo: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo / "data").symlink_to(outside)
    git(repo, "add", "data")
    git(repo, "commit", "--quiet", "--message", "Link")
    base = git(repo, "rev-parse", "HEAD")
    git(repo, "rm", "--quiet", "data")
    _commit(repo, {".gitignore": "/data/\n", ".worktreeinclude": "/data/\n"})
    _write(repo, {"data/file": "x"})
    result = shell.orch.ok("spawn", "-b", "sh", "--base", base, "true")
    assert "data/file was not brought into the worktree" in result.stderr
    assert list(outside.iterdir()) == []


def test_a_repository_inside_is_not_copied(shell: Shell, repo: Path) -> None:
    _commit(repo, {".gitignore": "/inner/\n", ".worktreeinclude": "/inner/\n"})
    git(repo, "init", "--quiet", "inner")
    _commit(repo / "inner", {"a": "a"})
    assert not (Path(shell.spawn("true")["worktree"]) / "inner").exists()


def test_names_that_are_no_text(shell: Shell, repo: Path) -> None:
    name = os.fsdecode(b"\xff\n\xe2\x82\xac name.env")
    _commit(repo, {".gitignore": "*.env\n", ".worktreeinclude": "*.env\n"})
    _write(repo, {name: "x"})
    assert (Path(shell.spawn("true")["worktree"]) / name).read_text() == "x"


def test_other_ignore_rules_in_the_base(shell: Shell, repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    _commit(repo, {".gitignore": ".env\n", ".worktreeinclude": ".env\n"})
    _write(repo, {".env": "A=1\n"})
    config = (repo / ".git" / "config").read_bytes()
    agent = shell.spawn("git add --all && git status --porcelain", "--base", base)
    worktree = Path(agent["worktree"])
    assert (worktree / ".env").exists()
    assert _clean(worktree)
    shell.ended(agent["id"])
    shell.orch.ok("rm", agent["id"])
    assert (repo / ".git" / "config").read_bytes() == config


def test_blocks_are_shared_where_the_disk_can(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(os.urandom(300_000))
    copied = copy_entry(source, tmp_path / "target")
    assert copied is not None
    assert copied.size == 300_000
    assert (tmp_path / "target").read_bytes() == source.read_bytes()
    with pytest.raises(FileExistsError):
        copy_entry(source, tmp_path / "target")


# Local settings


CLAUDE = "#!/bin/sh\n[ \"$1\" = --version ] && { echo '2.1.197 (Claude Code)'; exit 0; }\nls -A > seen; cat .mcp.json\n"


def _claude(tmp_path: Path) -> dict[str, str]:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(CLAUDE)
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{os.environ['PATH']}"}


def _spawn_claude(shell: Shell, environ: dict[str, str], *options: str) -> Path:
    result = shell.orch("spawn", "-b", "claude", "--json", *options, "task", environ=environ)
    agent: dict[str, Any] = json.loads(result.stdout)["agent"]
    return Path(agent["worktree"])


def test_local_settings_come_along_unseen_by_git(shell: Shell, repo: Path, tmp_path: Path) -> None:
    files = {
        ".claude/settings.local.json": '{"permissions": {"allow": ["Bash(ls)"]}}',
        ".mcp.json": '{"mcpServers": {}}',
    }
    _write(repo, {**files, ".env": "SECRET=1", ".claude/other.json": "{}"})
    config = (repo / ".git" / "config").read_bytes()
    worktree = _spawn_claude(shell, _claude(tmp_path))
    for name, content in files.items():
        assert (worktree / name).read_text() == content
    assert not (worktree / ".env").exists()
    assert not (worktree / ".claude/other.json").exists()
    assert git(worktree, "status", "--porcelain", "--untracked-files=all") in ("", "?? seen")
    # The person's own checkout still shows them.
    assert "?? .mcp.json" in git(repo, "status", "--porcelain")
    other = shell.spawn("ls -A")
    assert not (Path(other["worktree"]) / ".mcp.json").exists()
    for row in shell.orch.ok("ls").stdout.splitlines():
        shell.ended(row.split("\t")[0])
        shell.orch.ok("rm", "--keep", row.split("\t")[0])
    assert (repo / ".git" / "config").read_bytes() == config


def test_tracked_settings_are_left_as_the_commit_has_them(shell: Shell, repo: Path, tmp_path: Path) -> None:
    _commit(repo, {".mcp.json": '{"a": 1}'})
    base = git(repo, "rev-parse", "HEAD")
    git(repo, "rm", "--quiet", "--cached", ".mcp.json")
    git(repo, "commit", "--quiet", "--message", "Untrack")
    _write(repo, {".mcp.json": '{"a": 2, "b": 3}'})
    worktree = _spawn_claude(shell, _claude(tmp_path), "--base", base)
    assert (worktree / ".mcp.json").read_text() == '{"a": 1}'


def test_settings_that_a_hook_made_are_merged(shell: Shell, repo: Path, tmp_path: Path) -> None:
    hook = repo / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\necho \'{"mcpServers": {"made": {}}}\' > .mcp.json\n')
    hook.chmod(0o755)
    _write(repo, {".mcp.json": '{"mcpServers": {"mine": {}}}'})
    worktree = _spawn_claude(shell, _claude(tmp_path))
    assert json.loads((worktree / ".mcp.json").read_text()) == {"mcpServers": {"made": {}, "mine": {}}}


@pytest.mark.parametrize(
    ("kept", "more", "merged"),
    [
        ('{"a": 1}', '{"a": 2, "b": 3}', {"a": 1, "b": 3}),
        (
            '{"p": {"allow": ["x"]}}',
            '{"p": {"allow": ["y", "x"], "deny": []}}',
            {"p": {"allow": ["x", "y"], "deny": []}},
        ),
        ('{"a": {}}', '{"a": 1}', None),
        ("{}", "{}", None),
        ("[]", "{}", None),
        ("{", "{}", None),
        ("{}", "\xff", None),
    ],
)
def test_merging(kept: str, more: str, merged: object) -> None:
    found = merge_settings(kept.encode(), more.encode("latin-1"))
    assert (None if found is None else json.loads(found)) == merged


# Ports


def test_each_agent_has_ports_of_its_own(shell: Shell, repo: Path) -> None:
    ports = {"ORCH_WORKTREES_PORTS": "3"}
    script = 'echo "$ORCH_PORT $ORCH_PORT_1 $ORCH_PORT_2 $ORCH_PORT_3|"; sleep 30'
    with ThreadPoolExecutor(4) as pool:
        agents = list(pool.map(lambda _: shell.spawn(script, environ=ports), range(4)))
    found: list[int] = []
    for agent in agents:
        shell.orch.ok("stop", agent["id"])
        line = shell.output(agent["id"]).decode().strip()
        assert line.endswith(" |")
        numbers = [int(word) for word in line.removesuffix("|").split()]
        assert numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2]
        assert f"ports {numbers[0]} to {numbers[-1]}" in agent["notes"]
        assert "ORCH_PORT_2" in agent["environ_names"]
        found += numbers
    assert len(set(found)) == 12
    assert "ORCH_PORT" not in shell.spawn("true")["environ_names"]


def test_a_port_that_is_in_use_is_not_given(repo: Path) -> None:
    project = load_project(repo)
    (project.agents / "a1").mkdir(parents=True)
    (project.agents / "b2").mkdir()
    first = reserve_ports(project, "a1", 2)
    (project.agents / "a1" / "ports").unlink()
    with socket.socket() as server:
        server.bind(("127.0.0.1", first[1]))
        server.listen()
        assert set(reserve_ports(project, "a1", 2)).isdisjoint(first)
    assert port_variables((5, 6)) == {"ORCH_PORT": "5", "ORCH_PORT_1": "6"}


# The set-up


def _setup(repo: Path, *commands: str, kind: str = "setup") -> None:
    _commit(repo, {".orch/config.yml": json.dumps({"worktrees": {kind: list(commands)}})})


def _consent(shell: Shell) -> None:
    for script in json.loads(shell.orch.ok("trust", "--json").stdout)["scripts"]:
        shell.orch.ok("trust", "--yes", script["hash"])


def test_nothing_runs_without_consent(shell: Shell, repo: Path, tmp_path: Path) -> None:
    _setup(repo, f"touch {tmp_path}/ran")
    result = shell.orch.ok("spawn", "-b", "sh", "true")
    assert "worktrees.setup was NOT run" in result.stderr
    assert "orch trust" in result.stderr
    assert not (tmp_path / "ran").exists()
    asked = shell.orch("trust")
    assert asked.code == 1
    assert f"touch {tmp_path}/ran" in asked.stdout
    assert "not trusted" in asked.stdout
    assert "orch trust --yes " in asked.stderr


def test_consent_holds_for_exactly_that_text(shell: Shell, repo: Path, tmp_path: Path) -> None:
    _setup(repo, f"pwd > {tmp_path}/ran", 'echo "$ORCH_AGENT $ORCH_MAIN $ORCH_PORT"')
    _consent(shell)
    agent = shell.spawn("true", environ={"ORCH_WORKTREES_PORTS": "1"})
    assert (tmp_path / "ran").read_text().strip() == agent["worktree"]
    log = (repo / ".git" / "orch" / "agents" / agent["id"] / "setup.log").read_text().split()
    assert log[:2] == [agent["id"], str(repo)]
    assert log[2].isdigit()
    (tmp_path / "ran").unlink()
    _setup(repo, f"pwd > {tmp_path}/ran", "echo other")
    assert "NOT run" in shell.orch.ok("spawn", "-b", "sh", "true").stderr
    assert not (tmp_path / "ran").exists()
    # The same text as teardown is another question.
    _setup(repo, f"pwd > {tmp_path}/ran", "echo other", kind="teardown")
    assert "not trusted" in shell.orch("trust").stdout


def test_consent_can_be_taken_back(shell: Shell, repo: Path) -> None:
    _setup(repo, "true")
    _consent(shell)
    assert ": trusted, hash" in shell.orch.ok("trust").stdout
    shell.orch.ok("trust", "--revoke")
    assert "NOT run" in shell.orch.ok("spawn", "-b", "sh", "true").stderr
    assert shell.orch("trust", "--yes", "0" * 16).code == 2
    key = json.loads(shell.orch.ok("trust", "--json").stdout)["scripts"][0]["hash"]
    agent = shell.orch("trust", "--yes", key, environ={"ORCH_AGENT": "a1b2"})
    assert (agent.code, "agent a1b2 cannot consent" in agent.stderr) == (2, True)


def test_a_person_is_asked_on_a_terminal(shell: Shell, repo: Path) -> None:
    import pexpect

    _setup(repo, "echo \x1b[2Jhello")
    command = [sys.executable, "-I", "-m", "orchestrator", "trust"]
    child = pexpect.spawn(command[0], command[1:], cwd=str(repo), timeout=30, encoding="utf-8")
    child.expect("Run these in the worktrees of agents")
    assert "\x1b[2J" not in str(child.before)
    child.sendline("n")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 1
    child = pexpect.spawn(command[0], command[1:], cwd=str(repo), timeout=30, encoding="utf-8")
    child.expect("Run these")
    child.sendline("y")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "NOT run" not in shell.orch.ok("spawn", "-b", "sh", "true").stderr


def test_a_failing_set_up_is_told_and_tolerated(shell: Shell, repo: Path, tmp_path: Path) -> None:
    _setup(repo, "echo out; echo err >&2; exit 5", f"touch {tmp_path}/second")
    _consent(shell)
    result = shell.orch.ok("spawn", "-b", "sh", "--wait", "true")
    assert "running worktrees.setup: echo out; echo err >&2; exit 5\n" in result.stderr
    assert "failed (exit code 5); 1 more not run; its output is in " in result.stderr
    assert not (tmp_path / "second").exists()
    log = Path(result.stderr.partition("its output is in ")[2].splitlines()[0])
    assert log.read_text() == "out\nerr\n"


def test_what_a_set_up_leaves_for_git_to_see_is_told(shell: Shell, repo: Path) -> None:
    _setup(repo, "touch one two")
    _consent(shell)
    result = shell.orch.ok("spawn", "-b", "sh", "true")
    assert "worktrees.setup left one and 1 more untracked" in result.stderr


def test_a_set_up_that_does_not_end_is_ended(shell: Shell, repo: Path) -> None:
    from orchestrator.consent import Script, write_consent
    from orchestrator.preparation import run_script

    project = load_project(repo)
    script = Script(kind="setup", commands=("sleep 60",))
    write_consent(project, [script], trusted=True)
    told: list[str] = []
    environ = {"PATH": os.environ["PATH"]}
    ran = run_script(
        project, script, worktree=repo, folder=project.state, environ=environ, tell=told.append, seconds=0.3
    )
    assert not ran
    assert "it took longer than 0.3 s" in told[0]


def test_ctrl_c_during_the_set_up_undoes_the_spawn(shell: Shell, repo: Path, tmp_path: Path) -> None:
    import pexpect
    import psutil

    from tests.orchestrator.conftest import until

    _setup(repo, f"echo $$ > {tmp_path}/pid; sleep 120")
    _consent(shell)
    before = (git(repo, "for-each-ref"), git(repo, "worktree", "list"), (repo / ".git" / "config").read_bytes())
    command = ["-I", "-m", "orchestrator", "spawn", "-b", "sh", "true"]
    child = pexpect.spawn(sys.executable, command, cwd=str(repo), timeout=60, encoding="utf-8")
    child.expect("running worktrees.setup")
    pid = int(until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip()))
    child.sendintr()
    child.expect("interrupted")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert not psutil.pid_exists(pid)
    assert (git(repo, "for-each-ref"), git(repo, "worktree", "list"), (repo / ".git" / "config").read_bytes()) == before
    assert not (repo.parent / "repo.worktrees").exists()
    assert list((repo / ".git" / "orch" / "agents").iterdir()) == []
