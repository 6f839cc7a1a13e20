"""Keeping everything that an agent's worktree holds under a ref, before anything of it is deleted.

Nothing of the worktree is changed: not its index, not its refs. Everything goes through throw-away index files. What
can differ from what git would check out is kept as the exact bytes on disk; the rest is in the index's own objects.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.agent import Agent
from orchestrator.changes import snapshot_tree
from orchestrator.errors import WorkAtRisk
from orchestrator.git import Git, last_line
from orchestrator.kept import FILES, MANIFEST, Item, Kept, Manifest, kept_ref
from orchestrator.nested import find_nested
from orchestrator.process import ProcessFault
from orchestrator.project import Project
from orchestrator.seams import unhide
from projection.filter import clean, clean_copies

_SECONDS = 1800.0
_IDENTITY = {
    "GIT_AUTHOR_NAME": "orch",
    "GIT_AUTHOR_EMAIL": "orch@localhost",
    "GIT_COMMITTER_NAME": "orch",
    "GIT_COMMITTER_EMAIL": "orch@localhost",
}
# Registration of the worktree itself, made anew by `git worktree add`; and locks, which nobody holds any more.
_NOT_KEPT = frozenset({"gitdir", "commondir", "locked", "orch-agent"})
# Where an operation in progress names commits that no ref holds.
_HEADS = ("ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "AUTO_MERGE", "BISECT_HEAD")
_STATES = ("rebase-merge/orig-head", "rebase-merge/onto", "rebase-merge/stopped-sha", "rebase-apply/orig-head")


@dataclass(kw_only=True)
class _Load:
    """What is collected: items, and for each item with content its bytes, or the file that holds them."""

    items: list[Item] = field(default_factory=list)
    contents: list[bytes | Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, area: str, path: str, kind: str, mode: int, content: bytes | Path) -> None:
        self.items.append(Item(area=area, path=path, kind=kind, mode=mode, number=len(self.contents)))
        self.contents.append(content)


def capture(project: Project, agent: Agent, gitdir: Path, *, include: Sequence[str] = ()) -> Kept:
    """Keep the agent's worktree under its ref and return that. `include` are patterns of ignored files to keep too.

    Raises WorkAtRisk when something cannot be read: then nothing may be deleted. The caller holds the project's lock.
    """
    worktree = Path(agent.worktree)
    git = project.git(worktree)
    if agent.seam_file is not None:
        # What the agent wrote into a file of ours after the last look of its supervisor.
        unhide(project.agents / agent.id, worktree, agent.seam_file)
    load = _Load()
    try:
        nested = tuple(find_nested(git, worktree))
        block = _Block(agent, project.agents / agent.id / "block")
        _collect_tree(git, worktree, "", load, block, include)
        _collect_git(gitdir, "", load, skip=_NOT_KEPT, area="git")
        for path in nested:
            _collect_nested(git, path, gitdir, load, block)
        return _write(project, git, agent, gitdir, nested, load)
    except ProcessFault as exc:
        raise WorkAtRisk(
            f"the work of agent {agent.id} cannot be kept: {last_line(exc)}", f"nothing was deleted; look at {worktree}"
        ) from exc
    except OSError as exc:
        raise WorkAtRisk(
            f"the work of agent {agent.id} cannot be kept: {exc.filename}: {exc.strerror}",
            "nothing was deleted; change its mode, or move it away",
        ) from exc


class _Block:
    """Takes the memory block out of what is kept, as git's filter does for what is committed."""

    def __init__(self, agent: Agent, path: Path) -> None:
        self._seam_file = agent.seam_file
        self._block = path.read_bytes() if path.is_file() else None

    def without(self, path: str, source: Path) -> bytes | Path:
        """The content to keep: the file itself where there can be no block in it."""
        if path == self._seam_file:
            return clean(source.read_bytes(), self._block)
        if self._block is not None and path.endswith((".md", ".mdc")):
            return clean_copies(source.read_bytes(), self._block)
        return source


def _collect_tree(git: Git, top: Path, prefix: str, load: _Load, block: _Block, include: Sequence[str]) -> None:
    """Everything in a checkout that a checkout of its index would not bring back, byte for byte and mode for mode."""
    for path in _differing(git, top, include):
        shown = prefix + path
        source = top / path
        try:
            found = source.lstat()
        except (FileNotFoundError, NotADirectoryError):
            load.items.append(Item(area="tree", path=shown, kind="gone"))
            continue
        mode = stat.S_IMODE(found.st_mode)
        if stat.S_ISLNK(found.st_mode):
            load.add("tree", shown, "link", mode, os.fsencode(source.readlink()))
        elif stat.S_ISREG(found.st_mode):
            load.add("tree", shown, "file", mode, block.without(shown, source))
        elif stat.S_ISDIR(found.st_mode):
            # A file of the index has become a directory; what is in it is listed by itself, or a repository.
            load.items.append(Item(area="tree", path=shown, kind="gone"))
        else:
            load.notes.append(f"{shown} is a special file (a pipe or a socket) and is not kept")


