"""What the four APIs have in common: an answer, an offered tool, and the functions that each API's module has."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from orchestrator.recorder.replies import Calls, Cut, Reply, RunCommand, Text, Tokens, ToolCall

Body = Mapping[str, Any]

# The names that backends give to the tool which runs a shell command, in lower case, best first.
SHELL_TOOLS = ("bash", "exec_command", "shell_command", "shell", "run_shell_command", "developer__shell", "local_shell")
# Ways in which a backend asks for a name for the conversation, beside the conversation itself. opencode and codex say
# "title", gemini's router and claude's title request want structured output, which `wants_structure` sees.
_TITLE_PROMPTS = (
    "you are a title generator",
    "generate a title for this conversation",
    "generate a concise, sentence-case title",
    "generate a concise title",
    "you will generate a short title",
)


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool that a request offers; `parameters` is its JSON schema. `builtin` marks one without a schema."""

    name: str
    parameters: Mapping[str, Any]
    builtin: bool = False


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call, complete, as it goes on the wire."""

    id: str
    name: str
    arguments: Mapping[str, Any]

    @property
    def encoded(self) -> str:
        """The arguments as a JSON text."""
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one response says; `number` makes its ids unique within a recorder."""

    number: int
    model: str
    text: str
    calls: tuple[Call, ...]
    usage: Tokens

    @property
    def pieces(self) -> tuple[str, ...]:
        """The text in up to four parts, as a stream delivers it."""
        size = max(1, -(-len(self.text) // 4))
        return tuple(self.text[start : start + size] for start in range(0, len(self.text), size))


class Dialect(Protocol):
    """The functions of an API module (`anthropic`, `responses`, `chat`, `gemini`)."""

    NAME: str
    # What the provider says to a wrong key.
    WRONG_KEY: str

    def tools(self, body: Body) -> tuple[Tool, ...]:
        """Return the tools that a request offers."""

    def prompts(self, body: Body) -> str:
        """Return the system text and the newest message's text, to recognise a title request by."""

    def structure(self, body: Body) -> object:
        """Return the JSON schema that the answer has to follow, or None."""

    def message(self, answer: Answer) -> dict[str, Any]:
        """Return the body of a whole response."""

    def events(self, answer: Answer) -> list[bytes]:
        """Return the events of a streamed response, encoded."""

    def error(self, status: int, said: str) -> dict[str, Any]:
        """Return the body of an error response."""


def sse(value: Mapping[str, Any], event: str | None = None, terminator: bytes = b"\n\n") -> bytes:
    """Encode one server-sent event."""
    head = b"" if event is None else b"event: " + event.encode() + b"\n"
    return head + b"data: " + json.dumps(value, ensure_ascii=False).encode() + terminator


ERROR_WORDS: Mapping[int, str] = {
    400: "The request was malformed.",
    403: "Your key has no permission for this.",
    404: "The model was not found.",
    429: "Rate limit reached. Please try again later.",
    500: "The server had an error while processing your request.",
    503: "The service is currently unavailable.",
    529: "Overloaded",
}


def is_side(dialect: Dialect, body: Body) -> bool:
    """Tell whether a request is beside the conversation: it offers no tool, and wants a title or structured output."""
    if dialect.tools(body):
        return False
    if dialect.structure(body) is not None:
        return True
    prompts = dialect.prompts(body).lower()
    return any(words in prompts for words in _TITLE_PROMPTS)


def side_answer(dialect: Dialect, body: Body, number: int) -> Answer:
    """Return the plain answer to a side request: a title, or the least value that its schema allows."""
    schema = dialect.structure(body)
    text = "Scripted session" if schema is None else json.dumps(least_value(schema))
    return Answer(number=number, model=str(body.get("model", "")), text=text, calls=(), usage=Tokens())


def least_value(schema: object) -> object:
    """Return a small value that satisfies a JSON schema of the plain kind that these requests use."""
    if not isinstance(schema, Mapping):
        return "Scripted session"
    if schema.get("enum"):
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for several in ("anyOf", "oneOf"):
        if schema.get(several):
            return least_value(schema[several][0])
    kind = schema.get("type")
    kind = str(kind[0] if isinstance(kind, list) else kind).lower()
    if kind == "object" or "properties" in schema:
        return {name: least_value(part) for name, part in schema.get("properties", {}).items()}
    least = schema.get("minimum", 0)
    plain: dict[str, object] = {"array": [], "number": least, "integer": least, "boolean": False, "null": None}
    return plain.get(kind, "Scripted session")


def answer(dialect: Dialect, reply: Reply, body: Body, number: int) -> Answer:
    """Turn a scripted reply into what goes on the wire, with each RunCommand as a call of a tool that is offered."""
    model = str(body.get("model", "scripted"))
    if isinstance(reply, Text):
        return Answer(number=number, model=model, text=reply.text, calls=(), usage=reply.usage)
    if isinstance(reply, Cut):
        return Answer(number=number, model=model, text=reply.text, calls=(), usage=Tokens())
    if not isinstance(reply, Calls):
        raise TypeError(f"{type(reply).__name__} is no answer")
    tools = dialect.tools(body)
    calls: list[Call] = []
    texts = [reply.text] if reply.text else []
    for index, wanted in enumerate(reply.calls):
        call = _call(wanted, tools, f"call_{number:04d}_{index}")
        if call is None:
            texts.append(f"I would run this next: {getattr(wanted, 'command', '')}")
        else:
            calls.append(call)
    return Answer(number=number, model=model, text="\n\n".join(texts), calls=tuple(calls), usage=reply.usage)


def _call(wanted: ToolCall | RunCommand, tools: tuple[Tool, ...], call_id: str) -> Call | None:
    if isinstance(wanted, ToolCall):
        return Call(id=call_id, name=wanted.name, arguments=wanted.arguments)
    tool = shell_tool(tools)
    if tool is None:
        return None
    return Call(id=call_id, name=tool.name, arguments=shell_arguments(tool, wanted.command))


def shell_tool(tools: tuple[Tool, ...]) -> Tool | None:
    """Return the tool that runs shell commands, by the names that the known backends use."""
    by_name = {tool.name.lower(): tool for tool in tools}
    return next((by_name[name] for name in SHELL_TOOLS if name in by_name), None)


def shell_arguments(tool: Tool, command: str) -> dict[str, Any]:
    """Return arguments for a shell tool, read off its schema: the command, and a value for all else it requires."""
    properties = tool.parameters.get("properties", {})
    name = next((known for known in ("command", "cmd", "script") if known in properties), "command")
    kind = properties.get(name, {}).get("type", "string")
    listed = str(kind).lower() == "array"
    arguments: dict[str, Any] = {name: ["bash", "-lc", command] if listed else command}
    for other in tool.parameters.get("required", ()):
        if other not in arguments:
            schema = properties.get(other, {})
            text = str(schema.get("type", "string")).lower() == "string" and not schema.get("enum")
            arguments[other] = "Run a command" if text else least_value(schema)
    return arguments
