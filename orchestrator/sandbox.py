"""A throwaway home and repository, in which a real `orch` runs with nothing of the person's own in reach."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import OrchError
from orchestrator.git import Git
from orchestrator.interrupt import interruptible, shielded
from orchestrator.process import Finished, python_command, run

# Everything else is left behind: keys, logins, endpoints, proxies, other agents' variables, orch's own settings.
_KEPT = frozenset({"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "USER", "LOGNAME", "SHELL", "TZ", "NO_COLOR"})
_GITCONFIG = b"[user]\n\tname = orch\n\temail = orch@localhost\n[init]\n\tdefaultBranch = main\n"


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """`root` holds everything: `home` is the scratch home, `repo` the repository; `environ` points at them."""

    root: Path
    environ: Mapping[str, str]

    @property
    def home(self) -> Path:
        """The scratch home: what a backend finds there is what orch wrote there."""
        return self.root / "home"

    @property
    def repo(self) -> Path:
        """The scratch repository's main checkout."""
        return self.root / "repo"

    def git(self, cwd: Path | None = None) -> Git:
        """Git with the scratch home's configuration, in `cwd` or the main checkout."""
        return Git(cwd=cwd or self.repo).with_environ(
            {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config")}
        )

    def write_config(self, value: Mapping[str, object]) -> None:
        """Write the scratch user's configuration of orch (JSON is YAML)."""
        path = self.home / ".config" / "orch" / "config.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")

    def orch(self, *args: str, timeout: float = 300, stdin: bytes | None = None) -> Finished:
        """Run `orch ARGS` in the repository, as a person would, in a process of its own; `timeout` in seconds."""
        command = python_command(*args)
        return run(command, cwd=self.repo, environ=self.environ, timeout=timeout, stdin=stdin, check=False)

    def orch_json(self, *args: str, timeout: float = 300) -> dict[str, Any]:
        """Run `orch ARGS --json` and return its answer; raises OrchError with what it said when it gave none."""
        done = self.orch(*args, timeout=timeout)
        try:
            value = json.loads(done.stdout)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise OrchError(f"orch {args[0]}: {said(done)}")
        return value


def said(finished: Finished) -> str:
    """The line on stderr that says what was wrong, without its `error: `."""
    lines = [line for line in os.fsdecode(finished.stderr).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("error: ")]
    found = (errors or lines or [f"exit code {finished.code}"])[-1 if not errors else 0]
    return found.removeprefix("error: ")


@contextmanager
def sandbox(
    environ: Mapping[str, str],
    files: Mapping[str, bytes],
    *,
    keep: bool = False,
) -> Iterator[Sandbox]:
    """Make a sandbox whose repository has one commit with these files; it is removed at the end, unless `keep`.

    `environ` is the person's environment, of which little more than PATH is taken.
    """
    import shutil

    root = Path(os.path.realpath(tempfile.mkdtemp(prefix="orch-")))
    try:
        made = Sandbox(root=root, environ=_environ(environ, root))
        for folder in (made.home / ".config", root / "tmp"):
            folder.mkdir(parents=True, mode=0o700)
        (made.home / ".gitconfig").write_bytes(_GITCONFIG)
        made.repo.mkdir()
        write_files(made.repo, files)
        git = made.git()
        git.run("init", "--quiet")
        git.run("add", "--all")
        git.run("commit", "--quiet", "--message", "The repository as it was")
        with interruptible():
            try:
                yield made
            except BaseException:
                # An interrupt or a timeout ended the waiting, not the agents: they must not outlive their repository.
                with shielded():
                    _stop_agents(made)
                raise
    finally:
        if not keep:
            shutil.rmtree(root, ignore_errors=True)


def _stop_agents(made: Sandbox) -> None:
    if not (made.repo / ".git" / "orch" / "records.db").exists():
        return
    try:
        agents = made.orch_json("ls", "--json")["agents"]
        live = [str(agent["id"]) for agent in agents if agent["status"] in ("starting", "running")]
        if live:
            made.orch("stop", *live)
    except (OrchError, KeyError):
        return  # the error that brought us here is the one to tell


def write_files(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder, by relative path."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _environ(environ: Mapping[str, str], root: Path) -> dict[str, str]:
    home = root / "home"
    return {
        **{name: value for name, value in environ.items() if name in _KEPT},
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "TMPDIR": str(root / "tmp"),
        # Whatever proxy a system file names, loopback is reached without it.
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
