"""Asking the project's memory: read-only, local, cited."""

from dataclasses import replace

from memory.errors import MemoryFault
from orchestrator.answer import Answer, Memory
from orchestrator.beliefs import MEMORY_FILE, load_beliefs
from orchestrator.config_schema import Config
from orchestrator.errors import UsageProblem
from orchestrator.project import Project

LONGEST_QUESTION = 8_000


def open_memory(project: Project, config: Config) -> Memory:
    """Read the memory for questions; one that is absent or empty knows nothing. Touches no file.

    Raises MemoryProblem where the memory cannot be read. Where the model of `memory.embed` is absent, less comes close.
    """
    beliefs = load_beliefs(project, config, writes=False)
    if beliefs is None:
        return Memory(None, remark=f"there is no {MEMORY_FILE} here; orch memory makes one")
    if not config.memory.embed:
        return Memory(beliefs)
    from memory.meaning import WordModel

    try:
        return Memory(beliefs, WordModel())
    except MemoryFault as exc:
        return Memory(beliefs, remark=f"{exc.message}: {exc.hint}")


def ask(memory: Memory, question: str, config: Config, *, verbatim: bool = False) -> tuple[Answer, str | None]:
    """Answer a question, worded by the local model where there is one; and a line on what was done without.

    Raises UsageProblem for a question that is empty or longer than `LONGEST_QUESTION` characters.
    """
    if not question.strip():
        raise UsageProblem("the question is empty", "orch ask 'How do the tests run?'")
    if len(question) > LONGEST_QUESTION:
        raise UsageProblem(f"the question is longer than {LONGEST_QUESTION} characters", "ask for one thing")
    found = memory.ask(question)
    if not found.known:
        return found, memory.remark
    if config.local_llm is None or verbatim:
        return found, None
    from orchestrator.local_model import LocalModel, LocalModelFault

    try:
        composed = LocalModel(url=config.local_llm).compose(found)
    except LocalModelFault as exc:
        return found, f"{exc.message}; the entries are shown as they are"
    if composed is None:
        return found, "the local model said more than the entries do; they are shown as they are"
    return replace(found, composed=composed), None
