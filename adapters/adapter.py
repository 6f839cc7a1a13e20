"""What an adapter is: one frozen value that describes a backend, as data and a few pure functions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Launch:
    """What a backend is to be started with; the input of every pure function of an adapter.

    `executable` is the absolute path of the program. `state` is a directory outside the worktree, owned by this
    agent. `session` is the backend's own session id: one to choose for a fresh run where the adapter
    says `chooses_session`, the one to continue when `resume` is set. `environ` is the environment that the child
    inherits (already scrubbed), for values that have to be merged with the user's. `root` says that the user id is 0.
    """

    executable: str
    task: str
    worktree: Path
    state: Path
    model: str | None = None
    session: str | None = None
    resume: bool = False
    interactive: bool = False
    root: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)
    extra_args: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Command:
    """How to start the backend's process, complete.

    `environ` is set on top of the inherited environment. `stdin` is the whole standard input (None: /dev/null).
    `files` are written before the start, mode 0600; every path lies under `Launch.state`.
    `notes` are one-line facts that the person should read (printed as warnings on stderr by the spawn).
    """

    argv: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes | None = None
    files: Mapping[Path, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Carry:
    """The text to be carried, and the file with exactly its UTF-8 bytes: one file for all agents that carry it."""

    text: str
    path: Path
    subagents: bool = True


@dataclass(frozen=True, kw_only=True)
class McpServer:
    """An MCP server over stdio that the backend is to start: its name, its command line, and its environment."""

    name: str
    command: tuple[str, ...]
    environ: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class FileSeam:
    """A block in a context file at the worktree's root. `cap` is the backend's limit on the file, in bytes.

    `shadowed_by` are names beside it that the backend reads in its place; `hides` are those that it stops reading
    once the file is there.
    """

    name: str
    cap: int | None = None
    shadowed_by: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LaunchSeam:
    """A flag, an environment value or a config value. `apply` returns the command with the text in it."""

    describe: str
    apply: Callable[[Launch, Command, Carry], Command]


class Outcome(StrEnum):
    """How an agent ended, read from exit code and output together."""

    COMPLETED = "completed"
    FAILED = "failed"
    REFUSED = "refused"  # a permission was rejected, so the task is not done
    AUTH = "auth"  # 401, 403, no key, no login
    RATE_LIMITED = "rate-limited"  # 429
    OVERLOADED = "overloaded"  # 5xx, 529
    UNREACHABLE = "unreachable"  # refused, reset, no route
    CUT = "cut"  # the model's stream ended early
    LIMIT = "limit"  # one of orch's own limits ended it
    STOPPED = "stopped"  # `orch stop`
    CRASHED = "crashed"  # ended by a signal that orch did not send
    LOST = "lost"  # the supervisor died, so nobody saw the end


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens as the backend itself reports them. `exact` is False where the backend only estimates."""

    input: int = 0
    cached: int = 0
    output: int = 0
    cost_usd: float | None = None
    exact: bool = True


@dataclass(frozen=True, kw_only=True)
class Ending:
    """What is known when the process has ended: exit code or signal, its whole output, and where it ran."""

    exit_code: int | None
    signal: int | None
    output: bytes
    launch: Launch


@dataclass(frozen=True, kw_only=True)
class Report:
    """What the adapter reads out of an `Ending`. `reason` is one line; `message` the agent's last words."""

    outcome: Outcome
    reason: str = ""
    session: str | None = None
    message: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, kw_only=True)
class Redirect:
    """How to send the backend's model traffic to a loopback endpoint, with the user's own set-up untouched.

    `files` are written below a scratch home before the start; `environ` includes what points at that home.
    `args` go where `Launch.extra_args` go. `model` is the name to ask for.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    args: tuple[str, ...] = ()
    files: Mapping[Path, bytes] = field(default_factory=dict)
    model: str | None = None


def report_plain(ending: Ending) -> Report:
    """Read an outcome from the exit status alone; for a backend whose output says nothing more."""
    if ending.signal is not None:
        return Report(outcome=Outcome.CRASHED, reason=f"ended by signal {ending.signal}")
    if ending.exit_code == 0:
        return Report(outcome=Outcome.COMPLETED)
    return Report(outcome=Outcome.FAILED, reason=f"exit code {ending.exit_code}")


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """One backend.

    `executables` are tried on PATH in order. `tested` is the inclusive range of versions that the facts were
    measured on. `proof` says whether the delivery is proven by a recorder (`recorded`) or only against a stand-in
    built from the vendor's documents (`contract`). `reads` are the context files that a default run takes from the
    worktree's root. `local_files` are files and folders of settings that a person may keep untracked in the
    repository: a new worktree gets copies of them. `redirect(url, home)` is None where the model traffic cannot be sent
    elsewhere; `url` has no path and no trailing slash. `request_id(line)` names the model request that a line of output
    tells of (None: none), so that `limits.requests` can count them; the field is None where the output does not tell.
    `mcp(launch, command, server)` returns the command with an MCP server in it, beside the person's own; the field is
    None where the backend takes none from a flag, the environment or a file outside the worktree. `mirror(main,
    environ)` is the file of the host's own memory for that main checkout, which it reads in all of its worktrees.
    """

    name: str
    title: str
    executables: tuple[str, ...]
    install: str
    tested: tuple[str, str]
    proof: Literal["recorded", "contract"]
    command: Callable[[Launch], Command]
    file_seam: FileSeam | None = None
    launch_seam: LaunchSeam | None = None
    default_seam: Literal["file", "launch"] = "launch"
    report: Callable[[Ending], Report] = report_plain
    redirect: Callable[[str, Path], Redirect] | None = None
    reads: tuple[str, ...] = ()
    local_files: tuple[str, ...] = ()
    version_args: tuple[str, ...] = ("--version",)
    version_pattern: str = r"(\d+\.\d+(?:\.\d+)*)"
    chooses_session: bool = False
    request_id: Callable[[bytes], str | None] | None = None
    mcp: Callable[[Launch, Command, McpServer], Command] | None = None
    mirror: Callable[[Path, Mapping[str, str]], Path | None] | None = None
    resumes: bool = True
