"""The layers of the configuration: project < user < environment < flags; a later one wins, key by key."""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from orchestrator.config_file import Written
from orchestrator.config_schema import BackendKeys, Key, hints, keys
from orchestrator.errors import ConfigProblem
from orchestrator.spelling import nearest

# Variables of ours that are no configuration: an agent's own, and the cache of scripts/install-backends.
RESERVED = frozenset({"ORCH_AGENT", "ORCH_PROJECT", "ORCH_BACKENDS", "ORCH_PORT", "ORCH_LOG", "ORCH_MAIN", "ORCH_TASK"})
_RESERVED_PREFIXES = ("ORCH_PORT_", "ORCH_TEST_")


def merge(lower: Written, upper: Written) -> Written:
    """Lay one tree over another: tables are merged key by key, everything else is replaced."""
    if not isinstance(lower.value, Mapping) or not isinstance(upper.value, Mapping):
        return upper
    joined = dict(lower.value)
    for name, item in upper.value.items():
        joined[name] = merge(joined[name], item) if name in joined else item
    return Written(value=joined, source=upper.source, base=upper.base)


def from_environment(environ: Mapping[str, str], backends: Collection[str]) -> tuple[Written, tuple[str, ...]]:
    """The ORCH_… variables as a layer, and a note for each one that is nothing of ours.

    Raises ConfigProblem for a variable that is meant for us and spelt wrongly.
    """
    known = {key.variable: key.path for key in keys()}
    known |= {key.variable: key.path for key in backend_keys(backends)}
    lists = {key.path for key in keys() if "tuple" in str(key.hint)} | {f"backends.{name}.args" for name in backends}
    tree: dict[str, Written] = {}
    notes = []
    for variable in sorted(environ):
        if not variable.startswith("ORCH_") or variable in RESERVED or variable.startswith(_RESERVED_PREFIXES):
            continue
        if not environ[variable]:
            continue
        path = known.get(variable)
        if path is None:
            notes.append(_unknown_variable(variable, known))
            continue
        source = f"environment variable {variable}"
        text = environ[variable]
        value = _listed(text, source) if path in lists else text
        _plant(tree, path, Written(value=value, source=source, base=Path.cwd()))
    return Written(value=tree, source="environment"), tuple(notes)


def from_flags(flags: Mapping[str, object]) -> Written:
    """Values by dotted path, as a command's options give them, as a layer; None means: not given."""
    tree: dict[str, Written] = {}
    for path, value in flags.items():
        if value is not None:
            _plant(tree, path, _given(value))
    return Written(value=tree, source="command line")


def backend_keys(backends: Collection[str]) -> list[Key]:
    """The keys of the built-in backends, with a name in each path; `env`, a table, is for files alone."""
    return [
        Key(path=f"backends.{name}.{key}", hint=hint, default=None, doc=metadata["doc"])
        for name in backends
        for key, (hint, metadata) in hints(BackendKeys).items()
        if key != "env"
    ]


def sources(written: Written, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each key that is set, by its dotted path, and where its value is from."""
    if not isinstance(written.value, Mapping):
        yield prefix, written.source
        return
    for name, item in written.value.items():
        yield from sources(item, f"{prefix}.{name}" if prefix else name)


def _unknown_variable(variable: str, known: Mapping[str, str]) -> str:
    """A note about a variable that is nothing of ours; raises where it is clearly a slip."""
    # Without the prefix, which would make any two of them alike.
    near = nearest(variable.removeprefix("ORCH_"), [name.removeprefix("ORCH_") for name in known])
    ours = variable.split("_")[1] in {name.split("_")[1] for name in known}
    if ours or near:
        hint = (
            f"did you mean ORCH_{near} (for {known[f'ORCH_{near}']})?" if near else "docs/config.md lists the variables"
        )
        raise ConfigProblem(f"environment variable {variable}: there is no such key", hint)
    return f"the environment variable {variable} is no setting of orch and is ignored"


def _listed(text: str, source: str) -> tuple[Written, ...]:
    """A list from one text: JSON where it begins with `[`, else parted at commas."""
    if not text.lstrip().startswith("["):
        parts = [part.strip() for part in text.split(",")]
        return tuple(Written(value=part, source=source) for part in parts if part)
    try:
        items = json.loads(text)
    except ValueError as exc:
        raise ConfigProblem(f"{source}: no valid JSON list: {exc}", 'write it as: ["one", "two"], or one,two') from exc
    return tuple(Written(value=str(item), source=source) for item in items)


def _plant(tree: dict[str, Written], path: str, leaf: Written) -> None:
    """Put a leaf into a tree of tables, at its dotted path."""
    *folders, name = path.split(".")
    table = tree
    for folder in folders:
        inner = table.get(folder)
        if inner is None or not isinstance(inner.value, dict):
            inner = Written(value={}, source=leaf.source)
            table[folder] = inner
        assert isinstance(inner.value, dict)
        table = inner.value
    table[name] = leaf


def _given(value: object) -> Written:
    source = "command line"
    if isinstance(value, bool):
        return Written(value="true" if value else "false", source=source)
    if isinstance(value, (list, tuple)):
        items = tuple(Written(value=str(item), source=source) for item in value)
        return Written(value=items, source=source, base=Path.cwd())
    return Written(value=str(value), source=source, base=Path.cwd())
