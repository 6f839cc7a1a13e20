"""What the next agent of this project reads: exactly this text, and nothing else of ours."""

import hashlib
from dataclasses import dataclass

from memory.document import Document, parse
from memory.entry import Trust
from memory.errors import MemoryFault
from memory.trust import committed_trust, judge
from orchestrator.config_schema import Config
from orchestrator.errors import MemoryProblem
from orchestrator.guidance import load_guidance
from orchestrator.ledger import Ledger
from orchestrator.project import Project
from orchestrator.records import Records
from projection.budget import Budget
from projection.render import Render, render

MEMORY_FILE = ".orch/memory.md"
_HINT = "mend it, or go on without it: orch spawn --no-memory"


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
    would be worse than none. `--no-memory` goes on without.
    """
    if not config.memory.inject:
        return Injection(text="", render=Render(text=""))
    rendered, notes = _render_memory(project, config, budget_bytes)
    guidance, remarks = load_guidance(project, config)
    text = "\n\n".join(part for part in (rendered.text, guidance.text) if part)
    return Injection(text=text, render=rendered, notes=(*notes, *remarks))


def _render_memory(project: Project, config: Config, budget_bytes: int | None) -> tuple[Render, tuple[str, ...]]:
    document, notes = load_document(project)
    if document is None:
        return Render(text=""), notes
    judged = judge(
        document, committed=committed(project), ledger=Ledger(records=Records(path=project.records)).grants()
    )
    keys = config.memory.budget
    size = keys.bytes if budget_bytes is None else budget_bytes
    return render(judged, Budget(bytes=size, tokens=keys.tokens)), notes


def load_document(project: Project) -> tuple[Document | None, tuple[str, ...]]:
    """The memory of the main checkout, or of the default branch's tree in a bare layout; None when there is none."""
    path = project.memory_path
    try:
        if path is None:
            data = _from_tree(project, "HEAD")
            note = "no main checkout: the memory is that of the default branch's last commit"
            return (None, ()) if data is None else (parse(data), (note,))
        return parse(path.read_bytes()), ()
    except FileNotFoundError:
        return None, ()
    except OSError as exc:
        raise MemoryProblem(f"cannot read {path}: {exc.strerror}", _HINT) from exc
    except MemoryFault as exc:
        hint = f"{exc.hint}; {_HINT}" if exc.hint else _HINT
        raise MemoryProblem(f"{path or MEMORY_FILE}: {exc.message}", hint) from exc


def committed(project: Project) -> dict[str, Trust]:
    """What the last commit of the main checkout (in a bare layout: of the default branch) grants."""
    data = _from_tree(project, "HEAD")
    if data is None:
        return {}
    try:
        return committed_trust(parse(data))
    except MemoryFault:
        return {}


def _from_tree(project: Project, rev: str) -> bytes | None:
    found = project.git().run("cat-file", "blob", f"{rev}:{MEMORY_FILE}", check=False)
    return found.stdout if found.code == 0 else None
