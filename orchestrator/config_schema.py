"""The configuration's keys: their types, defaults and meaning, as frozen dataclasses.

Everything else reads the schema from here: the loader, the error messages, `orch config` and docs/config.md. A field's
metadata holds `doc` (one line), and may hold `minimum` (of a number), `path` (relative to the file that says it).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, get_type_hints

SeamSetting = Literal["auto", "file", "launch"]


def _key(default: Any, doc: str, **limits: Any) -> Any:
    return field(default=default, metadata={"doc": doc, **limits})


def _nested(section: Callable[[], Any], doc: str) -> Any:
    return field(default_factory=section, metadata={"doc": doc})


@dataclass(frozen=True, kw_only=True)
class BudgetKeys:
    """The size of a rendered text, its fence included."""

    bytes: int = _key(8000, "Most bytes of UTF-8, fence included.", minimum=0)
    tokens: int = _key(2000, "Most tokens, fence included.", minimum=0)


@dataclass(frozen=True, kw_only=True)
class GuidanceBudgetKeys:
    """The size of the guidance, its fence included.

    Together with the memory's 8000 bytes it stays below the 10,000 characters that the narrowest seam carries.
    """

    bytes: int = _key(1800, "Most bytes of UTF-8, fence included.", minimum=0)
    tokens: int = _key(450, "Most tokens, fence included.", minimum=0)


@dataclass(frozen=True, kw_only=True)
class MemoryKeys:
    """The project memory."""

    inject: bool = _key(True, "Put the memory into every agent that is spawned.")
    curate: bool = _key(False, "Propose new entries when an agent has finished.")
    ground: bool = _key(True, "Check entries against the repository, and mark those that name what is gone.")
    stage: Literal["finish", "merge"] = _key(
        "finish", "When proposals are made: as an agent finishes, or at its merge."
    )
    subagents: bool = _key(True, "Carry the memory to sub-agents too, where the backend needs help with that.")
    mcp: bool = _key(False, "Offer orch's MCP server to spawned agents.")
    mirror: bool = _key(
        False,
        "Keep the memory in Claude's own memory of the project too, for your own sessions: a block in"
        " `projects/…/memory/MEMORY.md` below `~/.claude` (or `CLAUDE_CONFIG_DIR`). It carries the memory to claude's"
        " agents then, is renewed when orch changes the memory, and is taken out when this is off (docs/memory.md).",
    )
    embed: bool = _key(
        False, "Let a small model of words say what comes close to a question that has no answer (the extra `embed`)."
    )
    ttl_days: int = _key(90, "Days after which an unverified entry is no longer rendered; 0: never.", minimum=0)
    budget: BudgetKeys = _nested(BudgetKeys, "The size of the rendered memory.")


@dataclass(frozen=True, kw_only=True)
class ProjectionKeys:
    """How a render reaches a backend."""

    seam: SeamSetting = _key("auto", "The way in: the backend's default, a block in a file, or the launch itself.")


@dataclass(frozen=True, kw_only=True)
class WorktreeKeys:
    """Where the agents' worktrees are, and what is done with a new one."""

    dir: str | None = _key(None, "Folder of the worktrees; unset: `<repository>.worktrees` beside it.", path=True)
    include: tuple[str, ...] = _key((), "Patterns of ignored files that are copied into a new worktree.")
    setup: tuple[str, ...] = _key((), "Shell commands run in a new worktree, after a person consented to their text.")
    teardown: tuple[str, ...] = _key((), "Shell commands run before a worktree is removed, after consent.")
    ports: int = _key(0, "How many free ports each agent gets, as ORCH_PORT, ORCH_PORT_1, …", minimum=0)


@dataclass(frozen=True, kw_only=True)
class LimitKeys:
    """What ends an agent that does not end by itself."""

    minutes: float = _key(120.0, "Minutes of wall-clock time, fractions allowed; 0: no limit.", minimum=0)
    requests: int = _key(0, "Model requests, for backends that report them; 0: no limit.", minimum=0)


