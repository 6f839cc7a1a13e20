"""Cursor's command line agent (contract-tested against a stand-in built from its documents; never run here)."""

from dataclasses import replace

from adapters.adapter import Adapter, Command, Ending, FileSeam, Launch, Outcome, Report
from adapters.output import json_lines, last_text, report_failure, text

_ARGUMENT_BYTES = 128 * 1024 - 1


def _command(launch: Launch) -> Command:
    if len(launch.task.encode()) > _ARGUMENT_BYTES:
        raise ValueError("the task is too long for an argument (128 KiB is the most): put the material into a file")
    words = [launch.executable]
    if not launch.interactive:
        words += ["-p", "--trust", "--output-format", "json"]
    words.append("--force")
    if launch.resume and launch.session:
        # Chats are kept by the working directory: an agent is resumed in its own worktree.
        words += ["--resume", launch.session]
    if launch.model:
        words += ["--model", launch.model]
    return Command(argv=(*words, *launch.extra_args, "--", launch.task))


def _report(ending: Ending) -> Report:
    """One JSON object on success; a failure has no JSON, its text is the last thing printed."""
    result = next((line for line in reversed(list(json_lines(ending.output))) if line.get("type") == "result"), None)
    if result is None:
        if ending.signal is None and ending.exit_code == 0:
            return Report(outcome=Outcome.FAILED, reason="it ended without a result")
        return report_failure(ending, last_text(ending.output))
    said = text(result.get("result"))
    done = Report(outcome=Outcome.COMPLETED, session=text(result.get("session_id")) or None, message=said or None)
    if result.get("is_error") or ending.exit_code != 0 or ending.signal is not None:
        wrong = report_failure(ending, said)
        return replace(done, outcome=wrong.outcome, reason=wrong.reason)
    return done


ADAPTER = Adapter(
    name="cursor",
    title="Cursor CLI",
    # `agent` is the name since 2026; other programs have that name too, so the old one is tried first.
    executables=("cursor-agent", "agent"),
    install="get it from the vendor: cursor.com/cli",
    tested=("2026.09.28", "2026.10.01"),
    proof="contract",
    command=_command,
    # Beyond this a context file is cut, with a note.
    file_seam=FileSeam(name="AGENTS.md", cap=102_400),
    default_seam="file",
    report=_report,
    reads=("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", ".cursorrules", ".cursor/rules"),
)
