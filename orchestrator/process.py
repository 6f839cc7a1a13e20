"""Starting processes: the one door to `subprocess` and `pexpect`."""

import contextlib
import logging
import os
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from orchestrator.errors import OrchError

if TYPE_CHECKING:
    import pexpect

_log = logging.getLogger("orch.process")

# What a parent agent or a git hook leaves in the environment, and what would send a child to another repository,
# to another conversation, or make it believe that it runs inside another agent.
_SCRUBBED_PREFIXES = ("GIT_", "CLAUDE_CODE_", "CODEX_SANDBOX", "ORCH_PORT_")
_SCRUBBED = frozenset(
    {
        "CLAUDECODE",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_ENV_FILE",
        "AI_AGENT",
        "CURSOR_AGENT",
        "CURSOR_CONVERSATION_ID",
        "CURSOR_PROJECT_DIR",
        "GEMINI_CLI",
        "GEMINI_SESSION_ID",
        "GEMINI_PROJECT_DIR",
        "OPENCODE",
        "OPENCODE_PID",
        "ORCH_AGENT",
        "ORCH_PROJECT",
        "ORCH_PORT",
        "ORCH_MAIN",
    }
)
# Settings of the person's that only look like the above.
_KEPT = frozenset(
    {
        "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_COMMITTER_EMAIL",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "GIT_SSH_VARIANT",
        "GIT_ASKPASS",
        "GIT_EXEC_PATH",
        "GIT_EDITOR",
        "GIT_PAGER",
        "GIT_ALLOW_PROTOCOL",
        "GIT_CEILING_DIRECTORIES",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_TEMPLATE_DIR",
        "GIT_LFS_SKIP_SMUDGE",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CODE_USE_FOUNDRY",
        "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
        "CLAUDE_CODE_SKIP_VERTEX_AUTH",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
        "CLAUDE_CODE_MAX_RETRIES",
        "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "CLAUDE_CODE_CLIENT_CERT",
        "CLAUDE_CODE_CLIENT_KEY",
        "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
    }
)


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A process that has ended. `code` is negative for a signal, as in `subprocess`."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        """Standard output as text, undecodable bytes kept by surrogateescape, without the last newline."""
        return os.fsdecode(self.stdout).removesuffix("\n")


class ProcessFault(OrchError):
    """A program could not be started, failed, or took too long; carries the `Finished` where there is one."""

    def __init__(self, message: str, hint: str = "", finished: Finished | None = None) -> None:
        super().__init__(message, hint)
        self.finished = finished


def scrubbed(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what a parent agent, a git hook or another orch agent left in it."""
    return {
        name: value
        for name, value in environ.items()
        if name in _KEPT or not (name in _SCRUBBED or name.startswith(_SCRUBBED_PREFIXES))
    }


def python_command(*args: str) -> list[str]:
    """Return the argv that runs this very orch in the background: isolated from the user's paths and variables."""
    return [sys.executable, "-I", "-m", "orchestrator", *args]


def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    timeout: float = 60,
    check: bool = True,
) -> Finished:
    """Run a program to its end and return what it gave.

    `timeout` is in seconds. With `check`, a non-zero exit raises ProcessFault with the last line of stderr.
    Raises ProcessFault when the program cannot be started or takes too long.
    """
    words = tuple(os.fspath(word) for word in argv)
    _log.debug("run %s in %s", shlex.join(words), cwd)
    try:
        # A process group of its own: a Ctrl-C of the terminal reaches us alone, and we decide what becomes of it.
        child = subprocess.Popen(
            words,
            cwd=cwd,
            env=None if environ is None else dict(environ),
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
    except (OSError, ValueError) as exc:
        raise ProcessFault(f"cannot start {words[0]}: {_cause(exc)}") from exc
    with child:
        try:
            stdout, stderr = _communicate(child, stdin, timeout)
        except subprocess.TimeoutExpired as exc:
            _end_group(child)
            raise ProcessFault(f"{words[0]} took longer than {timeout:g} s", f"it was: {shlex.join(words)}") from exc
        except BaseException:
            _end_group(child)
            raise
    finished = Finished(argv=words, code=child.returncode, stdout=stdout, stderr=stderr)
    if check and finished.code != 0:
        lines = [line for line in os.fsdecode(finished.stderr).splitlines() if line.strip()]
        said = lines[-1] if lines else f"exit code {finished.code}"
        raise ProcessFault(f"{Path(words[0]).name} failed: {said}", f"it was: {shlex.join(words)}", finished)
    return finished


def _communicate(child: "subprocess.Popen[bytes]", stdin: bytes | None, timeout: float) -> tuple[bytes, bytes]:
    """As `Popen.communicate`, but a process that the child leaves behind with its output open is not waited for."""
    until = time.monotonic() + timeout
    ended = False
    while True:
        try:
            return child.communicate(stdin, timeout=max(0.0, min(1.0, until - time.monotonic())))
        except subprocess.TimeoutExpired as exc:
            stdin = None
            if ended:
                return exc.stdout or b"", exc.stderr or b""
            ended = child.poll() is not None
            if not ended and time.monotonic() >= until:
                raise


def _end_group(child: "subprocess.Popen[bytes]") -> None:
    # Gently first: git removes its lock files on SIGTERM and leaves them on SIGKILL.
    for number, seconds in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=seconds)
            return


def _cause(exc: Exception) -> str:
    return (exc.strerror or str(exc)) if isinstance(exc, OSError) else str(exc)


