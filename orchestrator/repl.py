"""The conversation: what a line means, by rules that can be read here; nothing is guessed by a model."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

# What a slash command runs: the words of the `orch` command line that it stands for.
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "/memory": ("memory",),
    "/mem": ("memory",),
    "/agents": ("ls",),
    "/spawn": ("spawn", "--backend"),
    "/logs": ("logs",),
    "/diff": ("diff",),
    "/show": ("show",),
    "/stop": ("stop",),
}
HELP = """\
a question               answered from the project's memory, each entry cited
/ask QUESTION            the same
/memory, /mem            exactly the text that the next agent reads
/memory list, add …      what `orch memory` does with these words
/agents                  the agents of this project
/spawn BACKEND TASK      start an agent
/logs ID, /diff ID       what an agent printed, and what it changed
/show ID, /stop ID       one agent in full; stop it
/help                    this
/quit, /exit, quit       leave (or Ctrl-D)"""


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What a line asks for: a `question`, the words of a command (`argv`), a `text` to print, or the end (`quit`)."""

    question: str | None = None
    argv: tuple[str, ...] = ()
    text: str | None = None
    quit: bool = False


def is_kept(line: str) -> bool:
    """Whether a line goes into the history on disk: not one with a secret, nor one that gives the memory its texts,
    which `orch memory rm` has to be able to take away.
    """
    from memory.secrets import find_secret

    words = line.split()
    gives = len(words) > 1 and words[0] in ("/memory", "/mem") and words[1] in ("add", "supersede", "reject")
    return not gives and find_secret(line) is None


def read_line(line: str) -> Meaning:
    """Decide what a line means: a slash makes it a command, everything else is a question to the memory."""
    said = line.strip()
    if not said:
        return Meaning(text="")
    if said.lower() in ("quit", "exit"):
        return Meaning(quit=True)
    if not said.startswith("/"):
        return Meaning(question=said)
    word, _, rest = said.partition(" ")
    if word in ("/quit", "/exit", "/q"):
        return Meaning(quit=True)
    if word == "/help":
        return Meaning(text=HELP)
    if word == "/ask":
        return Meaning(question=rest.strip()) if rest.strip() else Meaning(text="ask what? /ask QUESTION")
    if word not in COMMANDS:
        return Meaning(text=f"there is no {word}; /help lists what there is")
    if word == "/spawn":
        return _spawn(rest)
    try:
        return Meaning(argv=(*COMMANDS[word], *shlex.split(rest)))
    except ValueError as exc:
        return Meaning(text=f"that cannot be read: {exc}")


def _spawn(rest: str) -> Meaning:
    backend, _, task = rest.strip().partition(" ")
    if not task.strip():
        return Meaning(text="/spawn BACKEND TASK")
    # The rest of the line is the task as it stands: no quoting is needed, and `--` keeps it from being an option.
    return Meaning(argv=(*COMMANDS["/spawn"], backend, "--", task.strip()))