@dataclass(frozen=True, kw_only=True)
class BackendKeys:
    """Settings of a backend that orch knows."""

    executable: str | None = _key(None, "The program; unset: found on PATH.", path=True)
    args: tuple[str, ...] = _key((), "Further arguments for the program.")
    env: Mapping[str, str] = _nested(dict, "Further environment values.")
    model: str | None = _key(None, "The model; unset: the backend's own choice.")
    seam: SeamSetting | None = _key(None, "As projection.seam, for this backend alone.")


@dataclass(frozen=True, kw_only=True)
class SeamKeys:
    """The seam of a backend of the user's own: one of these, or none."""

    file: str | None = _key(None, "A block in this file at the worktree's top.")
    flag: str | None = _key(None, "This flag, followed by the path of the render's file.")
    env: str | None = _key(None, "This environment variable, with the path of the render's file.")


@dataclass(frozen=True, kw_only=True)
class OwnBackendKeys:
    """A backend of the user's own: any agent program, or a plain script."""

    command: tuple[str, ...] = _key((), "The program and its first arguments.")
    prompt: Literal["arg", "stdin"] = _key("arg", "How the task goes in: as the last argument, or on standard input.")
    seam: SeamKeys = _nested(SeamKeys, "How the memory goes in: `file`, `flag` or `env`, or `none`.")
    env: Mapping[str, str] = _nested(dict, "Further environment values.")


@dataclass(frozen=True, kw_only=True)
class Config:
    """Everything that can be configured, from all layers.

    `sources` says for each key that is set where its value is from; `notes` are warnings for the person.
    """

    memory: MemoryKeys = _nested(MemoryKeys, "The project memory.")
    projection: ProjectionKeys = _nested(ProjectionKeys, "How a render reaches a backend.")
    guidance: tuple[str, ...] = _key(
        (),
        "Files whose text rides after the memory, in this order.",
        path=True,
    )
    guidance_budget: GuidanceBudgetKeys = _nested(GuidanceBudgetKeys, "The size of the guidance.")
    worktrees: WorktreeKeys = _nested(WorktreeKeys, "The agents' worktrees.")
    limits: LimitKeys = _nested(LimitKeys, "What ends an agent that does not end by itself.")
    local_llm: str | None = _key(None, "URL of a model on this machine that words the answers of `orch ask`.")
    backends: Mapping[str, BackendKeys] = _nested(dict, "Settings of the backends, by name.")
    own_backends: Mapping[str, OwnBackendKeys] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def backend(self, name: str) -> BackendKeys:
        """The settings of a backend; the defaults where none are configured."""
        return self.backends.get(name, BackendKeys())

    def seam(self, name: str) -> SeamSetting:
        """The seam that is asked for: the backend's own setting, else the global one."""
        return self.backend(name).seam or self.projection.seam


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key of the schema: its dotted path, its type, its default and its line of documentation."""

    path: str
    hint: Any
    default: Any
    doc: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "ORCH_" + self.path.upper().replace(".", "_").replace("-", "_")


def hints(section: type) -> dict[str, tuple[Any, Mapping[str, Any]]]:
    """The keys of a section: name -> (type, metadata)."""
    types = get_type_hints(section)
    return {item.name: (types[item.name], item.metadata) for item in fields(section) if "doc" in item.metadata}


def keys(section: type = Config, prefix: str = "") -> list[Key]:
    """Every single value below a section, in the schema's order; `backends`, a table by name, is left out."""
    found = []
    for name, (hint, metadata) in hints(section).items():
        path = prefix + name
        if is_dataclass(hint) and isinstance(hint, type):
            found += keys(hint, path + ".")
        elif path != "backends":
            default = next(item.default for item in fields(section) if item.name == name)
            found.append(Key(path=path, hint=hint, default=default, doc=metadata["doc"]))
    return found
