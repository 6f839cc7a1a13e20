"""The command line: a group whose commands are imported only when they are run."""

import errno
import importlib
import sys
from typing import Any

import click

from orchestrator import __version__

# name -> (module that holds `command`, the line shown by `orch --help`)
COMMANDS: dict[str, tuple[str, str]] = {
    "spawn": ("spawn", "Start an agent in a worktree of its own, with the project's memory in it."),
    "ls": ("ls", "List the agents of this project."),
    "show": ("show", "Show everything that is known about one agent."),
    "logs": ("logs", "Print what an agent's backend has printed."),
    "wait": ("wait", "Wait for agents to end."),
    "resume": ("resume", "Give an agent that has ended another task, in its own conversation where it can."),
    "handoff": ("handoff", "Let another backend go on in an agent's worktree."),
    "stop": ("stop", "Stop an agent and everything that it started."),
    "diff": ("diff", "Show what an agent has changed."),
    "check": ("check", "Run the project's checks in an agent's worktree."),
    "merge": ("merge", "Merge an agent's work into a branch, checks first."),
    "memory": ("memory", "Print exactly the text that is put into the next agent."),
    "rm": ("rm", "Remove an agent's worktree and branch, without losing work."),
    "restore": ("restore", "Bring back a removed agent: its branch, its worktree, every file."),
    "pr": ("pr", "Push an agent's branch and open a pull request, through gh."),
    "gc": ("gc", "Remove the agents whose work is merged."),
    "doctor": ("doctor", "Look for what is missing, broken or left over, and repair what is safe."),
    "trust": ("trust", "Consent to the commands that run around worktrees."),
    "config": ("config", "Show the configuration, and where each value is from."),
    "ask": ("ask", "Answer a question from the project's memory, or say that it is not in it."),
    "repl": ("repl", "Ask the memory in plain language, and run commands, in one conversation."),
    "mcp": ("mcp", "Serve the memory to MCP clients over standard input and output."),
    "demo": ("demo", "See the memory arrive at a model on this machine: no account, no network."),
    "verify": ("verify", "Prove for each installed backend that the memory reaches its model."),
}

# Found by name but not listed: orch starts them itself.
HIDDEN: dict[str, str] = {"supervise": "supervise"}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports the module of one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = COMMANDS[cmd_name][0] if cmd_name in COMMANDS else HIDDEN.get(cmd_name)
        if name is None:
            return None
        command = importlib.import_module(f"orchestrator.commands.{name}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"orchestrator.commands.{name}.command is no click command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS and name not in HIDDEN:
            from orchestrator.spelling import nearest

            near = nearest(name, COMMANDS)
            known = f"did you mean: orch {near}" if near else "orch --help lists the commands"
            raise click.UsageError(f"there is no command {name!r}; {known}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="orch", message="%(prog)s %(version)s")
def group() -> None:
    """Run many coding agents side by side, with one project memory in each of them."""


def main(args: list[str] | None = None) -> int:
    """Run one command and return its exit code: the one boundary where errors become lines."""
    from orchestrator.errors import OrchError
    from orchestrator.view import complain

    stdout = sys.stdout
    try:
        result: Any = group.main(args=args, prog_name="orch", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as exc:
        return exc.exit_code
    except click.exceptions.NoArgsIsHelpError as exc:
        exc.show()
        return 2
    except click.UsageError as exc:
        complain(exc.format_message(), _usage_hint(exc))
        return 2
    except click.ClickException as exc:
        complain(exc.format_message())
        return exc.exit_code
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        return 130
    except OrchError as exc:
        complain(exc.message, exc.hint)
        return exc.exit_code
    except BrokenPipeError:
        # The reader of our stdout has gone (`orch ls | head`): that is no error of ours.
        _close_stdout()
        return 0
    except SystemExit as exc:
        if exc.code == 1 and sys.stdout is not stdout:
            return 0  # as above; click has seen it first, and wrapped the stream
        raise
    except Exception as exc:  # the boundary: anything else is a fault of ours, and is kept with its traceback
        if isinstance(exc, OSError) and exc.errno == errno.ENOSPC:
            _close_stdout()  # what is still to be written there would fail once more
            complain(f"no space is left{f' for {exc.filename}' if exc.filename else ''}", "free some, and repeat it")
            return 1
        from orchestrator.faults import write_fault

        log = write_fault(exc)
        complain(f"unexpected {type(exc).__name__}: {exc}", f"the traceback is in {log}; please report it")
        return 3


# Arguments that are words of a person, which may begin with a dash or be left without quotes.
_TEXTS = frozenset({"task", "text", "question"})


def _usage_hint(exc: click.UsageError) -> str:
    if exc.ctx is None:
        return "orch --help shows how it is used"
    where = exc.ctx.command_path
    arguments = [param for param in exc.ctx.command.params if isinstance(param, click.Argument)]
    shown = " ".join(param.make_metavar(exc.ctx).strip("[].") for param in arguments)
    if arguments and arguments[-1].name in _TEXTS:
        name = arguments[-1].name
        if isinstance(exc, click.NoSuchOption):
            return f"{where} --help lists the options; a {name} that begins with - goes after --: {where} … -- {shown}"
        if "extra argument" in exc.message:
            return f"put a {name} of several words in quotes: {where} … '{name} of several words'"
    return f"{where} --help shows how it is used"


def _close_stdout() -> None:
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
