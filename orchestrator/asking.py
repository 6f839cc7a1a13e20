"""Asking the project's memory: read-only, local, cited."""

from dataclasses import dataclass, field, replace

from memory.poison import held_reason
from memory.trust import Judged, judge
from orchestrator.answer import Answer, Beliefs, Memory
from orchestrator.config_schema import Config
from orchestrator.errors import UsageProblem
from orchestrator.injection import committed, load_document
from orchestrator.ledger import Ledger
from orchestrator.project import Project
from orchestrator.records import Records

LONGEST_QUESTION = 8_000


@dataclass(frozen=True, kw_only=True)
class _Standing:
    """The entries judged by channel. `closed` is what became of those that a person took out, by id."""

    judged: tuple[Judged, ...]
    closed: dict[str, str] = field(default_factory=dict)

    def held(self, item: Judged) -> str | None:
        """Why an entry waits for a person."""
        closed = self.closed.get(item.entry.id)
        if closed is not None:
            return f"it was {closed} before"
        return None if item.trust > 1 else held_reason(item.entry.text)

    def stale(self, item: Judged) -> str | None:
        """Why an entry is out of date, as it was judged."""
        return item.stale


def load_standing(project: Project) -> Beliefs | None:
    """The memory as it counts; None when there is none. Raises MemoryProblem when it cannot be read."""
    document, _ = load_document(project)
    if document is None or not document.entries:
        return None
    ledger = Ledger(records=Records(path=project.records))
    judged = judge(document, committed=committed(project), ledger=ledger.grants())
    return _Standing(judged=judged, closed={entry: line.act.value for entry, line in ledger.closed().items()})


def open_memory(project: Project) -> Memory:
    """Read the memory for questions; one that is absent or empty knows nothing. Touches no file.

    Raises MemoryProblem where the memory cannot be read.
    """
    return Memory(load_standing(project))


def ask(memory: Memory, question: str, config: Config, *, verbatim: bool = False) -> tuple[Answer, str | None]:
    """Answer a question, worded by the local model where there is one; and a line on why it is verbatim instead.

    Raises UsageProblem for a question that is empty or longer than `LONGEST_QUESTION` characters.
    """
    if not question.strip():
        raise UsageProblem("the question is empty", "orch ask 'How do the tests run?'")
    if len(question) > LONGEST_QUESTION:
        raise UsageProblem(f"the question is longer than {LONGEST_QUESTION} characters", "ask for one thing")
    found = memory.ask(question)
    if config.local_llm is None or verbatim or not found.known:
        return found, None
    from orchestrator.local_model import LocalModel, LocalModelFault

    try:
        composed = LocalModel(url=config.local_llm).compose(found)
    except LocalModelFault as exc:
        return found, f"{exc.message}; the entries are shown as they are"
    if composed is None:
        return found, "the local model said more than the entries do; they are shown as they are"
    return replace(found, composed=composed), None
