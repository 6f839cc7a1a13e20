"""Bringing a removed agent's branch and worktree back: every byte and mode, and the index as it was."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from orchestrator.agent import Agent, Status
from orchestrator.errors import GitProblem, UsageProblem, WorktreeProblem
from orchestrator.gate import claim, claimed
from orchestrator.git import Git, last_line
from orchestrator.kept import Item, Kept, Manifest, blob_contents, load_kept
from orchestrator.locks import held
from orchestrator.operation import operation, without_operation, write_step
from orchestrator.process import ProcessFault
from orchestrator.project import Project
from orchestrator.records import Records
from orchestrator.registrations import Registration, registrations
from orchestrator.worktree import git_directory

Tell = Callable[[str], None]
_SECONDS = 1800.0
# Contents are read in groups of so many bytes at most, so that a large worktree needs no large memory.
_GROUP = 64


def restore_agent(
    project: Project, records: Records, agent: Agent, *, path: Path | None = None, tell: Tell = lambda _: None
) -> Agent:
    """Restore from `refs/orch/kept/<id>`; the ref stays. `path` is another place for the worktree.

    The agent's memory block is not put back: it was never kept. Raises UsageProblem when the agent is not removed or
    nothing is kept of it, WorktreeProblem when a path or branch is in the way. After a crash, the same call goes on.
    """
    with held(project.lock, tell):
        agent = records.agent(agent.id) or agent
        begun = operation(agent)
        if begun is not None and begun["kind"] == "rm":
            raise UsageProblem(f"orch rm of agent {agent.id} was interrupted", f"let it go on: orch rm {agent.id}")
        going_on = begun is not None and begun["kind"] == "restore"
        if agent.status is not Status.REMOVED and not going_on:
            raise UsageProblem(f"agent {agent.id} is not removed: its worktree is {agent.worktree}")
        kept = load_kept(project, agent.id)
        if kept is None:
            raise UsageProblem(f"nothing is kept of agent {agent.id}", "git for-each-ref refs/orch/kept lists what is")
        target = Path(begun["path"]) if going_on and begun is not None else (path or Path(agent.worktree))
        _restore(project, records, agent, kept, target, tell, going_on=going_on)
        restored = records.change_agent(
            agent.id, lambda a: without_operation(a).changed(status=Status.ENDED, worktree=str(target))
        )
        records.add_event("restored", agent.id, commit=kept.commit, worktree=str(target))
        return restored


def _restore(
    project: Project, records: Records, agent: Agent, kept: Kept, target: Path, tell: Tell, *, going_on: bool
) -> None:
    manifest = kept.manifest or _plain(agent, kept, target)
    listed = registrations(project)
    entry = next((each for each in listed if each.path == target), None)
    _check_place(project, agent, target, entry, going_on=going_on)
    head = _head(project, manifest, listed, target, tell)
    _check_branch(project, manifest, listed, target)
    write_step(records, agent.id, "restore", "begun", path=str(target))
    records.change_agent(agent.id, lambda a: a.changed(worktree=str(target)))
    _restore_branch(project, manifest)
    write_step(records, agent.id, "restore", "branch", path=str(target))
    commit = manifest.head_commit or manifest.branch_tip or agent.base
    if entry is None:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            project.git().run("worktree", "add", "--quiet", "--no-checkout", "--detach", str(target), commit)
        except ProcessFault as exc:
            raise WorktreeProblem(f"git worktree add failed: {last_line(exc)}", "the work is still kept") from exc
    gitdir = git_directory(project, target)
    claim(gitdir, agent.id)
    write_step(records, agent.id, "restore", "registered", path=str(target))
    _fill(project, kept, manifest, target, gitdir, head)
    if agent.seam_file:
        _forget_size(project.git(target), agent.seam_file)


def _plain(agent: Agent, kept: Kept, target: Path) -> Manifest:
    """For an agent whose worktree was gone already: only its branch was kept."""
    branch = agent.branch
    return Manifest(
        agent={},
        worktree=str(target),
        name=target.name,
        head=f"refs/heads/{branch}" if branch else None,
        head_commit=kept.commit,
        branch=branch,
        branch_tip=kept.commit if branch else None,
    )


def _check_place(project: Project, agent: Agent, target: Path, entry: Registration | None, *, going_on: bool) -> None:
    other = f"orch restore {agent.id} --path DIRECTORY"
    if entry is not None:
        if not entry.missing and going_on and claimed(git_directory(project, target)) in (agent.id, None):
            return
        raise WorktreeProblem(f"git lists another worktree at {target}", other)
    if os.path.lexists(target) and not (target.is_dir() and not target.is_symlink() and not any(target.iterdir())):
        raise WorktreeProblem(f"the path {target} is in the way", f"move it away, or: {other}")
    if target.is_relative_to(project.common_dir):
        raise WorktreeProblem(f"{target} is inside the git directory", other)


def _head(
    project: Project, manifest: Manifest, listed: tuple[Registration, ...], target: Path, tell: Tell
) -> str | None:
    """The ref that HEAD is to name; None: detached, where its branch has gone on or is in use."""
    if manifest.head is None:
        return None
    name = manifest.head.removeprefix("refs/heads/")
    tip = project.git().commit(manifest.head)
    if manifest.head_commit is not None and tip not in (None, manifest.head_commit):
        tell(f"the branch {name} has moved on meanwhile, so HEAD is restored detached, at {manifest.head_commit[:10]}")
        return None
    holder = next((each for each in listed if each.branch == name and each.path != target), None)
    if holder is not None:
        tell(f"the branch {name} is checked out at {holder.path}, so HEAD is restored detached")
        return None
    return manifest.head


def _check_branch(project: Project, manifest: Manifest, listed: tuple[Registration, ...], target: Path) -> None:
    if manifest.branch is None or manifest.branch_tip is None:
        return
    git = project.git()
    if git.commit(f"refs/heads/{manifest.branch}") is None:
        for name in git.text("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").splitlines():
            if name.startswith(f"{manifest.branch}/") or manifest.branch.startswith(f"{name}/"):
                raise WorktreeProblem(
                    f"the branch {name} leaves no room for {manifest.branch}", f"git branch -m {name} ANOTHER-NAME"
                )


def _restore_branch(project: Project, manifest: Manifest) -> None:
    if manifest.branch is None or manifest.branch_tip is None:
        return
    git = project.git()
    ref = f"refs/heads/{manifest.branch}"
    if git.commit(ref) is None:
        null = "0" * len(manifest.branch_tip)
        git.run("update-ref", "-m", "orch: restore", ref, manifest.branch_tip, null)


def _fill(project: Project, kept: Kept, manifest: Manifest, target: Path, gitdir: Path, head: str | None) -> None:
    git = project.git(target)
    if kept.second is None:
        _point_head(git, head)
        git.run("-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "--force", timeout=_SECONDS)
        return
    try:
        nested = manifest.nested
        _write_items(git, kept.second, [item for item in manifest.items if item.area == "git"], gitdir)
        if head is None:
            git.run("update-ref", "--no-deref", "-m", "orch: restore", "HEAD", str(manifest.head_commit))
        _check_out(git)
        tree = [item for item in manifest.items if item.area == "tree"]
        _write_items(git, kept.second, [item for item in tree if _of_repository(item, nested)], target)
        for path in manifest.nested:
            _connect(manifest, target, path, gitdir)
            _check_out(Git(cwd=target / path))
        _write_items(git, kept.second, [item for item in tree if not _of_repository(item, nested)], target)
        for path in manifest.nested:
            Git(cwd=target / path).run("update-index", "-q", "--refresh", check=False, timeout=_SECONDS)
        git.run("update-index", "-q", "--refresh", check=False, timeout=_SECONDS)
    except OSError as exc:
        raise GitProblem(f"{exc.filename} cannot be written: {exc.strerror}", "nothing is lost; repeat it") from exc


def _forget_size(git: Git, path: str) -> None:
    """Let git compare this file by its content. The index has the size that it had with the block in it, and git takes
    another size for a change without a look at the content."""
    found = git.run("ls-files", "--stage", "-v", "-z", "--", f":(top,literal){path}", check=False).stdout
    entry = os.fsdecode(found.split(b"\0")[0]).partition("\t")[0].split(" ")
    if len(entry) != 4 or entry[0] != "H" or entry[3] != "0":
        return
    _, mode, blob, _ = entry
    if git.run("hash-object", "--", path, check=False).stdout.decode().strip() == blob:
        git.run("update-index", "--cacheinfo", f"{mode},{blob},{path}", check=False)
        git.run("update-index", "-q", "--refresh", check=False, timeout=_SECONDS)


def _point_head(git: Git, head: str | None) -> None:
    if head is not None:
        git.run("symbolic-ref", "-m", "orch: restore", "HEAD", head)


def _check_out(git: Git) -> None:
    """Write the files of the index, without touching it: those that differed are written over them afterwards."""
    git.run("checkout-index", "--all", "--force", "--quiet", check=False, timeout=_SECONDS)


def _write_items(git: Git, second: str, items: Sequence[Item], top: Path) -> None:
    for item in items:
        if item.kind == "gone":
            _remove(top, item.path)
        elif item.kind == "folder":
            (top / item.path).mkdir(parents=True, exist_ok=True)
    contents = [item for item in items if item.number >= 0]
    for begin in range(0, len(contents), _GROUP):
        group = contents[begin : begin + _GROUP]
        found = blob_contents(git, second, tuple(item.number for item in group))
        for item in group:
            _write_item(top, item, found[item.number])


def _of_repository(item: Item, nested: Sequence[str]) -> bool:
    """Whether it belongs to the git directory of a repository inside the worktree, or points to that."""
    return any(item.path == f"{path}/.git" or item.path.startswith(f"{path}/.git/") for path in nested)


def _remove(top: Path, path: str) -> None:
    """Remove a file that was deleted there, and the folders that it leaves empty. No link is followed on the way."""
    target = top / path
    if _through_link(top, path):
        return
    if target.is_dir() and not target.is_symlink():
        with suppress(OSError):
            target.rmdir()
        return
    target.unlink(missing_ok=True)
    for parent in target.parents:
        if parent == top:
            return
        try:
            parent.rmdir()
        except OSError:
            return


def _through_link(top: Path, path: str) -> bool:
    at = top
    for part in path.split("/")[:-1]:
        at = at / part
        if at.is_symlink() or not at.is_dir():
            return True
    return False


def _write_item(top: Path, item: Item, content: bytes) -> None:
    target = top / item.path
    at = top
    for part in item.path.split("/")[:-1]:
        at = at / part
        if at.is_symlink() or (os.path.lexists(at) and not at.is_dir()):
            at.unlink()  # the checkout of the index put it there; a folder stood in its place
        if not at.exists():
            at.mkdir()
    if target.is_dir() and not target.is_symlink():
        _remove_folder(target)
    if item.kind == "link":
        target.unlink(missing_ok=True)
        target.symlink_to(os.fsdecode(content))
        return
    # Into another file, then renamed: a crash leaves the old or the new one.
    draft = target.with_name(f".orch-restore-{os.getpid()}")
    with draft.open("wb") as stream:
        stream.write(content)
        os.fchmod(stream.fileno(), item.mode)
    draft.replace(target)


def _remove_folder(folder: Path) -> None:
    """Remove empty folders; a folder with something in it stays and is reported by the write that follows."""
    for parent, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(parent).rmdir()


def _connect(manifest: Manifest, target: Path, path: str, gitdir: Path) -> None:
    """Let a submodule's `.git` file name its git directory again, where the worktree got another name or place."""
    link = target / path / ".git"
    if link.is_dir() or not link.is_file():
        return
    named = os.fsdecode(link.read_bytes()).strip().removeprefix("gitdir: ")
    marker = f"/worktrees/{manifest.name}/modules/"
    if marker not in named:
        return
    module = gitdir / "modules" / named.partition(marker)[2]
    if os.path.realpath(link.parent / named) == os.path.realpath(module) and manifest.worktree == str(target):
        return
    link.write_bytes(b"gitdir: " + os.fsencode(module) + b"\n")
    Git(cwd=target).run("config", "--file", str(module / "config"), "core.worktree", str(target / path))
