"""Reading a config file: YAML in, written values with their file and line out; YAML's traps are refused."""

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.errors import ConfigProblem
from orchestrator.plain_file import read_plain

if TYPE_CHECKING:
    import yaml

_MOST_BYTES = 256 * 1024
_MOST_DEPTH = 12


@dataclass(frozen=True, kw_only=True)
class Written:
    """A value as it was written, before its type is known.

    `value` is the text of a scalar, None for a null, or a list or a table of further values. `source` is how a person
    finds it (`path:line`, a variable, `command line`), `base` the folder that a relative path in it starts from.
    """

    value: "str | tuple[Written, ...] | Mapping[str, Written] | None"
    source: str
    base: Path | None = None


def load_file(path: Path, *, base: Path, shown: str) -> Written:
    """Read a config file; an empty table when there is none, or nothing in it.

    `shown` is the file's name in messages. Raises ConfigProblem with file and line for anything that is not plain YAML.
    """
    try:
        data = read_plain(path, _MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return Written(value={}, source=shown, base=base)
    except OSError as exc:
        hint = "a config file is a few lines" if exc.errno == errno.EFBIG else f"look at it: ls -l {path}"
        raise ConfigProblem(f"{shown} cannot be read: {exc.strerror}", hint) from exc
    return parse(data, base=base, shown=shown)


def parse(data: bytes, *, base: Path, shown: str) -> Written:
    """Turn the bytes of a config file into written values; as `load_file`."""
    text = _text(data, shown)
    import yaml

    try:
        _refuse_traps(yaml.parse(text, Loader=yaml.SafeLoader), shown)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        line = f":{mark.line + 1}" if mark is not None else ""
        raise ConfigProblem(f"{shown}{line}: no valid YAML: {exc.problem or exc.context}", _yaml_hint(exc)) from exc
    except yaml.reader.ReaderError as exc:
        line_number = text.count("\n", 0, exc.position) + 1
        raise ConfigProblem(
            f"{shown}:{line_number}: the character U+{ord(text[exc.position]):04X} cannot stand in YAML",
            "delete that character",
        ) from exc
    written = _written(node, base, shown) if node is not None else Written(value=None, source=shown, base=base)
    if written.value is None:
        return Written(value={}, source=shown, base=base)
    if not isinstance(written.value, dict):
        raise ConfigProblem(
            f"{written.source}: the file must be a table of keys", "for example: memory: {inject: true}"
        )
    return written


def _text(data: bytes, shown: str) -> str:
    if len(data) > _MOST_BYTES:
        raise ConfigProblem(f"{shown} has {len(data)} bytes, more than {_MOST_BYTES}", "a config file is a few lines")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise ConfigProblem(f"{shown}:{line}: the file is not UTF-8", f"convert it: iconv -t UTF-8 {shown}") from exc


def _refuse_traps(events: "Iterator[Any]", shown: str) -> None:
    """Refuse aliases (which can grow without bound), tags, several documents and deep nesting."""
    import yaml

    depth = documents = 0
    for event in events:
        where = f"{shown}:{event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ConfigProblem(f"{where}: anchors and aliases are not understood here", "write the value out")
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise ConfigProblem(f"{where}: a second document begins here", "keep everything above the ---")
        tag = getattr(event, "tag", None)
        if tag:
            raise ConfigProblem(f"{where}: the tag {tag} is not understood here", "delete it")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MOST_DEPTH:
                raise ConfigProblem(f"{where}: nested deeper than {_MOST_DEPTH} levels", "no key lies so deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _yaml_hint(exc: "yaml.MarkedYAMLError") -> str:
    problem = exc.problem or ""
    if "'\\t'" in problem:
        return "indent with spaces: YAML takes no tabs"
    if "could not find expected ':'" in problem or "mapping values are not allowed" in problem:
        return "each line is `key: value`; put a value with a colon in quotes"
    return "quote values that hold special characters"


def _written(node: "yaml.Node", base: Path, shown: str) -> Written:
    import yaml

    source = f"{shown}:{node.start_mark.line + 1}"
    if isinstance(node, yaml.ScalarNode):
        value = None if node.tag == "tag:yaml.org,2002:null" else str(node.value)
        return Written(value=value, source=source, base=base)
    if isinstance(node, yaml.SequenceNode):
        items = tuple(_written(item, base, shown) for item in node.value)
        return Written(value=items, source=source, base=base)
    table: dict[str, Written] = {}
    for key, item in node.value:
        where = f"{shown}:{key.start_mark.line + 1}"
        if not isinstance(key, yaml.ScalarNode):
            raise ConfigProblem(f"{where}: a key must be a word", "write `key: value`")
        name = str(key.value)
        if name in table:
            raise ConfigProblem(
                f"{where}: the key {name!r} stands a second time", f"keep one; first: {table[name].source}"
            )
        inner = _written(item, base, shown)
        table[name] = Written(value=inner.value, source=where, base=base)
    return Written(value=table, source=source, base=base)