def _differing(git: Git, top: Path, include: Sequence[str]) -> list[str]:
    with git.folder("index") as folder:
        index = Path(git.text("rev-parse", "--path-format=absolute", "--git-path", "index"))
        copy = folder / "index"
        if index.exists():
            copy.write_bytes(index.read_bytes())
        other = git.with_environ({"GIT_INDEX_FILE": os.fspath(copy)})
        other.run("update-index", "-q", "--really-refresh", check=False, timeout=_SECONDS)
        found = dict.fromkeys(_names(other, "diff-files", "-z", "--name-only", "--ignore-submodules=all"))
        found |= dict.fromkeys(_names(other, "ls-files", "-z", "--others", "--exclude-standard"))
        if include:
            patterns = folder / "include"
            patterns.write_bytes(b"".join(os.fsencode(line) + b"\n" for line in include))
            found |= dict.fromkeys(
                _names(other, "ls-files", "-z", "--others", "--ignored", f"--exclude-from={patterns}")
            )
        found |= dict.fromkeys(_flagged(other, top))
        found |= dict.fromkeys(_converted(other, top))
        found |= dict.fromkeys(_unusual(other, top))
    # A name that ends in `/` is a repository of its own, and is kept as such.
    return [name for name in found if not name.endswith("/")]


def _names(git: Git, *command: str) -> list[str]:
    listed = git.run(*command, timeout=_SECONDS).stdout
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def _flagged(git: Git, top: Path) -> Iterator[str]:
    """Files that git was told not to look at (`--skip-worktree`, `--assume-unchanged`), where they are on disk."""
    for line in _names(git, "ls-files", "-z", "-v"):
        tag, _, path = line.partition(" ")
        if (tag == "S" or tag.islower()) and os.path.lexists(top / path):
            yield path


def _unusual(git: Git, top: Path) -> Iterator[str]:
    """Tracked files with permissions that a checkout would not give them: git itself only knows `x`."""
    umask = os.umask(0o022)
    os.umask(umask)
    usual = (0o666 & ~umask, 0o777 & ~umask)
    for path in _names(git, "ls-files", "-z", "--cached"):
        try:
            found = (top / path).lstat().st_mode
        except OSError:
            continue
        if stat.S_ISREG(found) and stat.S_IMODE(found) not in usual:
            yield path


def _converted(git: Git, top: Path) -> Iterator[str]:
    """Files whose line endings on disk differ from those in the index: a checkout may write others."""
    settings = git.run("config", "--get-regexp", r"^core\.(autocrlf|eol|attributesfile)$", check=False).stdout
    attributes = git.run("ls-files", "--", ".gitattributes", "**/.gitattributes").stdout
    if not settings and not attributes and not (top / ".gitattributes").exists():
        return
    for line in _names(git, "ls-files", "-z", "--eol"):
        facts, _, path = line.partition("\t")
        words = facts.split()
        if len(words) >= 2 and words[0].removeprefix("i/") != words[1].removeprefix("w/") and words[1] != "w/":
            yield path


def _collect_git(folder: Path, prefix: str, load: _Load, *, skip: frozenset[str], area: str) -> None:
    """Every file of a git directory: index, HEAD, operations in progress, reflogs, submodules with their objects."""

    def fail(exc: OSError) -> None:
        raise exc

    for parent, folders, files in os.walk(folder, onerror=fail):
        base = Path(parent)
        if not folders and not files and base != folder:
            # Git takes a directory without `refs` for no repository.
            load.items.append(Item(area=area, path=prefix + str(base.relative_to(folder)), kind="folder"))
        for name in sorted(files) + [each for each in folders if (base / each).is_symlink()]:
            source = base / name
            relative = str(source.relative_to(folder))
            if relative in skip or name.endswith(".lock"):
                continue
            found = source.lstat()
            if stat.S_ISLNK(found.st_mode):
                load.add(area, prefix + relative, "link", 0, os.fsencode(source.readlink()))
            elif stat.S_ISREG(found.st_mode):
                load.add(area, prefix + relative, "file", stat.S_IMODE(found.st_mode), source)


def _collect_nested(git: Git, path: str, gitdir: Path, load: _Load, block: _Block) -> None:
    """A repository inside the worktree: a submodule, or one that the agent made there."""
    top = git.cwd / path
    entry = top / ".git"
    if entry.is_dir():
        _collect_git(entry, f"{path}/.git/", load, skip=frozenset(), area="tree")
    else:
        load.add("tree", f"{path}/.git", "file", stat.S_IMODE(entry.lstat().st_mode), entry)
        target = Path(os.path.realpath(git.at(top).text("rev-parse", "--path-format=absolute", "--git-dir")))
        if not target.is_relative_to(gitdir):
            load.notes.append(f"{path} has its git directory elsewhere ({target}), which stays where it is")
    _collect_tree(git.at(top), top, f"{path}/", load, block, ())


