"""What the model is to say: replies, and scripts of them, built in Python or loaded from JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class ScriptFault(ValueError):
    """A script of replies is not what it must be; the message names the place."""


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The usage that a reply reports, in tokens. `input` is without `cached` (read) and `written` (to a cache)."""

    input: int = 100
    cached: int = 0
    written: int = 0
    output: int = 20


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool by the backend's own name for it."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class RunCommand:
    """A shell command, run by whichever shell tool the request offers.

    A request that offers none (aider never does) gets a sentence that quotes the command instead: aider then adds
    the files that it names to the chat and asks again, which is its own form of a second turn.
    """

    command: str


@dataclass(frozen=True)
class Text:
    """A plain answer. `delay` is in seconds, before the first byte, here and in the other replies."""

    text: str
    usage: Tokens = field(default_factory=Tokens)
    delay: float = 0


@dataclass(frozen=True)
class Calls:
    """One or several tool calls in one answer, after a text that may be empty."""

    calls: tuple[ToolCall | RunCommand, ...]
    text: str = ""
    usage: Tokens = field(default_factory=Tokens)
    delay: float = 0


@dataclass(frozen=True)
class Error:
    """An HTTP error. Without a `body` it is the one that the provider of that API would send, with `message` in it.

    Without a `message` it has the provider's own words, which some backends tell the kinds of errors apart by.
    """

    status: int
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    delay: float = 0


@dataclass(frozen=True)
class Cut:
    """An answer whose connection is aborted in the middle of `text`."""

    text: str = "This answer is cut off before it has come to its end."
    delay: float = 0


@dataclass(frozen=True)
class Reset:
    """A connection that is aborted before the status line."""

    delay: float = 0


Reply = Text | Calls | Error | Cut | Reset


@dataclass(frozen=True)
class Rule:
    """`reply` answers every request whose body contains the text `contains`; it uses up nothing of the script."""

    contains: str
    reply: Reply


@dataclass(frozen=True)
class Script:
    """Replies in order, one for each main request; then `final`, for ever. A matching rule goes first."""

    replies: tuple[Reply, ...] = ()
    final: Reply = field(default_factory=lambda: Text("Done."))
    rules: tuple[Rule, ...] = ()

    @classmethod
    def of(cls, *steps: Reply | RunCommand | ToolCall, final: Reply | None = None) -> "Script":
        """Return the script of these steps; a bare call is an answer with that one call."""
        return cls(replies=tuple(_reply(step) for step in steps), final=final or Text("Done."))


def _reply(step: Reply | RunCommand | ToolCall) -> Reply:
    return Calls((step,)) if isinstance(step, RunCommand | ToolCall) else step


def load_script(path: Path) -> Script:
    """Read a script from a JSON file; see `parse_script`. Raises ScriptFault."""
    try:
        return parse_script(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as exc:
        raise exc if isinstance(exc, ScriptFault) else ScriptFault(f"{path}: {exc}") from exc


def parse_script(value: object) -> Script:
    """Read a script: a list of replies, or `{"replies": […], "final": R, "rules": [{"contains": S, "reply": R}]}`.

    A reply is a string or one of `{"text": S}`, `{"run": S | [S…]}`, `{"tool": N, "arguments": {…}}`,
    `{"error": STATUS, "body": S, "headers": {…}, "message": S}`, `{"cut": S}`, `{"reset": true}`; each may have
    `"delay"` (seconds), and the first three `"usage": {"input": N, "cached": N, "written": N, "output": N}`.
    """
    if isinstance(value, list):
        return Script(replies=_replies(value))
    if not isinstance(value, dict):
        raise ScriptFault("a script is a list of replies or an object with replies")
    _known(value, {"replies", "final", "rules"}, "the script")
    rules = []
    for rule in _list(value.get("rules", []), "rules"):
        if not isinstance(rule, dict) or not isinstance(rule.get("contains"), str) or "reply" not in rule:
            raise ScriptFault('a rule is {"contains": TEXT, "reply": REPLY}')
        rules.append(Rule(rule["contains"], parse_reply(rule["reply"], "a rule's reply")))
    return Script(
        replies=_replies(_list(value.get("replies", []), "replies")),
        final=parse_reply(value["final"], "final") if "final" in value else Text("Done."),
        rules=tuple(rules),
    )


def _replies(values: Sequence[object]) -> tuple[Reply, ...]:
    return tuple(parse_reply(item, f"reply {number}") for number, item in enumerate(values, start=1))


def parse_reply(value: object, where: str) -> Reply:
    """Read one reply, as `parse_script` says; `where` names it in a ScriptFault."""
    if isinstance(value, str):
        return Text(value)
    if not isinstance(value, dict):
        raise ScriptFault(f"{where}: a reply is a string or an object")
    kinds = [kind for kind in _KEYS if kind in value and not (kind == "text" and ("run" in value or "tool" in value))]
    if len(kinds) != 1:
        raise ScriptFault(f"{where}: exactly one of {', '.join(_KEYS)} is needed")
    _known(value, {kinds[0], "delay", *_KEYS[kinds[0]]}, where)
    try:
        return _build(kinds[0], value, float(value.get("delay", 0)))
    except (TypeError, ValueError) as exc:
        raise ScriptFault(f"{where}: {exc}") from exc


_KEYS: dict[str, tuple[str, ...]] = {
    "text": ("usage",),
    "run": ("text", "usage"),
    "tool": ("arguments", "text", "usage"),
    "error": ("body", "headers", "message"),
    "cut": (),
    "reset": (),
}


def _build(kind: str, value: Mapping[str, Any], delay: float) -> Reply:
    if kind == "reset":
        return Reset(delay=delay)
    if kind == "cut":
        return Cut(str(value["cut"]), delay=delay) if isinstance(value["cut"], str) else Cut(delay=delay)
    if kind == "error":
        headers = {str(name): str(text) for name, text in dict(value.get("headers", {})).items()}
        body = value.get("body")
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        message = str(value.get("message", ""))
        return Error(int(value["error"]), text, headers, message, delay=delay)
    usage = Tokens(**{name: int(count) for name, count in dict(value.get("usage", {})).items()})
    if kind == "text":
        return Text(str(value["text"]), usage, delay)
    calls: tuple[ToolCall | RunCommand, ...]
    if kind == "run":
        commands = [value["run"]] if isinstance(value["run"], str) else list(value["run"])
        calls = tuple(RunCommand(str(command)) for command in commands)
    else:
        calls = (ToolCall(str(value["tool"]), dict(value.get("arguments", {}))),)
    return Calls(calls, str(value.get("text", "")), usage, delay)


def _known(value: Mapping[str, object], allowed: set[str], where: str) -> None:
    unknown = sorted(set(value) - allowed)
    if unknown:
        raise ScriptFault(f"{where}: unknown key {unknown[0]!r} (known: {', '.join(sorted(allowed))})")


def _list(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise ScriptFault(f"{where} must be a list")
    return value
