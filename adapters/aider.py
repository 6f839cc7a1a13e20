"""aider (measured on 0.86.2)."""

import json
import re
from dataclasses import replace
from pathlib import Path

from adapters.adapter import (
    Adapter,
    Carry,
    Command,
    Ending,
    Launch,
    LaunchSeam,
    Outcome,
    Redirect,
    Report,
    Usage,
)
from adapters.options import has_option, take_options
from adapters.output import one_line, outcome_of, report_failure

# Without these it asks questions, edits .gitignore, commits, and leaves its own files in the tree. Each can be
# turned round by a later argument of the person's (`--auto-commits`, `--map-tokens 1024`).
_QUIET = (
    "--yes-always",
    "--no-pretty",
    "--no-fancy-input",
    "--no-check-update",
    "--no-analytics",
    "--no-show-model-warnings",
    "--no-show-release-notes",
    "--no-detect-urls",
    "--no-gitignore",
    "--no-auto-commits",
    "--no-dirty-commits",
    "--map-tokens",
    "0",
)
_TOKENS = re.compile(
    r"^Tokens: ([\d.,]+)([km]?) sent(?:, ([\d.,]+)([km]?) cache hit)?.*?, ([\d.,]+)([km]?) received", re.M
)
_ERROR = re.compile(r"^(?:litellm\.)?(\w*(?:Error|Exception))\b.*$", re.M)
_VARIABLE = "AIDER_READ"
# A line of a `.env` file: single quotes, double quotes, or plain up to a comment.
_ASSIGNED = re.compile(
    rf"^[ \t]*(?:export[ \t]+)?{_VARIABLE}[ \t]*=[ \t]*"
    r"""(?:'([^'\n]*)'|"((?:[^"\\\n]|\\.)*)"|((?:(?![ \t]#)[^\r\n])*))""",
    re.M,
)
_LOG = "aider.llm"
_CONFIG = ("-c", "--config")


def _command(launch: Launch) -> Command:
    task = launch.state / "task.md"
    words = [
        launch.executable,
        *_QUIET,
        "--chat-history-file",
        str(launch.state / "aider.chat.md"),
        "--input-history-file",
        str(launch.state / "aider.input"),
        "--llm-history-file",
        str(launch.state / _LOG),
    ]
    if launch.model:
        words += ["--model", launch.model]
    words += launch.extra_args
    if launch.interactive:
        # There is no first prompt that stays interactive; a file of commands is the way round.
        load = launch.state / "load"
        files = {load: f"/code {' '.join(launch.task.split())}\n".encode()}
        return Command(argv=(*words, "--load", str(load)), files=files)
    # A message that starts with "/" or "!" is a command to it, of its own or of the shell; after a newline it is not.
    said = f"\n{launch.task}" if launch.task.startswith(("/", "!")) else launch.task
    return Command(argv=(*words, "--message-file", str(task)), files={task: said.encode()})


def _apply(launch: Launch, command: Command, carry: Carry) -> Command:
    """One more `--read`; the option replaces the list in the person's configuration, so that list is repeated."""
    own = [] if has_option(launch.extra_args, "--read") else _configured(launch)
    added = [word for path in (str(carry.path), *own) for word in ("--read", path)]
    return replace(command, argv=(*command.argv, *added))


def _configured(launch: Launch) -> list[str]:
    """The files that are read already: AIDER_READ, else the nearest configuration file that names any (measured).

    A `.env` file overrides the environment, and the last of several each other: of the home, of the worktree, and the
    one that is named by an option, a variable or a configuration file.
    """
    named = [*_given(launch, "--env-file"), launch.environ.get("AIDER_ENV_FILE", ""), *_settings(launch, "env-file")]
    home = launch.environ.get("HOME")
    files = [Path(home) / ".env"] if home else []
    files += [launch.worktree / name for name in (".env", *[name for name in named if name][:1])]
    listed = launch.environ.get(_VARIABLE, "")
    for path in files:
        said = _ASSIGNED.findall(_content(path))
        if said:
            quoted, doubled, plain = said[-1]
            listed = quoted or doubled.replace('\\"', '"') or plain
    return _parted(listed.strip()) if listed.strip() else _settings(launch, "read")


