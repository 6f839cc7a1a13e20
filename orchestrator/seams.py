"""Choosing the seam for an agent, and the git hygiene of the one that is a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from adapters.adapter import Adapter
from orchestrator.config_schema import Config
from orchestrator.project import Project
from orchestrator.worktree import Place


@dataclass(frozen=True, kw_only=True)
class SeamChoice:
    """How the text reaches the backend; `made` says that the file is ours alone."""

    kind: Literal["none", "file", "launch"] = "none"
    reason: str = ""
    file: str | None = None
    made: bool = False
    block: bytes = b""


def choose_seam(project: Project, config: Config, adapter: Adapter, place: Place, text: str) -> SeamChoice:
    if not text:
        return SeamChoice()
    return SeamChoice(kind="launch")


def write_block_hygiene(project: Project, agent_id: str, gitdir: Path, choice: SeamChoice) -> None:
    return


def remove_agent_hygiene(project: Project, agent_id: str) -> None:
    return
