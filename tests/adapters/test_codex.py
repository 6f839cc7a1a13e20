"""Codex's arguments, its own developer instructions, and what it says at its end."""

import tomllib
from pathlib import Path

import pytest

from adapters.adapter import Command, McpServer, Outcome, Usage
from adapters.codex import ADAPTER
from tests.adapters.launches import TEXT, carry, ended, launch

assert ADAPTER.launch_seam is not None
apply = ADAPTER.launch_seam.apply


def instructions(made: Command) -> list[str]:
    """Every value of developer_instructions among the arguments, as codex reads it."""
    pairs = zip(made.argv, made.argv[1:], strict=False)
    values = [value for word, value in pairs if word == "-c" and value.startswith("developer_instructions=")]
    return [str(tomllib.loads(value)["developer_instructions"]) for value in values]


def test_the_task_goes_in_by_stdin(tmp_path: Path) -> None:
    made = ADAPTER.command(launch(tmp_path, model="m", extra_args=("--search",)))
    assert made.stdin == b"-x do\nit"
    assert made.argv[1:] == (
        *(
            "exec",
            "--json",
            "-c",
            "features.unbounded_connection_retries=false",
            "--dangerously-bypass-approvals-and-sandbox",
            "-m",
            "m",
            "--search",
        ),
        "-",
    )


def test_a_resumed_run_has_its_options_before_the_subcommand(tmp_path: Path) -> None:
    of = launch(tmp_path, session="t1", resume=True)
    made = apply(of, ADAPTER.command(of), carry(tmp_path))
    assert made.argv[-3:] == ("resume", "t1", "-")
    assert instructions(made) == [TEXT]


@pytest.mark.parametrize(
    "given",
    [
        ("-s", "read-only"),
        ("--sandbox=workspace-write",),
        ("--approve-for-me",),
        ("-c", "sandbox_mode=read-only"),
        ("-csandbox_mode=read-only",),
        ("--config=approval_policy=never",),
    ],
)
def test_a_sandbox_that_the_person_chooses_is_not_bypassed(tmp_path: Path, given: tuple[str, ...]) -> None:
    of = launch(tmp_path, extra_args=given)
    made = apply(of, ADAPTER.command(of), carry(tmp_path))
    assert "--dangerously-bypass-approvals-and-sandbox" not in made.argv
    assert instructions(made) == [TEXT]
    assert any("sandbox" in note for note in made.notes)


def test_the_bypass_among_the_arguments_is_given_once(tmp_path: Path) -> None:
    made = ADAPTER.command(launch(tmp_path, extra_args=("--dangerously-bypass-approvals-and-sandbox",)))
    assert made.argv.count("--dangerously-bypass-approvals-and-sandbox") == 1
    assert not made.notes


def test_the_text_and_a_server_stand_beside_each_other(tmp_path: Path) -> None:
    of = launch(tmp_path)
    assert ADAPTER.mcp is not None
    server = McpServer(name="orch", command=("/bin/orch", "mcp"), environ={})
    made = apply(of, ADAPTER.mcp(of, ADAPTER.command(of), server), carry(tmp_path))
    assert instructions(made) == [TEXT]
    assert made.argv[1:4] == ("-c", 'mcp_servers.orch={command = "/bin/orch", args = ["mcp"], env = {}}', "exec")


def test_a_fresh_run_ignores_a_session(tmp_path: Path) -> None:
    assert "resume" not in ADAPTER.command(launch(tmp_path, session="t1")).argv


def test_interactive_trusts_the_worktree(tmp_path: Path) -> None:
    of = launch(tmp_path, interactive=True)
    made = apply(of, ADAPTER.command(of), carry(tmp_path))
    assert made.argv[-2:] == ("--", "-x do\nit")
    value = next(word for word in made.argv if word.startswith("projects="))
    assert tomllib.loads(value) == {"projects": {str(of.worktree): {"trust_level": "trusted"}}}


def test_the_text_is_toml_whatever_is_in_it(tmp_path: Path) -> None:
    of = launch(tmp_path)
    assert instructions(apply(of, ADAPTER.command(of), carry(tmp_path))) == [TEXT]