def _write(project: Project, git: Git, agent: Agent, gitdir: Path, nested: tuple[str, ...], load: _Load) -> Kept:
    ref = kept_ref(agent.id)
    before = git.commit(ref)
    head = git.commit("HEAD")
    symbolic = git.run("symbolic-ref", "--quiet", "HEAD", check=False)
    manifest = Manifest(
        agent=agent.to_json(),
        worktree=agent.worktree,
        name=gitdir.name,
        head=symbolic.text if symbolic.code == 0 else None,
        head_commit=head,
        branch=agent.branch,
        branch_tip=git.commit(f"refs/heads/{agent.branch}") if agent.branch else None,
        nested=nested,
        items=tuple(load.items),
        notes=tuple(load.notes),
    )
    blobs = _blobs(git, [manifest.to_bytes(), *load.contents])
    files = b"".join(b"100644 blob %s\t%d\n" % (blob, number) for number, blob in enumerate(blobs[1:]))
    lines = [b"100644 blob %s\t%s\n" % (blobs[0], MANIFEST.encode())]
    lines.append(b"040000 tree %s\t%s\n" % (_tree(git, files), FILES.encode()))
    lines += [b"040000 tree %s\tindex-%d\n" % (tree, stage) for stage, tree in _index_trees(git)]
    # The kept state of an earlier removal stays reachable from the later one.
    parents = [head, manifest.branch_tip, before, *_loose_commits(git, gitdir)]
    state = os.fsdecode(_tree(git, b"".join(lines)))
    second = _commit(git, state, parents, f"State of agent {agent.id}, for orch restore")
    first = head or manifest.branch_tip or agent.base
    content = snapshot_tree(git, Path(agent.worktree))
    commit = _commit(git, content, [first, second], f"Work of agent {agent.id}, kept by orch")
    git.run("update-ref", "-m", "orch: keep", ref, commit, before or "0" * len(commit))
    return Kept(ref=ref, commit=commit, manifest=manifest, second=second)


def _commit(git: Git, tree: str, parents: Sequence[str | None], message: str) -> str:
    named = [f"-p{parent}" for parent in dict.fromkeys(parents) if parent is not None]
    return git.with_environ(_IDENTITY).text("commit-tree", *named, "-m", message, tree)


def _tree(git: Git, lines: bytes) -> bytes:
    return git.run("mktree", stdin=lines, timeout=_SECONDS).stdout.strip()


def _blobs(git: Git, contents: Sequence[bytes | Path]) -> list[bytes]:
    """Write each content as a blob, unfiltered, by one git process; return their ids."""
    with git.folder("keep") as folder:
        paths = []
        for number, content in enumerate(contents):
            if isinstance(content, bytes):
                path = folder / str(number)
                path.write_bytes(content)
                paths.append(path)
            else:
                with content.open("rb"):  # names the file that cannot be read, which git would not
                    paths.append(content)
        asked = b"".join(_quoted(os.fsencode(path)) + b"\n" for path in paths)
        hashed = git.run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=asked, timeout=_SECONDS)
        return hashed.stdout.split()


def _quoted(path: bytes) -> bytes:
    """A path as git reads it from a line: a C string, since a name may hold a line break or begin with a quote."""
    plain = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+ ")
    return b'"' + b"".join(bytes([byte]) if byte in plain else b"\\%03o" % byte for byte in path) + b'"'


def _index_trees(git: Git) -> list[tuple[int, bytes]]:
    """A tree for each stage of the index, so that the objects which it names stay."""
    stages: dict[int, list[bytes]] = {}
    for record in git.run("ls-files", "-z", "--stage", timeout=_SECONDS).stdout.split(b"\0")[:-1]:
        facts, _, path = record.partition(b"\t")
        mode, blob, stage = facts.split(b" ")
        stages.setdefault(int(stage), []).append(b"%s %s 0\t%s\0" % (mode, blob, path))
    found = []
    for number, records in sorted(stages.items()):
        with git.folder("index") as folder:
            other = git.with_environ({"GIT_INDEX_FILE": os.fspath(folder / "index")})
            other.run("update-index", "-z", "--add", "--index-info", stdin=b"".join(records), timeout=_SECONDS)
            found.append((number, other.run("write-tree", "--missing-ok", timeout=_SECONDS).stdout.strip()))
    return found


def _loose_commits(git: Git, gitdir: Path) -> list[str]:
    """Commits that only the worktree's reflog or an operation in progress still names."""
    named = git.run("log", "--walk-reflogs", "--format=%H", "HEAD", check=False).text.split()
    for name in (*_HEADS, *_STATES):
        path = gitdir / name
        if path.is_file():
            named += [word for word in path.read_text(errors="replace").split() if len(word) in (40, 64)]
    for path in (gitdir / "refs").rglob("*"):
        if path.is_file():
            named.append(path.read_text(errors="replace").strip())
    asked = "".join(f"{name}^{{commit}}\n" for name in dict.fromkeys(named) if name.isalnum()).encode()
    checked = git.run("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked).text.splitlines()
    known = [line.partition(" ")[0] for line in checked if line.endswith(" commit")]
    if not known:
        return []
    heads = [name for name in ("HEAD",) if git.commit(name)]
    listed = git.text("rev-list", "--children", *known, "--not", *heads)
    return [words[0] for line in listed.splitlines() if len(words := line.split()) == 1]
