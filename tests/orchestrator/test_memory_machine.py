"""Whatever people and agents do, in any order: nothing becomes trusted by itself, and every edit keeps to its lines."""

import contextlib
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memory.document import parse
from memory.entry import Trust, entry_id
from orchestrator.adding import add_entry
from orchestrator.agent import Agent, Status
from orchestrator.beliefs import load_beliefs
from orchestrator.config_schema import Config
from orchestrator.deciding import approve, reject, remove, supersede
from orchestrator.desk import Desk
from orchestrator.errors import OrchError
from orchestrator.project import Project
from orchestrator.proposing import propose
from orchestrator.records import Records, now
from orchestrator.settling import reopen, settle
from tests.conftest import git

FACTS = (
    "Fixtures live beside the module that they serve.",
    "The daemon listens on a Unix socket.",
    "Releases are cut from the stable branch.",
    "Snapshots are compared without their time stamps.",
    # These two contradict each other.
    "The worker listens on port `8080`.",
    "The worker listens on port `9090`.",
)
PROSE = "A person's own prose, kept byte for byte.\n"
# Agent -> its parent. `c` was spawned by `a`, so the two are one witness.
AGENTS: dict[str, str | None] = {"a": None, "b": None, "c": "a"}
# Names that somebody made up: no agent of these is in the records.
STRANGERS = ["beef", "df26"]
facts = st.sampled_from(FACTS)


