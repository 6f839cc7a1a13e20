"""The supervisor on real processes: whatever a backend does, its tree is ended, its end recorded, its output kept."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from orchestrator.records import Records
from orchestrator.stopping import stop_agent
from tests.conftest import Orch
from tests.orchestrator.conftest import Shell, until

# Two forks and a new session: its parent is the first process of the machine, its group and terminal its own.
_DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        if len(sys.argv) > 2:
            os.environ.clear()
            os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)", sys.argv[1]], {})
        open(sys.argv[1], "w").write(str(os.getpid()))
        time.sleep(300)
    os._exit(0)
os.wait()
time.sleep(300)
"""


def _gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def _pid(path: Path) -> int:
    return int(until(lambda: path.exists() and path.read_text().strip(), what=f"a pid in {path}"))


def test_a_daemon_of_the_backend_ends_with_it(shell: Shell, tmp_path: Path) -> None:
    script = tmp_path / "daemon.py"
    script.write_text(_DAEMON)
    agent = shell.spawn(f"exec {sys.executable} {script} {tmp_path}/pid")
    daemon = _pid(tmp_path / "pid")
    assert psutil.Process(daemon).ppid() != agent["pid"]
    assert shell.orch.ok("stop", agent["id"]).stdout.startswith(f"agent {agent['id']} stopped")
    assert _gone(daemon)
    assert _gone(agent["pid"])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to their nearest willing ancestor")
def test_a_daemon_without_the_environment_ends_too(shell: Shell, tmp_path: Path) -> None:
    script = tmp_path / "daemon.py"
    script.write_text(_DAEMON)
    mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    agent = shell.spawn(f"exec {sys.executable} {script} {mark} bare")

    def daemons() -> list[psutil.Process]:
        return [process for process in psutil.process_iter(["cmdline"]) if mark in (process.info["cmdline"] or [])]

    until(lambda: len(daemons()) == 2, what="the daemon")
    shell.orch.ok("stop", agent["id"])
    assert daemons() == []


def test_stop_of_a_backend_that_ignores_sigterm(shell: Shell) -> None:
    agent = shell.spawn("trap '' TERM HUP INT; while :; do sleep 1; done")
    shell.orch.ok("stop", agent["id"])
    assert _gone(agent["pid"])
    found = shell.show(agent["id"])
    assert (found["outcome"], found["reason"]) == ("stopped", "orch stop")


def test_a_backend_may_print_while_it_ends(shell: Shell) -> None:
    # Far more than the terminal holds: it can only end gently if somebody reads on, and as fast as it prints.
    agent = shell.spawn("trap 'seq 1 2000000; echo the last word; exit 0' TERM; while :; do sleep 0.1; done")
    shell.orch.ok("stop", agent["id"])
    assert shell.output(agent["id"]).endswith(b"2000000\nthe last word\n")


def test_a_backend_that_closes_its_terminal_goes_on(shell: Shell, tmp_path: Path) -> None:
    agent = shell.spawn(f"exec >/dev/null 2>&1 </dev/null; sleep 2; echo done > {tmp_path}/mark; exit 7")
    time.sleep(0.7)
    assert shell.show(agent["id"])["status"] == "running"
    found = shell.ended(agent["id"])
    assert (found["outcome"], found["exit_code"]) == ("failed", 7)
    assert (tmp_path / "mark").exists()


def test_a_child_that_holds_the_terminal_and_prints_for_ever(shell: Shell, tmp_path: Path) -> None:
    script = (
        f"setsid sh -c 'echo $$ > {tmp_path}/pid; trap \"\" TERM HUP; while :; do echo more; done' & sleep 1; exit 0"
    )
    agent = shell.spawn(script)
    child = _pid(tmp_path / "pid")
    found = shell.ended(agent["id"])
    assert found["outcome"] == "completed"
    assert _gone(child)
    assert any("ended with the agent" in note and str(child) in note for note in found["notes"])


def test_much_output_is_kept_whole(shell: Shell) -> None:
    size = 100 * 1024 * 1024
    agent = shell.spawn(f"head -c {size} /dev/zero | tr '\\0' x; echo; echo the end")
    found = shell.ended(agent["id"], seconds=120)
    assert found["outcome"] == "completed"
    output = shell.orch.cwd / ".git" / "orch" / "agents" / agent["id"] / "output"
    assert output.stat().st_size == size + 9
    assert output.read_bytes().endswith(b"x\nthe end\n")
    logs = shell.orch.ok("logs", agent["id"], timeout=100).raw
    assert (len(logs), logs[-9:]) == (size + 9, b"\nthe end\n")


