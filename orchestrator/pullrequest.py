"""A pull request for an agent's branch: pushed because the person's command says so, opened through `gh`."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.agent import Agent
from orchestrator.digest import digest_of
from orchestrator.errors import GitProblem, UsageProblem
from orchestrator.git import last_line
from orchestrator.merging import require_source
from orchestrator.process import ProcessFault, run, scrubbed
from orchestrator.project import Project
from orchestrator.records import Records

_SECONDS = 600.0


@dataclass(frozen=True, kw_only=True)
class Opened:
    """The pull request; `already` when the branch had one, which now shows what was pushed."""

    url: str
    branch: str
    into: str
    remote: str
    already: bool


def open_pull_request(
    project: Project,
    records: Records,
    agent: Agent,
    environ: Mapping[str, str],
    *,
    into: str,
    remote: str,
    title: str | None,
    draft: bool,
    tell: Callable[[str], None],
) -> Opened:
    """Push the agent's branch to the remote, never by force, and open a pull request, or find the one that is open.

    Raises UsageProblem without `gh` or without that remote, WorkAtRisk for uncommitted work, GitProblem when the push
    or `gh` fails.
    """
    program = shutil.which("gh", path=environ.get("PATH"))
    if program is None:
        raise UsageProblem("orch pr needs gh, GitHub's command line", "https://cli.github.com, then: gh auth login")
    source = require_source(project, records, agent)
    git = project.git()
    branch = agent.branch
    if branch is None or git.commit(f"refs/heads/{branch}") != source.commit:
        raise UsageProblem(f"agent {agent.id} is not on its branch {branch}", f"look into {agent.worktree}")
    if remote not in git.text("remote").splitlines():
        raise UsageProblem(f"there is no remote {remote}", "git remote -v lists them; --remote NAME")
    tell(f"pushing {branch} to {remote}")
    try:
        git.run("push", "--quiet", remote, f"refs/heads/{branch}:refs/heads/{branch}", timeout=_SECONDS)
    except ProcessFault as exc:
        raise GitProblem(
            f"the push of {branch} to {remote} failed: {last_line(exc)}", "orch never pushes by force; see git push"
        ) from exc
    folder = Path(agent.worktree) if Path(agent.worktree).is_dir() else project.root
    known = _existing(program, branch, folder, environ)
    if known is None:
        words = ["--head", branch, "--base", into, "--title", title or _title(agent), "--body", render_body(agent)]
        command = [program, "pr", "create", *words, *(["--draft"] if draft else [])]
        try:
            done = run(command, cwd=folder, environ=scrubbed(environ), timeout=_SECONDS)
        except ProcessFault as exc:
            raise GitProblem(f"gh could not open it: {last_line(exc)}", f"{branch} is pushed; gh pr create") from exc
        lines = [line for line in done.text.splitlines() if line.startswith("http")]
        url = lines[-1] if lines else done.text.strip()
    else:
        url = known
    records.add_event("pull-request", agent.id, url=url, branch=branch, into=into, remote=remote)
    return Opened(url=url, branch=branch, into=into, remote=remote, already=known is not None)


def _existing(program: str, branch: str, folder: Path, environ: Mapping[str, str]) -> str | None:
    command = [program, "pr", "view", branch, "--json", "url,state"]
    found = run(command, cwd=folder, environ=scrubbed(environ), timeout=_SECONDS, check=False)
    if found.code != 0:
        return None
    try:
        value: Any = json.loads(found.stdout)
    except ValueError:
        return None
    return str(value["url"]) if isinstance(value, dict) and value.get("state") == "OPEN" and "url" in value else None


def _title(agent: Agent) -> str:
    digest = digest_of(agent)
    if digest is not None and digest["commit_count"] == 1:
        return str(digest["commits"][0][1])
    return next((line.strip() for line in agent.task.splitlines() if line.strip()), f"Work of agent {agent.id}")[:72]


def render_body(agent: Agent) -> str:
    """The description: commits and checks. Neither the task nor the last message: they may not be for others."""
    digest = digest_of(agent)
    lines = [f"By a coding agent ({agent.backend}).", ""]
    if digest is not None:
        lines += [f"- {subject}" for _, subject in digest["commits"]]
        if digest["checks"]:
            results = [f"{each['name']} {'passed' if each['passed'] else 'FAILED'}" for each in digest["checks"]]
            lines += ["", f"Checks: {', '.join(results)}."]
    return "\n".join(lines).rstrip() + "\n"
