"""A merge that changes the memory while the checkout's own memory has changes that nobody has committed yet.

Those are mostly ours: proposals land in the file, and orch commits nothing. Git would refuse such a merge. Here the
file takes the merged lines, and what was not committed stays so on top of them; where that is not sure, nothing is
done, and the person is told to commit first.
"""

import difflib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory.document import Document, parse
from memory.edit import insert_entry
from memory.errors import MemoryFault
from orchestrator.beliefs import MEMORY_FILE
from orchestrator.errors import WorktreeProblem
from orchestrator.git import Git
from orchestrator.locks import held
from orchestrator.memory_file import replace_file
from orchestrator.process import ProcessFault
from orchestrator.project import Project

_REGULAR = ("100644", "100755")


@contextmanager
def memory_carried_over(project: Project, before: str, result: str) -> Iterator[None]:
    """Let git move the main checkout from `before` to `result` in the block, with the memory's own changes kept.

    Raises WorktreeProblem, with everything as it was, where the two cannot surely be made one. When the block fails,
    the file and the index are put back.
    """
    assert project.memory_path is not None
    path, git = project.memory_path, project.git()
    with held(project.state / "memory.lock"):
        ours = path.read_bytes()
        base, theirs = _entry(git, before), _entry(git, result)
        merged = None
        if base is not None and theirs is not None and _is_plain(git, path, ours, (base[1], theirs[1])):
            merged = _merged(git, _content(git, base[1]), _content(git, theirs[1]), ours)
        if base is None or theirs is None or merged is None:
            raise _refusal(path)
        # The file first: a kill after it leaves a memory with the lines of both sides, and the same call goes on.
        if merged != ours:
            replace_file(path, merged)
        try:
            # Git keeps a changed file whose entry in the index is what the merge brings.
            git.run("update-index", "--cacheinfo", f"{theirs[0]},{theirs[1]},{MEMORY_FILE}")
            yield
        except BaseException:
            if path.read_bytes() == merged != ours:
                replace_file(path, ours)
            git.run("update-index", "--cacheinfo", f"{base[0]},{base[1]},{MEMORY_FILE}", check=False)
            raise


def _refusal(path: Path) -> WorktreeProblem:
    return WorktreeProblem(
        f"{path} has changes that nobody has committed (from agents, or your own), and the merge changes it too",
        f"git add {MEMORY_FILE} && git commit -m 'Take over what was learned' {MEMORY_FILE}, then repeat the command",
    )


def _entry(git: Git, commit: str) -> tuple[str, str] | None:
    """Mode and blob of the memory in a commit; None where it is no regular file there."""
    mode, _, rest = git.text("ls-tree", "--full-tree", commit, "--", MEMORY_FILE).partition(" ")
    return (mode, rest.split()[1]) if mode in _REGULAR else None


def _content(git: Git, blob: str) -> bytes:
    return git.run("cat-file", "blob", blob).stdout


def _is_plain(git: Git, path: Path, ours: bytes, known: tuple[str, str]) -> bool:
    """Whether the file is a regular one whose bytes are those that git would commit, with nothing else staged."""
    staged = git.text("ls-files", "--stage", "--", MEMORY_FILE).split()
    if path.is_symlink() or len(staged) != 4 or staged[1] not in known:
        return False
    filtered = git.run("hash-object", "--stdin", f"--path={MEMORY_FILE}", stdin=ours).text
    return filtered == git.run("hash-object", "--stdin", "--no-filters", stdin=ours).text


def _merged(git: Git, base: bytes, theirs: bytes, ours: bytes) -> bytes | None:
    """The file with the changes of both sides; None where they touch the same lines."""
    try:
        by_entry = _by_entry(parse(base), parse(theirs), parse(ours))
    except MemoryFault:
        return None
    return _by_line(git, base, theirs, ours) if by_entry is None else by_entry


def _by_entry(base: Document, theirs: Document, ours: Document) -> bytes | None:
    """Their file with the entries that ours has besides; None where ours has done more than to add entries."""
    known = {entry.id for entry in base.entries}
    added = [entry for entry in ours.entries if entry.id not in known]
    sections = {entry.section for entry in added}
    lines = {number for entry in added for number in range(entry.first_line, entry.last_line + 1)}
    lines |= {number for name, number in ours.headings if name in sections}
    if not _only_inserted(base, ours, lines) or any(entry.superseded or not entry.section for entry in added):
        return None
    for entry in added:
        if entry.id not in {each.id for each in theirs.entries}:
            theirs = insert_entry(theirs, entry.text, section=entry.section, tag=entry.tag)
    return theirs.serialise()


def _only_inserted(base: Document, ours: Document, numbers: set[int]) -> bool:
    """Whether ours is the base with these lines put in, and blank ones."""
    old, new = ([line.rstrip("\r\n") for line in document.lines] for document in (base, ours))
    return all(
        kind == "equal" or (kind == "insert" and all(n in numbers or not new[n].strip() for n in range(first, last)))
        for kind, _, _, first, last in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    )


def _by_line(git: Git, base: bytes, theirs: bytes, ours: bytes) -> bytes | None:
    with git.folder("memory") as folder:
        names = []
        for name, content in (("ours", ours), ("base", base), ("theirs", theirs)):
            (folder / name).write_bytes(content)
            names.append(os.fspath(folder / name))
        try:
            done = git.run("merge-file", "-p", "-q", *names, check=False)
        except ProcessFault:
            return None
    return done.stdout if done.code == 0 else None