def test_binary_output_is_kept_exactly(shell: Shell) -> None:
    data = bytes(range(256)) * 40
    source = shell.orch.cwd.parent / "data"
    source.write_bytes(data)
    agent = shell.spawn(f"cat {source}")
    shell.ended(agent["id"])
    assert shell.output(agent["id"]) == data
    assert "\x1b" not in shell.orch.ok("logs", agent["id"]).stdout


def test_a_killed_supervisor_is_told_of_and_its_backend_can_be_stopped(shell: Shell) -> None:
    agent = shell.spawn("trap '' HUP; while :; do sleep 1; done")
    os.kill(agent["supervisor_pid"], signal.SIGKILL)
    until(lambda: _gone(agent["supervisor_pid"]))
    found = shell.show(agent["id"])
    assert (found["status"], found["outcome"]) == ("ended", "lost")
    assert f"still runs as pid {agent['pid']}" in found["reason"]
    assert "lost" in shell.orch.ok("ls").stdout
    for command in (("rm",), ("rm", "--keep"), ("merge",), ("resume",)):
        refused = shell.orch(*command, agent["id"], *(["more"] if command == ("resume",) else []))
        assert (refused.code, f"hint: orch stop {agent['id']}\n" in refused.stderr) == (2, True), refused.stderr
    assert Path(agent["worktree"]).exists()
    shell.orch.ok("stop", agent["id"])
    assert _gone(agent["pid"])
    assert "still runs" not in shell.show(agent["id"])["reason"]
    shell.orch.ok("rm", agent["id"])


def test_a_frozen_supervisor_does_not_keep_its_agent(shell: Shell) -> None:
    agent = shell.spawn("sleep 300")
    os.kill(agent["supervisor_pid"], signal.SIGSTOP)
    records = Records(path=shell.orch.cwd / ".git" / "orch" / "records.db")
    stop_agent(records, records.require_agent(agent["id"]), patience=1.0)
    found = shell.show(agent["id"])
    assert (found["status"], found["outcome"]) == ("ended", "stopped")
    assert "did not answer" in found["reason"]
    assert _gone(agent["pid"])
    assert _gone(agent["supervisor_pid"])


def test_another_process_with_the_same_pid_is_left_alone(shell: Shell) -> None:
    import sqlite3

    agent = shell.spawn("sleep 300")
    time.sleep(0.1)
    with subprocess.Popen(["sleep", "300"]) as other:
        try:
            database = shell.orch.cwd / ".git" / "orch" / "records.db"
            with sqlite3.connect(database) as connection:
                # As if supervisor and backend were gone, and the machine had given their numbers to somebody else.
                connection.execute(
                    "UPDATE agents SET data = json_set(data, '$.pid', ?, '$.supervisor_pid', ?) WHERE id = ?",
                    (other.pid, other.pid, agent["id"]),
                )
            connection.close()
            found = shell.show(agent["id"])
            assert found["outcome"] == "lost"
            assert "still runs" not in found["reason"]
            shell.orch.ok("stop", agent["id"])
            assert other.poll() is None
        finally:
            other.kill()


def test_an_agent_of_another_project_with_the_same_id_is_left_alone(shell: Shell, tmp_path: Path) -> None:
    agent = shell.spawn("sleep 300")
    environ = {**os.environ, "ORCH_AGENT": agent["id"], "ORCH_PROJECT": str(tmp_path / "other" / ".git")}
    with subprocess.Popen(["sleep", "300"], env=environ) as other:
        try:
            shell.orch.ok("stop", agent["id"])
            assert _gone(agent["pid"])
            assert other.poll() is None
        finally:
            other.kill()


def test_an_agent_that_an_agent_spawned_outlives_it(shell: Shell) -> None:
    inner = f"{sys.executable} -I -m orchestrator spawn -b sh"
    daemon = f"env -i setsid {sys.executable} -c 'import time; time.sleep(300)' &"
    script = f'{inner} --branch second "{daemon} sleep 300"; env | grep ORCH_'
    agent = shell.spawn(script, environ={"ORCH_WORKTREES_PORTS": "0"})
    assert shell.ended(agent["id"])["outcome"] == "completed"
    second = shell.show("second")
    assert second["status"] == "running"
    assert psutil.Process(second["pid"]).is_running()
    daemons = [each.pid for each in psutil.Process(second["supervisor_pid"]).children(recursive=True)]
    assert len(daemons) >= 2
    shell.orch.ok("stop", second["id"])
    assert all(_gone(pid) for pid in daemons)


def test_a_supervisor_that_the_system_ends_says_so(shell: Shell) -> None:
    agent = shell.spawn("sleep 300")
    os.kill(agent["supervisor_pid"], signal.SIGTERM)
    found = shell.ended(agent["id"])
    assert (found["outcome"], found["reason"]) == ("stopped", "its supervisor was told to end, as at a shutdown")