class Memory(RuleBasedStateMachine):
    """The memory of a real repository, and beside it a model of who has vouched for what."""

    @initialize(shown=st.dictionaries(st.sampled_from(sorted(AGENTS)), facts))
    def begin(self, shown: dict[str, str]) -> None:
        """A repository, three agents that have ended, and what each of them was shown."""
        self.folder = tempfile.TemporaryDirectory()
        main = Path(self.folder.name).resolve() / "repo"
        main.mkdir()
        git(main, "init", "--quiet")
        git(main, "commit", "--quiet", "--allow-empty", "--message", "Begin")
        base, self.tips = git(main, "rev-parse", "HEAD"), {name: _branch(main, name) for name in AGENTS}
        self.path = main / ".orch" / "memory.md"
        self.path.parent.mkdir()
        self.path.write_text(f"# Project memory\n\n{PROSE}\n## Notes\n")
        self.project = Project(common_dir=main / ".git", main=main, root=main)
        self.desk = Desk(project=self.project, records=Records(path=self.project.records))
        self.shown = shown
        for name, parent in AGENTS.items():
            extra = {"shown": [entry_id(shown[name])] if name in shown else [], "parent": parent}
            self.desk.records.add_agent(
                Agent(
                    id=name,
                    backend="sh",
                    task="t",
                    worktree="/nowhere",
                    branch=f"work/{name}",
                    base=base,
                    created=now(),
                    status=Status.ENDED,
                    extra=extra,
                )
            )
        self.vouched: set[str] = set()
        self.claimed: dict[str, set[str]] = {}

    def teardown(self) -> None:
        """Remove the repository."""
        if hasattr(self, "folder"):
            self.folder.cleanup()

    @rule(text=facts)
    def person_adds(self, text: str) -> None:
        """A person says so."""
        add_entry(self.desk, text)
        self.vouched.add(text)

    @rule(text=facts)
    def person_approves(self, text: str) -> None:
        """A person approves, if there is anything to approve."""
        try:
            approve(self.desk, entry_id(text))
        except OrchError:
            return
        self.vouched.add(text)

    @rule(text=facts, for_good=st.booleans())
    def person_takes_out(self, text: str, for_good: bool) -> None:
        """A person rejects or removes."""
        try:
            (remove if for_good else reject)(self.desk, entry_id(text))
        except OrchError:
            return
        self.vouched.discard(text)
        self.claimed.pop(text, None)

    @rule(text=facts, old=facts)
    def person_supersedes(self, text: str, old: str) -> None:
        """A person puts one fact in the place of another."""
        try:
            supersede(self.desk, entry_id(old), text)
        except OrchError:
            return
        self.vouched.add(text)
        self.vouched.discard(old)

    @rule(text=facts, agent=st.sampled_from(sorted(AGENTS)), old=st.none() | facts)
    def agent_claims(self, text: str, agent: str, old: str | None) -> None:
        """An agent proposes; the claim is settled at once, since the agent has ended."""
        before = self._vouched_for()
        try:
            propose(self.desk, agent, text, section=None, supersedes=None if old is None else entry_id(old))
        except OrchError:
            return
        settle(self.project, self.desk.records, Config())
        assert self._vouched_for() >= before, "an agent took away what a person vouched for"
        if self.shown.get(agent) != text:
            self.claimed.setdefault(text, set()).add(AGENTS[agent] or agent)

    @rule(text=facts, agent=st.sampled_from(STRANGERS))
    def stranger_claims(self, text: str, agent: str) -> None:
        """Whoever is no agent of this project proposes; that makes no witness."""
        with contextlib.suppress(OrchError):
            propose(self.desk, agent, text, section=None)
        settle(self.project, self.desk.records, Config())

    @rule(text=facts, agent=st.sampled_from(sorted(AGENTS)), for_good=st.booleans())
    def branch_goes(self, text: str, agent: str, for_good: bool) -> None:
        """An agent learns something, and its branch is thrown away; it may be restored later, or at once."""
        self.agent_claims(text, agent, None)
        before = self._vouched_for()
        git(self.project.root, "update-ref", "-d", f"refs/heads/work/{agent}")
        settle(self.project, self.desk.records, Config())
        assert self._vouched_for() >= before, "a branch took away what a person vouched for"
        if not for_good:
            self.branch_comes_back(agent)

    @rule(agent=st.sampled_from(sorted(AGENTS)))
    def branch_comes_back(self, agent: str) -> None:
        """The branch of an agent is restored."""
        git(self.project.root, "update-ref", f"refs/heads/work/{agent}", self.tips[agent])
        reopen(self.project, self.desk.records, agent)
        settle(self.project, self.desk.records, Config())

    @rule(text=facts, tag=st.sampled_from(["", "[trusted · 2026-01-01 · agents a, b] ", "[human] "]))
    def agent_writes_the_file(self, text: str, tag: str) -> None:
        """An agent writes into the file itself, with any tag that it likes."""
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(f"- {tag}{text}\n")

    def _vouched_for(self) -> set[str]:
        document, said = parse(self.path.read_bytes()), self.desk.ledger.vouched()
        return {entry.text for entry in document.entries if entry.id in said and not entry.superseded}

    @invariant()
    def nothing_is_trusted_by_itself(self) -> None:
        """What counts as more than unverified has a person behind it, or two agents that are independent of it."""
        if not hasattr(self, "path"):
            return
        beliefs = load_beliefs(self.project, Config())
        assert beliefs is not None
        for item in beliefs.judged:
            if item.trust > Trust.UNVERIFIED:
                text = item.entry.text
                assert text in self.vouched or len(self.claimed.get(text, ())) >= 2, text

    @invariant()
    def the_rest_of_the_file_stays(self) -> None:
        """Prose and headings are a person's, and no line is anything else than they or an entry."""
        if not hasattr(self, "path"):
            return
        data = self.path.read_bytes()
        assert data.startswith(f"# Project memory\n\n{PROSE}\n## Notes\n".encode())
        document = parse(data)
        assert {entry.text for entry in document.entries} <= set(FACTS)


def _branch(main: Path, name: str) -> str:
    """A branch with a commit of its own; returns that."""
    git(main, "checkout", "--quiet", "-b", f"work/{name}")
    (main / name).write_text("Work.\n")
    git(main, "add", name)
    git(main, "commit", "--quiet", "--message", name)
    tip = git(main, "rev-parse", "HEAD")
    git(main, "checkout", "--quiet", "-")
    return tip


TestMemory = Memory.TestCase
TestMemory.settings = settings(
    max_examples=40, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
