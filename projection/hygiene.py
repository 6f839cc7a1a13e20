"""Git hygiene of a block: an agent's worktree shows no trace of it, and no object that is made there holds it.

The order of a spawn, each step tried with git 2.39:

1. `git worktree add --no-checkout -b BRANCH PATH BASE`: registers the worktree, runs no hook;
2. `write_hygiene`: from here every git process in that worktree, and in no other, has the filter and the excludes;
3. `git checkout --quiet` in it (or `git reset --hard`): the smudge filter writes the block, the index records the stat
   of the file with the block, and `git status` is empty from the start. Its post-checkout hook is best held back
   (`core.hooksPath=/dev/null`) and run afterwards by `git hook run`, with the arguments that `worktree add` gives it;
4. `projection.placement.write_block`: makes the file where the commit has none (elsewhere it finds the block there).

A block that is written into a file that git has checked out shows as modified, because git compares sizes before
contents: after `write_block` or `remove_block` said that it changed a tracked file, its index entry has to be entered
anew (`orchestrator.seams.refresh_entry`).

Nothing here starts git. The caller holds the project's lock.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from projection import filter as block_filter
from projection.faults import HygieneFault, write_hint
from projection.gitconfig import add_include, has_include, remove_include, rewrite_config
from projection.gitfiles import (
    exclude_line,
    glob_quoted,
    render_agent_config,
    render_attributes,
    render_include,
    render_plain_config,
    render_sections,
)

_AGENT_FILES = ("gitconfig", "excludes", "attributes", "block", "hidden")
_SECTION = re.compile(
    rb'^\[includeIf "gitdir:(?P<pattern>(?:[^"\\]|\\.)*)"\]\n\tpath = agents/(?P<agent>[^/\n]+)/gitconfig\n',
    re.MULTILINE,
)


@dataclass(frozen=True, kw_only=True)
class Hygiene:
    """Where an agent's git configuration goes.

    `common_dir` is the git common directory, `gitdir` the git directory of the agent's worktree, `agent_dir` the
    agent's directory, `<common_dir>/orch/agents/<agent_id>`. `user_excludes` and `user_attributes` are the files that
    git would use without us (`core.excludesFile`, `core.attributesFile`, else git's defaults): they go on to hold.
    """

    common_dir: Path
    gitdir: Path
    agent_dir: Path
    agent_id: str
    user_excludes: Path | None = None
    user_attributes: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Leftover:
    """Something of ours in git's configuration that nothing stands behind; `agent_id` is None for the entry itself."""

    agent_id: str | None
    what: str


@contextmanager
def _writing() -> Iterator[None]:
    """Raise HygieneFault, with the file's name, for what cannot be written in the block."""
    try:
        yield
    except OSError as exc:
        raise HygieneFault(
            f"cannot write {exc.filename}: {exc.strerror}", write_hint(exc, "check its owner and mode")
        ) from exc


def write_hygiene(hygiene: Hygiene, seam_file: str, block: bytes, python: str, *, hide: bool = True) -> None:
    """Write the agent's git configuration and make git read it. `python` runs the filter.

    `hide` excludes the seam file, for a commit that has none; see `unhide`.
    Raises HygieneFault when something cannot be written or is held by another program for long.
    """
    folder, state = hygiene.agent_dir, hygiene.common_dir / "orch"
    with _writing():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(folder / "block", block)
        # The seam file has the last line, by which it is found.
        last = exclude_line(seam_file) if hide else b""
        _write(folder / "excludes", _plain_excludes(hygiene) + last)
        _write(folder / "attributes", render_attributes(_user_lines(hygiene.user_attributes), seam_file))
        _write(folder / "gitconfig", render_agent_config(folder, state / "filter.py", python))
        _write(state / "filter.py", Path(block_filter.__file__).read_bytes())
        sections = {**_sections(state / "gitconfig"), hygiene.agent_id: _gitdir_pattern(hygiene)}
        _write(state / "gitconfig", render_sections(sections))
    rewrite_config(hygiene.common_dir / "config", add_include)
    _outrank_worktree_config(hygiene)


def hide_paths(hygiene: Hygiene, paths: Iterable[str]) -> None:
    """Let git not see these untracked files of the agent's worktree (relative to its top, `/` between the parts).

    Adds to what `write_hygiene` wrote, and makes do without it. Raises HygieneFault as that does.
    """
    folder, state = hygiene.agent_dir, hygiene.common_dir / "orch"
    lines = b"".join(map(exclude_line, paths))
    with _writing():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        rest = _load(folder / "excludes")
        _write(folder / "excludes", lines + (_plain_excludes(hygiene) if rest is None else rest))
        _write(folder / "hidden", lines + (_load(folder / "hidden") or b""))
        if _load(folder / "gitconfig") is None:
            _write(folder / "gitconfig", render_plain_config(folder))
        sections = {**_sections(state / "gitconfig"), hygiene.agent_id: _gitdir_pattern(hygiene)}
        _write(state / "gitconfig", render_sections(sections))
    rewrite_config(hygiene.common_dir / "config", add_include)
    _outrank_worktree_config(hygiene)


def remove_hygiene(common_dir: Path, agent_id: str) -> None:
    """Take an agent's git configuration away; with the last one, the repository's own is what it was, byte for byte."""
    state = common_dir / "orch"
    with _writing():
        sections = _sections(state / "gitconfig")
        sections.pop(agent_id, None)
        if sections:
            _write(state / "gitconfig", render_sections(sections))
        else:
            rewrite_config(common_dir / "config", remove_include)
            (state / "gitconfig").unlink(missing_ok=True)
            (state / "filter.py").unlink(missing_ok=True)
        for name in _AGENT_FILES:
            (state / "agents" / agent_id / name).unlink(missing_ok=True)


def remove_block_hygiene(hygiene: Hygiene) -> None:
    """Take away what the block needed, and keep what hides other files of the worktree (`hide_paths`)."""
    folder = hygiene.agent_dir
    if not _load(folder / "hidden"):
        remove_hygiene(hygiene.common_dir, hygiene.agent_id)
        return
    with _writing():
        _write(folder / "excludes", _plain_excludes(hygiene))
        _write(folder / "gitconfig", render_plain_config(folder))
        for name in ("attributes", "block"):
            (folder / name).unlink(missing_ok=True)


def unhide(agent_dir: Path, worktree: Path, seam_file: str) -> bool:
    """Let git see a file that orch made, as soon as it holds more than the block; whether that happened just now.

    Cheap (two or three small reads, no git): meant to be called about once a second while the agent runs.
    """
    from projection.placement import own_content

    excludes = agent_dir / "excludes"
    line = exclude_line(seam_file)
    try:
        content = excludes.read_bytes()
        if not content.endswith(line) or not own_content(worktree / seam_file, _load(agent_dir / "block")):
            return False
        _write(excludes, content.removesuffix(line))
    except OSError:
        return False
    return True


def is_hidden(agent_dir: Path, seam_file: str) -> bool:
    """Whether git does not see the seam file: orch made it, and nothing but the block was seen in it."""
    return (_load(agent_dir / "excludes") or b"").endswith(exclude_line(seam_file))


def leftovers(common_dir: Path) -> tuple[Leftover, ...]:
    """What of ours stands in the git configuration with nothing behind it, for `orch doctor`."""
    state = common_dir / "orch"
    sections = _sections(state / "gitconfig")
    found = [Leftover(agent_id=agent, what=what) for agent, what in _broken(common_dir, sections)]
    config = common_dir / "config"
    included = has_include(_load(config) or b"")
    if included and not sections:
        found.append(Leftover(agent_id=None, what=f"{config} includes orch/gitconfig, which no agent needs"))
    if sections and not included:
        found.append(Leftover(agent_id=None, what=f"{config} does not include orch/gitconfig, which agents need"))
    return tuple(found)


def repair_hygiene(common_dir: Path) -> None:
    """Make the configuration true again: drop sections that nothing stands behind, add or remove the entry."""
    state = common_dir / "orch"
    for agent, _ in _broken(common_dir, _sections(state / "gitconfig")):
        remove_hygiene(common_dir, agent)
    change = add_include if _sections(state / "gitconfig") else remove_include
    rewrite_config(common_dir / "config", change)


def _sections(path: Path) -> dict[str, bytes]:
    content = _load(path) or b""
    return {
        os.fsdecode(found["agent"]): re.sub(rb"\\(.)", rb"\1", found["pattern"]) for found in _SECTION.finditer(content)
    }


def _broken(common_dir: Path, sections: Iterable[str]) -> list[tuple[str, str]]:
    patterns = _sections(common_dir / "orch" / "gitconfig")
    found = []
    for agent in sections:
        name = re.sub(rb"\\(.)", rb"\1", patterns[agent]).rpartition(b"/")[2]
        if not (common_dir / "orch" / "agents" / agent / "gitconfig").is_file():
            found.append((agent, f"agent {agent} has a section in orch/gitconfig, but no git configuration"))
        elif not (common_dir / "worktrees" / os.fsdecode(name)).is_dir():
            found.append((agent, f"agent {agent} has git configuration, but its worktree is not registered any more"))
    return found


def _gitdir_pattern(hygiene: Hygiene) -> bytes:
    """The pattern that matches the worktree's git directory, and no other that reads this repository's config.

    It names the last three parts (`**/.git/worktrees/NAME`): a path that git sees through a symbolic link (`/tmp` on
    macOS), with glob characters or a line break in it, would need care, and a moved repository new sections.
    """
    base = os.fsencode(os.path.realpath(hygiene.common_dir)).rpartition(b"/")[2]
    name = os.fsencode(os.path.realpath(hygiene.gitdir)).rpartition(b"/")[2]
    if b"\n" in base + name:
        raise HygieneFault(f"the name of {hygiene.gitdir} holds a line break, which git's configuration cannot say")
    return b"**/" + glob_quoted(base) + b"/worktrees/" + glob_quoted(name)


def _outrank_worktree_config(hygiene: Hygiene) -> None:
    """Keep a `config.worktree` from undoing ours: it is read last, and `git worktree add` copies the main checkout's.

    It belongs to this one worktree and goes with it; what it includes may go before.
    """
    path = hygiene.gitdir / "config.worktree"
    line = render_include(hygiene.agent_dir / "gitconfig")
    if path.is_file():
        rewrite_config(path, lambda config: config if line in config else config.removesuffix(b"\n") + b"\n" + line)


def _plain_excludes(hygiene: Hygiene) -> bytes:
    return (_load(hygiene.agent_dir / "hidden") or b"") + _user_lines(hygiene.user_excludes)


def _user_lines(path: Path | None) -> bytes:
    content = (None if path is None else _load(path)) or b""
    return content if not content or content.endswith(b"\n") else content + b"\n"


def _load(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _write(path: Path, content: bytes) -> None:
    """Write atomically, and not at all where the content is there already: git may be reading."""
    if _load(path) == content:
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