def run_in_terminal(argv: Sequence[str], *, cwd: Path | None = None, environ: Mapping[str, str] | None = None) -> int:
    """Run a program on the person's own terminal (an editor, a pager) and return its exit code."""
    try:
        return subprocess.run(
            list(argv), cwd=cwd, env=None if environ is None else dict(environ), check=False
        ).returncode
    except (OSError, ValueError) as exc:
        raise ProcessFault(f"cannot start {argv[0]}: {_cause(exc)}") from exc


def run_logged(argv: Sequence[str], *, cwd: Path, environ: Mapping[str, str], log: Path, timeout: float) -> int:
    """Run a program to its end with its output appended to `log`; return its exit code.

    What it leaves in the background goes on. Raises ProcessFault when it cannot be started or takes longer than
    `timeout` seconds; then its process group is ended.
    """
    with log.open("ab") as stream:
        child = _launch(argv, cwd, environ, stream, group=0)
    with child:
        try:
            return child.wait(timeout=timeout)
        except subprocess.TimeoutExpired as exc:
            _end_group(child)
            raise ProcessFault(f"it took longer than {timeout:g} s") from exc
        except BaseException:
            _end_group(child)
            raise


def _launch(
    argv: Sequence[str],
    cwd: Path,
    environ: Mapping[str, str],
    stream: BinaryIO,
    *,
    group: int | None = None,
    session: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a program that reads nothing and writes into `stream`."""
    try:
        return subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            process_group=group,
            start_new_session=session,
        )
    except OSError as exc:
        raise ProcessFault(f"cannot start {argv[0]}: {_cause(exc)}") from exc


def launch_detached(argv: Sequence[str], *, cwd: Path, environ: Mapping[str, str], log: Path) -> int:
    """Start a process that outlives us and our terminal, its output appended to `log`; return its pid.

    It gets a session of its own, so that neither a hang-up nor a Ctrl-C of the terminal reaches it.
    """
    with log.open("ab") as stream:
        child = _launch(argv, cwd, environ, stream, session=True)
    # It is on its own from here: nobody waits for it, and that is no leak to be warned of.
    child.returncode = 0
    return child.pid


class Terminal:
    """A program on a pseudo-terminal of its own."""

    def __init__(self, child: "pexpect.spawn[bytes]") -> None:
        self._child = child
        self.pid = int(child.pid or 0)

    def read(self, wait: float) -> bytes | None:
        """Bytes that it has printed, b"" when there are none within `wait` seconds, None at the terminal's end."""
        try:
            ready, _, _ = select.select([self._child.child_fd], [], [], wait)
            if not ready:
                return b""
            return os.read(self._child.child_fd, 65536) or None
        except InterruptedError:
            return b""
        except (OSError, ValueError):
            # Linux answers EIO when the last process on the terminal has gone.
            return None

    def is_alive(self) -> bool:
        """Whether the program itself (not a child of it) still runs."""
        import pexpect

        try:
            return self._child.isalive()
        except pexpect.ExceptionPexpect:
            return False

    def close(self) -> tuple[int | None, int | None]:
        """Close the terminal of a program that has ended; return its exit code and the signal that ended it."""
        import pexpect

        with contextlib.suppress(pexpect.ExceptionPexpect, OSError):
            if self._child.isalive():
                self._child.wait()
            self._child.close(force=True)
        return self._child.exitstatus, self._child.signalstatus


def launch_terminal(
    argv: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    stdin: Path,
    size: tuple[int, int] = (50, 200),
) -> "Terminal":
    """Start a program on a pseudo-terminal of its own, its standard input read from the file `stdin`.

    The terminal does not echo and does not turn `\\n` into `\\r\\n`: a line of JSON arrives as it was written.
    `size` is rows, columns. Raises ProcessFault when it cannot be started.
    """
    import termios

    import pexpect

    def prepare() -> None:
        # Not by pexpect: where its own chdir fails, the forked child would go on as a second copy of this program.
        os.chdir(cwd)
        attributes = termios.tcgetattr(1)
        attributes[1] &= ~termios.OPOST
        termios.tcsetattr(1, termios.TCSANOW, attributes)
        # Opened here, since pexpect closes every descriptor of ours in the child.
        source = os.open(stdin, os.O_RDONLY)
        os.dup2(source, 0)
        os.close(source)

    try:
        child = pexpect.spawn(
            argv[0],
            list(argv[1:]),
            # opencode takes its directory from PWD (1.18.33), which would still be the person's own.
            env={**environ, "PWD": str(cwd)},
            echo=False,
            dimensions=size,
            timeout=None,
            preexec_fn=prepare,
        )
        return Terminal(cast("pexpect.spawn[bytes]", child))
    except Exception as exc:  # what fails in the child comes as the built-in of its name, or as a plain Exception
        first = str(exc).strip().splitlines()
        raise ProcessFault(f"cannot start {argv[0]}: {first[0] if first else type(exc).__name__}") from exc


def adopt_orphans() -> bool:
    """Become the parent of every descendant whose own parent ends; False where the system has no such thing.

    So a daemon that forked twice, took a session of its own and cleared its environment is still found below us.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    set_child_subreaper = 36
    try:
        return bool(ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def reap_orphans(own: int) -> None:
    """Bury adopted processes that have ended; the child `own` is left to whoever started it."""
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if found.si_pid == own:
                return
            os.waitpid(found.si_pid, os.WNOHANG)


def signal_quietly(pid: int, number: signal.Signals) -> bool:
    """Send a signal to one process; False when it is gone already or not ours."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
