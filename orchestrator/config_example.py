"""An example for a refused value: what could stand there instead, as it would be written, key and all."""

import re
from typing import Any, get_args, get_origin

from orchestrator.config_file import Written
from orchestrator.config_schema import keys

_VARIABLE = "environment variable "
# Where the type alone says too little.
_TELLING = {
    "local_llm": "http://127.0.0.1:8080",
    "executable": "/usr/local/bin/program",
    "command": "[program, --option]",
    "dir": "../worktrees",
    "guidance": "[docs/agents.md]",
    "seam": "auto",
    "file": "NOTES.md",
    "flag": "--context",
    "env": "CONTEXT_FILE",
    "prompt": "arg",
}


def example(item: Written, path: str) -> str:
    """A correct line for the key at the dotted `path`, in the form of the layer that `item` is from."""
    path, listed, _ = path.partition("[")
    value = _value(path)
    if item.source.startswith(_VARIABLE):
        return f"{item.source.removeprefix(_VARIABLE)}={re.sub(r'[][ ]', '', value)}"
    if item.source == "command line":
        return value
    if listed and not value.startswith("["):
        value = f"[{value}]"
    return _nested(path, value)


def _nested(path: str, value: str) -> str:
    *folders, name = path.split(".")
    text = f"{name}: {value}"
    for folder in reversed(folders):
        text = f"{folder}: {{{text}}}"
    return text


def _value(path: str) -> str:
    parts = path.split(".")
    if parts[0] == "backends":
        return _backend_value(parts)
    for key in keys():
        if key.path == path:
            return _TELLING.get(parts[-1]) or _typed(key.hint, key.default)
        if key.path.startswith(path + "."):
            # A section: its first key.
            return "{" + _nested(key.path.removeprefix(path + "."), _typed(key.hint, key.default)) + "}"
    return "text"


def _backend_value(parts: list[str]) -> str:
    if len(parts) == 1:
        return "{claude: {model: NAME}}"
    if len(parts) == 2:
        return "{args: [--option]}"
    if parts[2] == "env":
        return "{NAME: value}" if len(parts) == 3 else "value"
    if parts[2] == "seam" and len(parts) == 3:
        return "auto"
    return _TELLING.get(parts[-1], "[--option]" if parts[-1] == "args" else "NAME")


def _typed(hint: Any, default: Any) -> str:
    if get_origin(hint) is tuple:
        return "[one, two]"
    if isinstance(default, bool):
        return "true" if default else "false"
    if isinstance(default, int | float):
        return f"{default:g}" if default else "2"
    return default if isinstance(default, str) else str(next(iter(get_args(hint)), "text"))
