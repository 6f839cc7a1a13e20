"""From written values to typed ones: the check of every key and value, with the nearest valid name in each refusal."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from orchestrator.config_example import example
from orchestrator.config_file import Written
from orchestrator.config_schema import BackendKeys, Config, OwnBackendKeys, SeamKeys, hints, keys
from orchestrator.errors import ConfigProblem
from orchestrator.spelling import nearest

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_NUMBER = re.compile(r"0|-?[1-9][0-9_]*")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


def build_config(written: Written, builtin: Collection[str], own: Collection[str], home: Path | None) -> dict[str, Any]:
    """Turn a tree of written values into the arguments of Config.

    `builtin` are the backends that orch knows, `own` those that some layer defines; `home` is what `~` means.

    Raises ConfigProblem with source, key and the nearest valid key.
    """
    table = _table(written, "")
    settings = table.get("backends")
    rest = Written(value={name: item for name, item in table.items() if name != "backends"}, source=written.source)
    values = _section(Config, rest, "", home, beside=("backends",))
    known, defined = _backends(settings, builtin, own, home) if settings is not None else ({}, {})
    return {**values, "backends": known, "own_backends": defined}


def own_names(written: Written) -> set[str]:
    """The backends that this layer defines: those with a command."""
    settings = written.value.get("backends") if isinstance(written.value, Mapping) else None
    if settings is None or not isinstance(settings.value, Mapping):
        return set()
    return {
        name for name, item in settings.value.items() if isinstance(item.value, Mapping) and "command" in item.value
    }


def _backends(
    written: Written, builtin: Collection[str], own: Collection[str], home: Path | None
) -> tuple[dict[str, BackendKeys], dict[str, OwnBackendKeys]]:
    known: dict[str, BackendKeys] = {}
    defined: dict[str, OwnBackendKeys] = {}
    for name, item in _table(written, "backends").items():
        path = f"backends.{name}"
        if name in builtin:
            if "command" in _table(item, path):
                raise ConfigProblem(
                    f"{item.source}: {path}.command: {name} is a backend that orch knows",
                    f"set {path}.executable and {path}.args, or choose another name",
                )
            known[name] = BackendKeys(**_section(BackendKeys, item, path + ".", home))
        elif name in own:
            defined[name] = _own_backend(name, item, home)
        else:
            near = nearest(name, [*builtin, *own])
            raise ConfigProblem(
                f"{item.source}: {path}: there is no backend {name!r}",
                f"did you mean backends.{near}?"
                if near
                else f"give it a command to define it: {path}.command: [program]",
            )
    return known, defined


def _own_backend(name: str, written: Written, home: Path | None) -> OwnBackendKeys:
    path = f"backends.{name}"
    if not _NAME.fullmatch(name):
        raise ConfigProblem(
            f"{written.source}: {path}: a backend's name has small letters, digits, - and _ only",
            f"for example: backends.{re.sub('[^a-z0-9_-]+', '-', name.lower()).strip('-_') or 'mine'}",
        )
    table = dict(_table(written, path))
    seam = table.get("seam")
    if seam is not None and (seam.value is None or seam.value == "none"):
        table["seam"] = Written(value={}, source=seam.source)
    elif seam is not None and not isinstance(seam.value, Mapping):
        shown = f"for example: {example(seam, f'{path}.seam.file')}"
        raise _bad(seam, f"{path}.seam", "none, or one of {file: NAME}, {flag: --NAME}, {env: NAME}", shown)
    values = _section(OwnBackendKeys, Written(value=table, source=written.source), path + ".", home)
    _check_seam(values.get("seam", SeamKeys()), seam or written, f"{path}.seam")
    if "command" in table:
        values["command"] = _command(values["command"], table["command"], f"{path}.command", home)
    return OwnBackendKeys(**values)


def _command(command: tuple[str, ...], written: Written, path: str, home: Path | None) -> tuple[str, ...]:
    if not command or not command[0]:
        raise _bad(written, path, "a list that begins with a program")
    # A bare name is looked up on PATH; a path starts from the folder of the file that says it.
    program = _anchored(command[0], written.base, home) if "/" in command[0] else command[0]
    return (program, *command[1:])


def _check_seam(seam: SeamKeys, written: Written, path: str) -> None:
    if sum(part is not None for part in (seam.file, seam.flag, seam.env)) > 1:
        raise _bad(written, path, "only one of file, flag and env: a backend must meet the memory once")
    if seam.file is not None and ("/" in seam.file or "\0" in seam.file or seam.file in ("", ".", "..", ".git")):
        raise _bad(written, f"{path}.file", "the plain name of a file at the worktree's top")
    if seam.flag is not None and not seam.flag.strip():
        raise _bad(written, f"{path}.flag", "a flag such as --context")
    if seam.env is not None and (not _VARIABLE.fullmatch(seam.env) or seam.env.startswith(("ORCH_", "GIT_"))):
        raise _bad(written, f"{path}.env", "the name of an environment variable of the backend's own")


def _section(
    section: type, written: Written, prefix: str, home: Path | None, beside: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The typed values of the keys that are written; a nested section becomes its dataclass."""
    known = hints(section)
    values: dict[str, Any] = {}
    for name, item in _table(written, prefix.removesuffix(".")).items():
        if name not in known:
            raise _unknown(name, item, prefix, [*known, *beside])
        hint, metadata = known[name]
        path = prefix + name
        if is_dataclass(hint) and isinstance(hint, type):
            values[name] = hint(**_section(hint, item, path + ".", home))
            continue
        value = _convert(hint, item, path)
        if "minimum" in metadata and value < metadata["minimum"]:
            raise _bad(item, path, f"{metadata['minimum']} or more")
        values[name] = _paths(value, item, home) if metadata.get("path") else value
    return values


