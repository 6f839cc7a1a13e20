"""The forecast: which agents touch the same files, which of them conflict, and in which order to merge them.

Everything is computed with `git merge-tree` on throw-away commits; no worktree and no ref is touched.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path

from orchestrator.agent import Agent, Status
from orchestrator.changes import snapshot_tree
from orchestrator.errors import WorktreeProblem
from orchestrator.git import Git
from orchestrator.mergetree import merge_commits, scratch_commit
from orchestrator.operation import operation
from orchestrator.project import Project

# So many orders are tried in full (120); beyond that, the next best one is taken each time.
_FULL = 5


@dataclass(frozen=True, kw_only=True)
class Side:
    """One agent's work as a commit: what is committed and what is not. `files` are those that differ from its base."""

    agent: Agent
    commit: str
    files: frozenset[str]
    uncommitted: bool


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """Two agents that touch the same files; `conflicts` are those that git cannot merge by itself."""

    first: str
    second: str
    files: tuple[str, ...]
    conflicts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One merge of the suggested order. `conflicts`: files that will conflict with the target as it is by then;
    `because` are the agents merged before it that touch them. A step with conflicts is not counted as merged."""

    agent_id: str
    conflicts: tuple[str, ...] = ()
    because: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """For one target branch: the agents' sides, their overlaps, and the order with the fewest conflicts."""

    target: str
    sides: tuple[Side, ...]
    overlaps: tuple[Overlap, ...]
    order: tuple[Step, ...]


def load_forecast(project: Project, agents: Iterable[Agent], target: str) -> Forecast:
    """Compare every agent that has a worktree or a branch, running ones as they are at this moment.

    Raises WorktreeProblem when the target is no branch.
    """
    git = project.git()
    tip = git.commit(f"refs/heads/{target}")
    if tip is None:
        raise WorktreeProblem(f"there is no branch {target}", "git branch lists them")
    found = (_side(project, agent) for agent in agents if agent.status is not Status.REMOVED and not operation(agent))
    sides = tuple(side for side in found if side is not None and side.files)
    overlaps = tuple(_overlaps(git, sides))
    return Forecast(target=target, sides=sides, overlaps=overlaps, order=_order(git, tip, sides, overlaps))


def _side(project: Project, agent: Agent) -> Side | None:
    worktree = Path(agent.worktree)
    if (worktree / ".git").is_file():
        git = project.git(worktree)
        head = git.commit("HEAD")
        if head is None:
            return None
        tree = snapshot_tree(git, worktree)
        uncommitted = tree != git.text("rev-parse", f"{head}^{{tree}}")
        commit = scratch_commit(git, tree, head) if uncommitted else head
    else:
        git, uncommitted = project.git(), False
        branch = git.commit(f"refs/heads/{agent.branch}") if agent.branch else None
        if branch is None:
            return None
        commit = branch
    listed = git.run("diff", "--name-only", "-z", "--no-renames", agent.base, commit).stdout
    return Side(agent=agent, commit=commit, files=_names(listed), uncommitted=uncommitted)


def _names(listed: bytes) -> frozenset[str]:
    import os

    return frozenset(os.fsdecode(name) for name in listed.split(b"\0") if name)


def _overlaps(git: Git, sides: Sequence[Side]) -> Iterable[Overlap]:
    for first, second in combinations(sides, 2):
        # A rename on one side meets a change on the other without a common name: only git can tell.
        conflicts = merge_commits(git, first.commit, second.commit).conflicts
        files = tuple(sorted(first.files & second.files))
        if files or conflicts:
            yield Overlap(first=first.agent.id, second=second.agent.id, files=files, conflicts=conflicts)


def _order(git: Git, tip: str, sides: Sequence[Side], overlaps: Sequence[Overlap]) -> tuple[Step, ...]:
    """The order with the fewest steps that conflict; agents with nothing in common do not matter to each other."""
    course = _Course(git)
    at = tip
    steps: list[Step] = []
    for group in _groups(sides, overlaps):
        if len(group) <= _FULL:
            tried = (course.walk(at, order) for order in permutations(group))
            at, found = min(tried, key=lambda each: sum(bool(step.conflicts) for step in each[1]))
        else:
            at, found = course.walk_greedily(at, group)
        steps += found
    # What conflicts comes last, and is judged by what is in by then.
    by_id = {side.agent.id: side for side in sides}
    last = sorted(steps, key=lambda step: bool(step.conflicts))
    return tuple(course.walk(tip, [by_id[step.agent_id] for step in last])[1])


def _groups(sides: Sequence[Side], overlaps: Sequence[Overlap]) -> list[list[Side]]:
    """The sides in groups that have files in common, directly or through others; each group oldest first."""
    leader = {side.agent.id: side.agent.id for side in sides}

    def root(agent_id: str) -> str:
        while leader[agent_id] != agent_id:
            agent_id = leader[agent_id]
        return agent_id

    for overlap in overlaps:
        leader[root(overlap.second)] = root(overlap.first)
    groups: dict[str, list[Side]] = {}
    for side in sides:
        groups.setdefault(root(side.agent.id), []).append(side)
    return list(groups.values())


class _Course:
    """Merges in a row, each merge of the same two commits computed once."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._known: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {}

    def _merge(self, at: str, side: Side) -> tuple[str, tuple[str, ...]]:
        key = (at, side.commit)
        if key not in self._known:
            merged = merge_commits(self._git, at, side.commit)
            after = at if merged.conflicts else scratch_commit(self._git, merged.tree, at, side.commit)
            self._known[key] = (after, merged.conflicts)
        return self._known[key]

    def walk(self, at: str, order: Sequence[Side]) -> tuple[str, list[Step]]:
        """Merge in this order; what conflicts is left out, and the next one is merged without it."""
        steps: list[Step] = []
        merged: list[Side] = []
        for side in order:
            at, conflicts = self._merge(at, side)
            because = tuple(each.agent.id for each in merged if each.files & set(conflicts))
            steps.append(Step(agent_id=side.agent.id, conflicts=conflicts, because=because))
            if not conflicts:
                merged.append(side)
        return at, steps

    def walk_greedily(self, at: str, group: Sequence[Side]) -> tuple[str, list[Step]]:
        """Merge whatever merges now and leaves the most others mergeable; for many agents."""
        left = list(group)
        order: list[Side] = []
        now = at
        while left:
            clean = [side for side in left if not self._merge(now, side)[1]]
            if not clean:
                break
            best = min(clean, key=lambda side: self._spoiled(self._merge(now, side)[0], clean, side))
            now = self._merge(now, best)[0]
            order.append(best)
            left.remove(best)
        return self.walk(at, [*order, *left])

    def _spoiled(self, at: str, others: Sequence[Side], side: Side) -> int:
        return sum(bool(self._merge(at, other)[1]) for other in others if other is not side)
