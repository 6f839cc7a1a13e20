"""What orch stands on, as `orch doctor` looks at it: git, the configuration, the backends, the memory file."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from adapters.adapter import Adapter
from orchestrator.backends import backends, executable
from orchestrator.config import load_config
from orchestrator.config_schema import Config
from orchestrator.errors import ConfigProblem, OrchError, RecordsProblem
from orchestrator.executables import load_program
from orchestrator.finding import Finding, State
from orchestrator.git import Git
from orchestrator.process import ProcessFault
from orchestrator.project import Project
from orchestrator.records import Records
from orchestrator.settings import load_settings

# `git hook run` came with 2.36, `git merge-tree --write-tree` with 2.38; the git hygiene was measured from 2.39 on.
_NEEDED_GIT = (2, 38)
_MEASURED_GIT = (2, 39)


def look_at_git(cwd: Path) -> Iterator[Finding]:
    """Git's version, and whether an agent can commit."""
    git = Git(cwd=cwd)
    try:
        said = git.text("--version")
    except ProcessFault as exc:
        yield Finding(state="fault", area="git", text=f"git cannot be started: {exc}", hint="install git 2.39 or later")
        return
    yield judge_git_version(said)
    for key in ("user.name", "user.email"):
        if git.config(key) is None:
            yield Finding(
                state="warning",
                area="git",
                text=f"{key} is not set, so agents cannot commit",
                hint=f"git config --global {key} VALUE",
            )


def judge_git_version(said: str) -> Finding:
    """What the answer of `git --version` means for us."""
    found = re.search(r"(\d+)\.(\d+)[\d.]*", said)
    if found is None:
        return Finding(state="warning", area="git", text=f"git does not tell its version: {said}")
    version = (int(found[1]), int(found[2]))
    if version < _NEEDED_GIT:
        return Finding(state="fault", area="git", text=f"git {found[0]} is too old", hint="install git 2.39 or later")
    if version < _MEASURED_GIT:
        return Finding(
            state="warning", area="git", text=f"git {found[0]}: measured from 2.39 on", hint="install git 2.39 or later"
        )
    return Finding(state="ok", area="git", text=f"git {found[0]}")


def look_at_config(project: Project | None, environ: Mapping[str, str]) -> tuple[Config, list[Finding]]:
    """The configuration, or the defaults and a fault where it is broken."""
    try:
        config = load_settings(project, environ) if project is not None else load_config(None, environ)
    except ConfigProblem as exc:
        return Config(), [Finding(state="fault", area="config", text=exc.message, hint=exc.hint)]
    findings = [Finding(state="warning", area="config", text=note) for note in config.notes]
    findings += [
        Finding(
            state="warning",
            area="config",
            text=f"the guidance file {file} cannot be read",
            hint=f"write it, or take it out of guidance ({config.sources.get('guidance', 'defaults')})",
        )
        for file in config.guidance
        if not os.access(file, os.R_OK)
    ]
    count = len(config.sources)
    findings.append(Finding(state="ok", area="config", text=f"{count} keys set" if count != 1 else "1 key set"))
    return config, findings


def look_at_backends(config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Each backend: found, its version, and whether the adapter was measured on it."""
    for adapter in backends(config).values():
        yield _look_at_backend(adapter, config, environ)


def _look_at_backend(adapter: Adapter, config: Config, environ: Mapping[str, str]) -> Finding:
    path = executable(adapter, config, environ)
    area = f"backend {adapter.name}"
    if path is None:
        return Finding(state="absent", area=area, text="not installed", hint=adapter.install)
    if not adapter.version_args:
        return Finding(state="ok", area=area, text=str(path))
    program = load_program(adapter, path, environ)
    if program.version is None:
        return Finding(
            state="warning", area=area, text=f"{path} does not tell its version", hint=f"try: {path} --version"
        )
    text = f"{program.version} ({path})"
    measured = " to ".join(dict.fromkeys(adapter.tested))
    if program.newer:
        return Finding(state="warning", area=area, text=f"{text} is newer than measured ({measured})")
    if program.older:
        return Finding(
            state="warning", area=area, text=f"{text} is older than measured ({measured})", hint=adapter.install
        )
    return Finding(state="ok", area=area, text=text)


def look_at_mirrors(project: Project, config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether each mirror says what the next agent reads, and none is left that is switched off."""
    from orchestrator.injection import load_injection
    from orchestrator.mirror import find_faults, renew_mirrors

    def repair() -> str:
        renew_mirrors(project, config, environ)
        return "done"

    try:
        faults = tuple(find_faults(project, config, load_injection(project, config).text, environ))
    except OrchError:
        return  # a memory that cannot be read is told of already
    for each in faults:
        state: State = "fault" if each.damaged else "warning"
        fix = None if each.damaged else repair
        yield Finding(state=state, area="mirror", text=each.what, hint=each.hint, repair=fix)


def look_at_memory(project: Project, config: Config) -> Iterator[Finding]:
    """Whether the next agent gets the memory, and what the memory's readers remark."""
    from orchestrator.injection import load_injection
    from orchestrator.memory_lint import lint_memory

    try:
        injection = load_injection(project, config)
        remarks = lint_memory(project, config, Records(path=project.records))
    except RecordsProblem:
        yield Finding(state="fault", area="memory", text="it cannot be judged without the records", hint="see there")
        return
    except OrchError as exc:
        yield Finding(state="fault", area="memory", text=exc.message, hint=exc.hint)
        return
    for remark in remarks:
        line = f"line {remark.line}: " if remark.line is not None else ""
        yield Finding(
            state="warning", area="memory", text=f"{line}{remark.kind}: {remark.what}", hint="orch memory lint"
        )
    for note in injection.notes:
        if any(remark.what in note for remark in remarks):
            continue
        yield Finding(state="warning", area="memory", text=note, hint="orch memory --explain")
    size = len(injection.text.encode())
    text = f"{size} bytes reach the next agent" if size else "nothing reaches the next agent (empty, or switched off)"
    yield Finding(state="ok", area="memory", text=text)
