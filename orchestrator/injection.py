"""What the next agent of this project reads: exactly this text, and nothing else of ours."""

from dataclasses import dataclass

from orchestrator.config_schema import Config
from orchestrator.project import Project


@dataclass(frozen=True, kw_only=True)
class Injection:
    """The text to be carried ("" for none), its SHA-256 in hex, and one-line facts for the person."""

    text: str = ""
    digest: str | None = None
    notes: tuple[str, ...] = ()


def load_injection(project: Project, config: Config) -> Injection:
    """Nothing yet: the memory's render comes here."""
    return Injection()
