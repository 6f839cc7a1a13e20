"""aider's arguments, the files that it reads already, and what it says at its end."""

from pathlib import Path

import pytest

from adapters.adapter import Command, Outcome, Usage
from adapters.aider import ADAPTER
from tests.adapters.launches import carry, ended, launch

assert ADAPTER.launch_seam is not None
apply = ADAPTER.launch_seam.apply


def reads(made: Command) -> list[str]:
    return [value for word, value in zip(made.argv, made.argv[1:], strict=False) if word == "--read"]


def test_the_task_goes_in_by_a_file_and_nothing_is_left_in_the_tree(tmp_path: Path) -> None:
    made = ADAPTER.command(launch(tmp_path, model="openai/m"))
    task = Path(made.argv[made.argv.index("--message-file") + 1])
    assert made.files[task] == b"-x do\nit"
    for name in ("--chat-history-file", "--input-history-file", "--llm-history-file"):
        assert Path(made.argv[made.argv.index(name) + 1]).is_relative_to(tmp_path / "state")


@pytest.mark.parametrize("task", ["!touch pwned", "/add secrets", "/etc/hosts is wrong"])
def test_a_task_is_never_a_command(tmp_path: Path, task: str) -> None:
    """Aider would run the first in a shell, and refuse the last as a command that it does not know."""
    made = ADAPTER.command(launch(tmp_path, task=task))
    assert made.files[Path(made.argv[made.argv.index("--message-file") + 1])] == f"\n{task}".encode()


def test_the_persons_arguments_come_after_ours_and_win(tmp_path: Path) -> None:
    argv = ADAPTER.command(launch(tmp_path, extra_args=("--map-tokens", "1024"))).argv
    assert [argv[index + 1] for index, word in enumerate(argv) if word == "--map-tokens"] == ["0", "1024"]


def test_files_that_are_configured_to_be_read_are_read_still(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".aider.conf.yml").write_text("read: [HOME.md]\n")
    of = launch(tmp_path)
    ours = str(tmp_path / "render.md")
    assert reads(apply(of, ADAPTER.command(of), carry(tmp_path))) == [ours, "HOME.md"]
    of.worktree.mkdir()
    (of.worktree / ".aider.conf.yml").write_text("read: CONVENTIONS.md\n")
    assert reads(apply(of, ADAPTER.command(of), carry(tmp_path))) == [ours, "CONVENTIONS.md"]
    variable = launch(tmp_path, environ={"AIDER_READ": "ENV.md"})
    assert reads(apply(variable, ADAPTER.command(variable), carry(tmp_path))) == [ours, "ENV.md"]
    several = launch(tmp_path, environ={"AIDER_READ": "[ONE.md, TWO.md]"})
    assert reads(apply(several, ADAPTER.command(several), carry(tmp_path))) == [ours, "ONE.md", "TWO.md"]
    (of.worktree / "other.yml").write_text("read: OTHER.md\n")
    other = launch(tmp_path, extra_args=("--config=other.yml",))
    assert reads(apply(other, ADAPTER.command(other), carry(tmp_path))) == [ours, "OTHER.md"]
    word = launch(tmp_path, extra_args=("--read=FLAG.md",))
    assert reads(apply(word, ADAPTER.command(word), carry(tmp_path))) == [ours]
    flag = launch(tmp_path, extra_args=("--read", "FLAG.md"))
    assert sorted(reads(apply(flag, ADAPTER.command(flag), carry(tmp_path)))) == sorted([ours, "FLAG.md"])