def _unknown(name: str, item: Written, prefix: str, siblings: Collection[str]) -> ConfigProblem:
    path = prefix + name
    near = nearest(name, siblings)
    if near is not None:
        hint = f"did you mean {prefix}{near}?"
    else:
        # The right key at the wrong level: `inject` at the top instead of `memory.inject`.
        elsewhere = {key.path.rpartition(".")[2]: key.path for key in reversed(keys())}
        found = nearest(name, elsewhere)
        valid = ", ".join(sorted(set(siblings)))
        hint = f"did you mean {elsewhere[found]}?" if found is not None else f"the keys here are: {valid}"
    return ConfigProblem(f"{item.source}: there is no key {path!r}", hint)


def _table(written: Written, path: str) -> Mapping[str, Written]:
    """The inner table of a value; an empty one where nothing is written."""
    if written.value is None:
        return {}
    if isinstance(written.value, (str, tuple)):
        raise _bad(written, path, "a table of keys (key: value, indented below it)")
    return written.value


def _convert(hint: Any, item: Written, path: str) -> Any:
    origin = get_origin(hint)
    arguments = get_args(hint)
    if NoneType in arguments:
        if item.value is None:
            return None
        return _convert_optional(arguments, item, path)
    if origin is tuple:
        return _list(item, path)
    if origin is Literal:
        return _choice(arguments, item, path)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _strings(item, path)
    converters: dict[Any, Callable[[Written, str], Any]] = {
        bool: _boolean,
        int: _number,
        float: _decimal,
        str: _string,
    }
    return converters[hint](item, path)


def _convert_optional(arguments: tuple[Any, ...], item: Written, path: str) -> Any:
    # An optional value: the type beside None.
    inner = [argument for argument in arguments if argument is not NoneType]
    return _convert(inner[0], item, path)


def _string(item: Written, path: str) -> str:
    if not isinstance(item.value, str):
        raise _bad(item, path, "a text")
    if "\0" in item.value:
        raise _bad(item, path, "a text without a NUL character")
    return item.value


def _boolean(item: Written, path: str) -> bool:
    text = item.value.strip().lower() if isinstance(item.value, str) else None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _bad(item, path, "true or false")


def _number(item: Written, path: str) -> int:
    text = item.value.strip() if isinstance(item.value, str) else ""
    # YAML 1.1 would read 010 as 8 and 1:30 as 90: only plain decimal numbers are taken.
    if not _NUMBER.fullmatch(text) or len(text) > 15:
        raise _bad(item, path, "a whole number")
    return int(text)


def _decimal(item: Written, path: str) -> float:
    text = item.value.strip() if isinstance(item.value, str) else ""
    if not _DECIMAL.fullmatch(text) or len(text) > 15:
        raise _bad(item, path, "a number such as 90 or 0.5")
    return float(text)


def _choice(choices: tuple[str, ...], item: Written, path: str) -> str:
    if isinstance(item.value, str) and item.value in choices:
        return item.value
    near = nearest(item.value, choices) if isinstance(item.value, str) else None
    raise _bad(item, path, "one of " + ", ".join(choices), f"did you mean {near}?" if near else "")


def _list(item: Written, path: str) -> tuple[str, ...]:
    if item.value is None:
        return ()
    if not isinstance(item.value, tuple):
        raise _bad(item, path, "a list: [one, two]")
    return tuple(_string(inner, f"{path}[{index}]") for index, inner in enumerate(item.value))


def _strings(item: Written, path: str) -> Mapping[str, str]:
    table = _table(item, path)
    for name, inner in table.items():
        if not _VARIABLE.fullmatch(name):
            raise ConfigProblem(
                f"{inner.source}: {path}: {name!r} is no name of a variable", "letters, digits and _ only"
            )
        if name in ("ORCH_AGENT", "ORCH_PROJECT"):
            raise ConfigProblem(f"{inner.source}: {path}: orch itself sets {name}", "choose another name")
    return {name: _string(inner, f"{path}.{name}") for name, inner in table.items()}


def _paths(value: Any, item: Written, home: Path | None) -> Any:
    if isinstance(value, tuple):
        return tuple(_anchored(part, item.base, home) for part in value)
    return None if value is None else _anchored(value, item.base, home)


def _anchored(text: str, base: Path | None, home: Path | None) -> str:
    """A path made absolute: `~` from home, everything else from the folder of the layer that says it."""
    if (text == "~" or text.startswith("~/")) and home is not None:
        return str(home / text[2:])
    return text if base is None else str(base / text)


def _bad(item: Written, path: str, wanted: str, hint: str = "") -> ConfigProblem:
    return ConfigProblem(
        f"{item.source}: {path} must be {wanted}, not {_shown(item)}", hint or f"for example: {example(item, path)}"
    )


def _shown(item: Written) -> str:
    if item.value is None:
        return "empty"
    if isinstance(item.value, tuple):
        return "a list"
    if isinstance(item.value, str):
        return repr(item.value if len(item.value) <= 40 else item.value[:37] + "…")
    return "a table"
