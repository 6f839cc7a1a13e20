"""What the next agent of this project reads: exactly this text, and nothing else of ours."""

import hashlib
from dataclasses import dataclass

from orchestrator.beliefs import load_beliefs
from orchestrator.config_schema import Config
from orchestrator.errors import MemoryProblem
from orchestrator.guidance import load_guidance
from orchestrator.project import Project
from projection.budget import Budget
from projection.render import Render, render

INJECTION_OFF = "injection is off: memory.inject, --no-memory"


@dataclass(frozen=True, kw_only=True)
class Injection:
    """The text to be carried ("" for none), the memory's render at its beginning, and one-line facts for the person."""

    text: str
    render: Render
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of the text's bytes, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def load_injection(project: Project, config: Config, *, budget_bytes: int | None = None) -> Injection:
    """Read and render the memory, and the guidance after it; no text when both are empty or `memory.inject` is off.

    Raises MemoryProblem when the file is there but cannot be read: an agent that silently starts without its memory
    would be worse than none.
    """
    if not config.memory.inject:
        return Injection(text="", render=Render(text=""))
    rendered, notes = _render_memory(project, config, budget_bytes)
    guidance, remarks = load_guidance(project, config)
    text = "\n\n".join(part for part in (rendered.text, guidance.text) if part)
    return Injection(text=text, render=rendered, notes=(*notes, *remarks))


def load_carried(project: Project, config: Config) -> Injection:
    """As `load_injection`, for the commands that start an agent: they can go on without, and the hint says how."""
    try:
        return load_injection(project, config)
    except MemoryProblem as exc:
        raise MemoryProblem(exc.message, f"{exc.hint}, or go on without it: --no-memory") from exc


def _render_memory(project: Project, config: Config, budget_bytes: int | None) -> tuple[Render, tuple[str, ...]]:
    beliefs = load_beliefs(project, config)
    if beliefs is None:
        return Render(text=""), ()
    keys = config.memory.budget
    budget = Budget(bytes=keys.bytes if budget_bytes is None else budget_bytes, tokens=keys.tokens)
    return render(beliefs.judged, budget, beliefs.objection), beliefs.notes