def test_a_hang_up_of_the_terminal_ends_no_agent(shell: Shell, tmp_path: Path) -> None:
    import pexpect

    child = pexpect.spawn("/bin/sh", ["-i"], cwd=str(shell.orch.cwd), timeout=30, encoding="utf-8")
    child.sendline(f"{sys.executable} -I -m orchestrator spawn -b sh 'sleep 3; echo on > {tmp_path}/mark'")
    child.expect("is running")
    child.expect("follow")
    child.close(force=True)  # what sshd does at a logout
    until((tmp_path / "mark").exists)


def test_output_that_cannot_be_written_does_not_end_the_agent(shell: Shell, tmp_path: Path) -> None:
    """As on a full disk: no file may grow beyond 200 KB."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    script = f"head -c 1000000 /dev/zero | tr '\\0' x; echo on > {tmp_path}/mark; exit 0"
    done = subprocess.run(
        [sys.executable, "-I", "-m", "orchestrator", "spawn", "-b", "sh", "--wait", "--json", script],
        cwd=shell.orch.cwd,
        preexec_fn=limited,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, (tmp_path / "mark").exists()) == (0, True), done.stderr
    agent = json.loads(done.stdout)["agent"]
    assert agent["outcome"] == "completed"
    assert any("output" in note and "File too large" in note for note in agent["notes"])


def test_a_limit_of_time_ends_it(shell: Shell) -> None:
    agent = shell.spawn("sleep 300 & sleep 300", environ={"ORCH_LIMITS_MINUTES": "0.02"})
    found = shell.ended(agent["id"])
    assert found["outcome"] == "limit"
    assert found["reason"] == "limits.minutes: 0.02 min of wall time are over"
    assert shell.orch("wait", agent["id"]).code == 17
    assert _gone(agent["pid"])


def test_no_limit_is_zero(shell: Shell) -> None:
    agent = shell.spawn("sleep 1", environ={"ORCH_LIMITS_MINUTES": "0"})
    assert shell.ended(agent["id"])["outcome"] == "completed"


def test_a_backend_that_fails_at_once_fails_the_spawn(shell: Shell) -> None:
    result = shell.orch("spawn", "-b", "sh", "echo 'no such login' >&2; exit 3")
    assert result.code == 10
    assert "has ended already: failed: exit code 3" in result.stdout
    assert "no such login" in result.stderr
    quick = shell.orch.ok("spawn", "-b", "sh", "echo fine")
    assert "has ended already: completed" in quick.stdout


def test_stop_twice_and_of_the_ended(shell: Shell) -> None:
    agent = shell.spawn("sleep 300")
    shell.orch.ok("stop", agent["id"])
    shell.orch.ok("stop", agent["id"])
    done = shell.spawn("exit 0")
    shell.ended(done["id"])
    shell.orch.ok("stop", done["id"])
    assert shell.show(done["id"])["outcome"] == "completed"


def test_logs_follow_to_the_end(shell: Shell) -> None:
    agent = shell.spawn("for i in 1 2 3; do echo line $i; sleep 0.5; done; printf last")
    begun = time.monotonic()
    result = shell.orch.ok("logs", "-f", agent["id"])
    assert result.stdout == "line 1\nline 2\nline 3\nlast\n"
    assert time.monotonic() - begun > 0.5


def test_wait_for_several(shell: Shell) -> None:
    first = shell.spawn("sleep 1")
    second = shell.spawn("sleep 2; exit 4")
    third = shell.spawn("sleep 60")
    result = shell.orch("wait", first["id"], second["id"])
    assert result.code == 10
    assert [line.split()[2] for line in result.stdout.splitlines()] == ["completed", "failed:"]
    late = shell.orch("wait", "--timeout", "0.5", third["id"], first["id"])
    assert late.code == 1
    assert f"still running after 0.5 s: {third['id']}" in late.stderr
    shell.orch.ok("stop", third["id"])


def test_waiting_on_a_terminal_shows_progress_and_ctrl_c_leaves_the_agent(shell: Shell, orch: Orch) -> None:
    import pexpect

    script = "for i in $(seq 1 100); do echo step number $i; sleep 0.3; done"
    arguments = ["-I", "-m", "orchestrator", "spawn", "-b", "sh", "--wait", script]
    child = pexpect.spawn(
        sys.executable, arguments, cwd=str(orch.cwd), timeout=30, encoding="utf-8", dimensions=(40, 160)
    )
    child.expect("is running")
    child.expect("step number [2-9]")
    child.sendintr()
    child.expect("no longer waiting; the agents go on")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    (row,) = orch.ok("ls").stdout.splitlines()
    assert row.split("\t")[2] == "running"
    orch.ok("stop", row.split("\t")[0])