def _given(launch: Launch, *names: str) -> list[str]:
    """What the person's arguments give for an option, the last one first: it wins."""
    _, given = take_options(launch.extra_args, *names)
    return [value for _, value in reversed(given)]


def _settings(launch: Launch, key: str) -> list[str]:
    """What the nearest configuration file that has the key says: one that is named, the worktree's, the home's."""
    import yaml

    home = launch.environ.get("HOME")
    usual = [folder / ".aider.conf.yml" for folder in (launch.worktree, *([Path(home)] if home else []))]
    for path in [*[launch.worktree / name for name in _given(launch, *_CONFIG)[:1]], *usual]:
        try:
            value = yaml.safe_load(_content(path))
        except yaml.YAMLError:
            continue
        said = value.get(key) if isinstance(value, dict) else None
        if said:
            return [str(each) for each in said] if isinstance(said, list) else [str(said)]
    return []


def _parted(listed: str) -> list[str]:
    """One path, or several in brackets: as JSON, or parted at commas."""
    if not (listed.startswith("[") and listed.endswith("]")):
        return [listed]
    try:
        return [str(path) for path in json.loads(listed)]
    except ValueError:
        return [path.strip() for path in listed[1:-1].split(",")]


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _report(ending: Ending) -> Report:
    """It exits with 0 whatever happened: an error counts when no answer came after it."""
    text = ending.output.decode("utf-8", "replace").replace("\r\n", "\n")
    answers = list(_TOKENS.finditer(text))
    errors = list(_ERROR.finditer(text))
    done = Report(
        outcome=Outcome.COMPLETED,
        message=_last_answer(ending.launch.state / _LOG),
        usage=_usage(answers),
    )
    if ending.signal is not None or ending.exit_code != 0:
        wrong = report_failure(ending, errors[-1].group(0) if errors else "")
        return replace(done, outcome=wrong.outcome, reason=wrong.reason)
    if errors and (not answers or answers[-1].start() < errors[-1].start()):
        said = errors[-1].group(0)
        return replace(done, outcome=outcome_of(said), reason=one_line(said))
    if not answers:
        return replace(done, outcome=Outcome.FAILED, reason="the model gave no answer")
    return done


def _last_answer(log: Path) -> str | None:
    """The last reply in the log of all that was sent and received, without the log's prefixes."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    _, found, reply = text.rpartition("\nLLM RESPONSE ")
    lines = [line.removeprefix("ASSISTANT").removeprefix(" ") for line in reply.splitlines()[1:]]
    return "\n".join(lines).strip() or None if found else None


def _usage(answers: list[re.Match[str]]) -> Usage | None:
    if not answers:
        return None
    sent = sum(_number(match[1], match[2]) for match in answers)
    cached = sum(_number(match[3], match[4]) for match in answers if match[3])
    received = sum(_number(match[5], match[6]) for match in answers)
    return Usage(input=max(0, sent - cached), cached=cached, output=received, exact=False)


def _number(digits: str, unit: str) -> int:
    return round(float(digits.replace(",", "")) * {"": 1, "k": 1_000, "m": 1_000_000}[unit])


def _redirect(url: str, home: Path) -> Redirect:
    return Redirect(
        environ={
            "HOME": str(home),
            "AIDER_OPENAI_API_BASE": f"{url}/v1",
            "AIDER_OPENAI_API_KEY": "loopback",
        },
        model="openai/scripted",
    )


ADAPTER = Adapter(
    name="aider",
    title="aider",
    executables=("aider",),
    install="uv tool install aider-chat (or: pipx install aider-chat)",
    tested=("0.86.2", "0.86.2"),
    proof="recorded",
    command=_command,
    launch_seam=LaunchSeam(describe="--read", apply=_apply),
    report=_report,
    redirect=_redirect,
    resumes=False,
    # Its own settings in the directory that it is started in; `.env` is the project's, and comes only where listed.
    local_files=(".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json"),
)