def test_the_persons_configured_instructions_come_first(tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".codex"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('developer_instructions = """Mine\nhere"""\n')
    of = launch(tmp_path)
    assert instructions(apply(of, ADAPTER.command(of), carry(tmp_path))) == [f"Mine\nhere\n\n{TEXT}"]
    other = launch(tmp_path, environ={"CODEX_HOME": str(tmp_path / "elsewhere")})
    assert instructions(apply(other, ADAPTER.command(other), carry(tmp_path))) == [TEXT]


@pytest.mark.parametrize("written", ['developer_instructions="Mine"', "developer_instructions=Mine"])
def test_instructions_among_the_arguments_win_over_the_configured_ones(tmp_path: Path, written: str) -> None:
    of = launch(tmp_path, extra_args=("-c", written, "-c", "model_verbosity=low"))
    made = apply(of, ADAPTER.command(of), carry(tmp_path))
    assert instructions(made) == [f"Mine\n\n{TEXT}"]
    assert made.argv[made.argv.index("model_verbosity=low") - 1] == "-c"


@pytest.mark.parametrize("word", ["--config=developer_instructions='Mine'", '-cdeveloper_instructions="Mine"'])
def test_other_spellings_of_the_option_are_merged_too(tmp_path: Path, word: str) -> None:
    of = launch(tmp_path, extra_args=("-c", "developer_instructions=First", word))
    made = apply(of, ADAPTER.command(of), carry(tmp_path))
    assert instructions(made) == [f"Mine\n\n{TEXT}"]
    assert word not in made.argv


def test_the_last_layer_of_the_configuration_counts_and_a_projects_only_where_it_is_trusted(tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".codex"
    tree = tmp_path / "tree"
    for each in (folder, tree / ".codex"):
        each.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {tmp_path}/main/.git/worktrees/tree\n")
    (tree / ".codex" / "config.toml").write_text('developer_instructions = "Project"\n')
    (folder / "config.toml").write_text('developer_instructions = "Base"\n')
    (folder / "memo.config.toml").write_text('developer_instructions = "Profile"\n')

    def merged(*words: str) -> str:
        of = launch(tmp_path, extra_args=words)
        return instructions(apply(of, ADAPTER.command(of), carry(tmp_path)))[0].removesuffix(f"\n\n{TEXT}")

    assert merged() == "Base"
    assert merged("-p", "memo") == "Profile"
    with (folder / "config.toml").open("a") as stream:
        stream.write(f'[projects."{tmp_path}/main"]\ntrust_level = "trusted"\n')
    assert merged("--profile=memo") == "Project"


def test_a_broken_configuration_is_left_for_codex_to_complain_about(tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".codex"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("= broken")
    of = launch(tmp_path)
    assert instructions(apply(of, ADAPTER.command(of), carry(tmp_path))) == [TEXT]


def test_a_text_that_no_argument_can_hold_is_refused(tmp_path: Path) -> None:
    of = launch(tmp_path)
    with pytest.raises(ValueError, match="128 KiB"):
        apply(of, ADAPTER.command(of), carry(tmp_path, text="x" * 140_000))


STARTED = {"type": "thread.started", "thread_id": "t1"}
SAID = {"type": "item.completed", "item": {"type": "agent_message", "text": "Bye."}}
DONE = {
    "type": "turn.completed",
    "usage": {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 7},
}


def test_a_completed_run(tmp_path: Path) -> None:
    report = ADAPTER.report(ended(launch(tmp_path), [STARTED, {"type": "error", "message": "once"}, SAID, DONE]))
    assert (report.outcome, report.session, report.message) == (Outcome.COMPLETED, "t1", "Bye.")
    assert report.usage == Usage(input=60, cached=40, output=7)


def test_a_failed_turn(tmp_path: Path) -> None:
    failed = {"type": "turn.failed", "error": {"message": "unexpected status 401 Unauthorized: no"}}
    report = ADAPTER.report(ended(launch(tmp_path), [STARTED, failed], code=1))
    assert (report.outcome, report.session) == (Outcome.AUTH, "t1")
    assert report.reason == "unexpected status 401 Unauthorized: no"


def test_a_signal_is_a_crash(tmp_path: Path) -> None:
    assert ADAPTER.report(ended(launch(tmp_path), [STARTED], code=None, signal=9)).outcome is Outcome.CRASHED