# name -> (arguments, environment, files below the worktree, what aider 0.86.2 reads then), each measured with it.
READS: dict[str, tuple[tuple[str, ...], dict[str, str], dict[str, str], list[str]]] = {
    "variable": ((), {"AIDER_READ": "E.md"}, {}, ["E.md"]),
    "json": ((), {"AIDER_READ": '["a, b.md", "c.md"]'}, {}, ["a, b.md", "c.md"]),
    "brackets": ((), {"AIDER_READ": "[a.md, c.md]"}, {}, ["a.md", "c.md"]),
    "dotenv": ((), {}, {".env": "X=1\nAIDER_READ=D.md\n"}, ["D.md"]),
    "dotenv over variable": ((), {"AIDER_READ": "E.md"}, {".env": "AIDER_READ=D.md\n"}, ["D.md"]),
    "dotenv over config": ((), {}, {".env": "AIDER_READ=D.md # x\n", ".aider.conf.yml": "read: C.md\n"}, ["D.md"]),
    "quotes": ((), {}, {".env": "export AIDER_READ='[h 1.md, h2.md]' # c\n"}, ["h 1.md", "h2.md"]),
    "double quotes": ((), {}, {".env": 'AIDER_READ="[\\"a.md\\", \\"b c.md\\"]"\n'}, ["a.md", "b c.md"]),
    "home": ((), {"AIDER_READ": "E.md"}, {"../home/.env": "AIDER_READ=H.md\n"}, ["H.md"]),
    "worktree over home": ((), {}, {"../home/.env": "AIDER_READ=H.md\n", ".env": "AIDER_READ=D.md"}, ["D.md"]),
    "env-file": (("--env-file", "x.env"), {}, {"x.env": "AIDER_READ=X.md\n", ".env": "AIDER_READ=D.md"}, ["X.md"]),
    "AIDER_ENV_FILE": ((), {"AIDER_ENV_FILE": "x.env"}, {"x.env": "AIDER_READ=X.md\n"}, ["X.md"]),
    "env-file of config": ((), {}, {"x.env": "AIDER_READ=X.md\n", ".aider.conf.yml": "env-file: x.env\n"}, ["X.md"]),
    "config": (("-c", "o.yml"), {}, {"o.yml": "read: O.md\n", ".aider.conf.yml": "read: C.md\n"}, ["O.md"]),
    "config without": (("-c", "o.yml"), {}, {"o.yml": "map-tokens: 3\n", ".aider.conf.yml": "read: C.md\n"}, ["C.md"]),
    "AIDER_CONFIG": ((), {"AIDER_CONFIG": "o.yml"}, {"o.yml": "read: O.md\n"}, []),
    "nothing": ((), {}, {".env": "# AIDER_READ=no.md\nMY_AIDER_READ=no.md\n"}, []),
}


@pytest.mark.parametrize("name", READS)
def test_what_is_read_already_is_read_still(tmp_path: Path, name: str) -> None:
    arguments, environ, files, expected = READS[name]
    of = launch(tmp_path, extra_args=arguments, environ={"HOME": str(tmp_path / "home"), **environ})
    (tmp_path / "home").mkdir()
    of.worktree.mkdir()
    for file, text in files.items():
        (of.worktree / file).write_text(text)
    assert reads(apply(of, ADAPTER.command(of), carry(tmp_path))) == [str(tmp_path / "render.md"), *expected]


ANSWER = "Tokens: 1.2k sent, 9 received.\n"


def test_a_completed_run(tmp_path: Path) -> None:
    of = launch(tmp_path)
    of.state.mkdir()
    (of.state / "aider.llm").write_text(
        "TO LLM 2026\nUSER hi\nLLM RESPONSE 2026\nASSISTANT first\nTO LLM 2026\nLLM RESPONSE 2026\nASSISTANT Bye.\n"
        "ASSISTANT \nASSISTANT Really.\n"
    )
    report = ADAPTER.report(ended(of, ANSWER + "Tokens: 2k sent, 500 cache hit, 30 received. Cost: $0.01\n"))
    assert (report.outcome, report.message) == (Outcome.COMPLETED, "Bye.\n\nReally.")
    assert report.usage == Usage(input=2700, cached=500, output=39, exact=False)


def test_an_error_with_exit_code_0_is_an_error(tmp_path: Path) -> None:
    said = (
        "litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key\r\nThe API provider…\r\n"
    )
    report = ADAPTER.report(ended(launch(tmp_path), said))
    assert report.outcome is Outcome.AUTH
    assert report.reason.startswith("litellm.AuthenticationError")


def test_an_error_that_a_retry_got_over_is_none(tmp_path: Path) -> None:
    said = "litellm.RateLimitError: slow down\nRetrying in 0.2 seconds...\n" + ANSWER
    assert ADAPTER.report(ended(launch(tmp_path), said)).outcome is Outcome.COMPLETED


def test_no_answer_at_all_is_a_failure(tmp_path: Path) -> None:
    assert ADAPTER.report(ended(launch(tmp_path), "Aider v0.86.2\n")).outcome is Outcome.FAILED
