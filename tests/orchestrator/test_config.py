"""The configuration: layers, types, and what is said about a slip."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adapters
from orchestrator.config import load_config
from orchestrator.config_file import parse
from orchestrator.config_schema import Config, keys
from orchestrator.config_values import build_config, own_names
from orchestrator.errors import ConfigProblem


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three built-in backends, whatever the registry holds."""
    monkeypatch.setattr(adapters, "registry", lambda: dict.fromkeys(("aider", "claude", "codex")))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The project's file and the user's file, in folders that exist, neither written yet."""
    project = tmp_path / "project" / ".orch" / "config.yml"
    user = tmp_path / "home" / ".config" / "orch" / "config.yml"
    project.parent.mkdir(parents=True)
    user.parent.mkdir(parents=True)
    return project, user


def _load(
    files: tuple[Path, Path],
    *,
    project: str | bytes = "",
    user: str = "",
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> Config:
    files[0].write_bytes(project if isinstance(project, bytes) else project.encode())
    files[1].write_text(user)
    return load_config(files[0], {"HOME": str(files[1].parents[2]), **(environ or {})}, flags)


def _refused(files: tuple[Path, Path], **layers: object) -> ConfigProblem:
    with pytest.raises(ConfigProblem) as caught:
        _load(files, **layers)  # type: ignore[arg-type]  # the layers are those of _load
    assert "\n" not in caught.value.message
    assert caught.value.hint
    return caught.value


def test_no_file_gives_the_defaults(tmp_path: Path) -> None:
    config = load_config(tmp_path / "none" / "config.yml", {})
    assert config == Config()
    assert (config.memory.budget.bytes, config.memory.budget.tokens) == (8000, 2000)
    assert load_config(None, {"HOME": str(tmp_path)}) == Config()


def test_a_later_layer_wins_key_by_key(files: tuple[Path, Path]) -> None:
    project = "memory:\n  ttl_days: 1\n  mcp: true\n  budget: {bytes: 1, tokens: 11}\n"
    user = "memory:\n  ttl_days: 2\n  budget: {bytes: 2}\n"
    environ = {"ORCH_MEMORY_TTL_DAYS": "3", "ORCH_MEMORY_STAGE": "merge"}
    config = _load(
        files, project=project, user=user, environ=environ, flags={"memory.ttl_days": 4, "limits.minutes": None}
    )
    assert config.memory.ttl_days == 4
    assert config.memory.stage == "merge"
    assert config.memory.mcp
    assert (config.memory.budget.bytes, config.memory.budget.tokens) == (2, 11)
    assert config.limits.minutes == 120
    assert config.sources["memory.ttl_days"] == "command line"
    assert config.sources["memory.stage"] == "environment variable ORCH_MEMORY_STAGE"
    assert config.sources["memory.budget.bytes"] == f"{files[1]}:3"
    assert config.sources["memory.mcp"] == ".orch/config.yml:3"


@pytest.mark.parametrize("text", ["true", "yes", "on", "'true'", "True", "1"])
def test_yes_in_all_its_spellings(files: tuple[Path, Path], text: str) -> None:
    assert _load(files, project=f"memory: {{mcp: {text}}}").memory.mcp is True


def test_a_word_that_yaml_would_turn_into_something_else_stays_a_text(files: tuple[Path, Path]) -> None:
    config = _load(
        files, project="backends:\n  codex: {model: 5.10}\n  aider: {model: on}\n  claude: {model: 2026-01-01}\n"
    )
    assert [config.backend(name).model for name in ("codex", "aider", "claude")] == ["5.10", "on", "2026-01-01"]


def test_every_key_can_be_set_by_its_variable(files: tuple[Path, Path]) -> None:
    values = {"bool": "false", "int": "7", "float": "7.5", "Literal": "", "tuple": "a,b", "str": "x"}
    for key in keys():
        kind = next(name for name in values if name in str(key.hint))
        text = values[kind] or {"memory.stage": "merge", "projection.seam": "launch"}[key.path]
        config = _load(files, environ={key.variable: text})
        assert config.sources == {key.path: f"environment variable {key.variable}"}


def test_variables_of_a_backend(files: tuple[Path, Path]) -> None:
    environ = {"ORCH_BACKENDS_CLAUDE_MODEL": "m", "ORCH_BACKENDS_CLAUDE_ARGS": '["--x", "a,b"]'}
    claude = _load(files, environ=environ).backend("claude")
    assert (claude.model, claude.args) == ("m", ("--x", "a,b"))


def test_variables_that_are_no_settings(files: tuple[Path, Path]) -> None:
    ours = {"ORCH_AGENT": "a1", "ORCH_PROJECT": "/x", "ORCH_BACKENDS": "/y", "ORCH_PORT_1": "1", "ORCH_MEMORY_MCP": ""}
    assert _load(files, environ=ours) == Config()
    config = _load(files, environ={"ORCH_ZEPHYR": "1"})
    assert "ORCH_ZEPHYR" in config.notes[0]


@pytest.mark.parametrize(
    ("text", "where", "hint"),
    [
        ("memory:\n  injct: true\n", ".orch/config.yml:2", "memory.inject"),
        ("memroy: {inject: true}\n", ".orch/config.yml:1", "memory"),
        ("\ninject: false\n", ".orch/config.yml:2", "memory.inject"),
        ("backend: {}\n", ".orch/config.yml:1", "backends"),
        ("memory: {zzzz: 1}\n", ".orch/config.yml:1", "the keys here are: budget"),
        ("backends:\n  clade: {model: x}\n", ".orch/config.yml:2", "backends.claude"),
        ("backends:\n  claude:\n    modell: x\n", ".orch/config.yml:3", "backends.claude.model"),
        ("backends: {claude: {command: [x]}}\n", ".orch/config.yml:1", "backends.claude.executable"),
        ("backends: {zorg: {args: [x]}}\n", ".orch/config.yml:1", "backends.zorg.command"),
        ("memory:\n  stage: merg\n", ".orch/config.yml:2", "merge"),
        ("memory:\n  inject: maybe\n", ".orch/config.yml:2", "true or false"),
        ("memory:\n  inject:\n", ".orch/config.yml:2", "true or false"),
        ("memory:\n  inject: [true]\n", ".orch/config.yml:2", "true or false"),
        ("memory:\n- inject\n", ".orch/config.yml:1", "table"),
        ("memory: true\n", ".orch/config.yml:1", "table"),
        ("- memory\n", ".orch/config.yml:1", "memory"),
        ("guidance: docs/a.md\n", ".orch/config.yml:1", "list"),
        ("guidance: [{a: b}]\n", ".orch/config.yml:1", "text"),
        ("limits: {minutes: -1}\n", ".orch/config.yml:1", "0 or more"),
        ("limits: {minutes: 1e3}\n", ".orch/config.yml:1", "a number"),
        ("limits: {minutes: 010}\n", ".orch/config.yml:1", "a number"),
        ("limits: {minutes: 1:30}\n", ".orch/config.yml:1", "a number"),
        ("limits: {minutes: 9999999999999999999}\n", ".orch/config.yml:1", "a number"),
        ("memory: {mcp: true}\nmemory: {mcp: false}\n", ".orch/config.yml:2", ".orch/config.yml:1"),
        ("memory:\n\tmcp: true\n", ".orch/config.yml:2", "spaces"),
        ("memory: {mcp: true\n", ".orch/config.yml:2", "quote"),
        ("a: b: c\n", ".orch/config.yml:1", "quotes"),
        ("memory: &a {mcp: true}\n", ".orch/config.yml:1", "write the value out"),
        ("memory: *a\n", ".orch/config.yml:1", "write the value out"),
        ("memory: !!python/object/apply:os.system [id]\n", ".orch/config.yml:1", "delete"),
        ("---\nmemory: {}\n---\nmemory: {}\n", ".orch/config.yml:3", "---"),
        ("? [a, b]\n: c\n", ".orch/config.yml:1", "key: value"),
        ("memory: " + "[" * 5000 + "\n", ".orch/config.yml:1", "deep"),
        (b"a: 1\nb: \xff\n", ".orch/config.yml:2", "UTF-8"),
        (b"a: 1\nb: \x01\n", ".orch/config.yml:2", "delete"),
        ("# " + "x" * 300_000, ".orch/config.yml", "few lines"),
    ],
)
def test_a_slip_names_file_and_line_and_what_helps(
    files: tuple[Path, Path], text: str | bytes, where: str, hint: str
) -> None:
    problem = _refused(files, project=text)
    assert problem.message.startswith(where)
    assert hint in f"{problem.message} {problem.hint}"
    example = problem.hint.removeprefix("for example: ")
    if example != problem.hint:
        _load(files, project=example)


def test_a_slip_is_named_even_where_a_later_layer_covers_it(files: tuple[Path, Path]) -> None:
    problem = _refused(files, project="memory: {mcp: maybe}", environ={"ORCH_MEMORY_MCP": "true"})
    assert ".orch/config.yml:1" in problem.message


@pytest.mark.parametrize(
    ("variable", "value", "hint"),
    [
        ("ORCH_MEMORY_INJET", "false", "ORCH_MEMORY_INJECT"),
        ("ORCH_MEMROY_INJECT", "false", "ORCH_MEMORY_INJECT"),
        ("ORCH_MEMORY_INJECT", "perhaps", "true or false"),
        ("ORCH_PROJECTION_SEAM", "lunch", "launch"),
        ("ORCH_LIMITS_MINUTES", "soon", "a number"),
        ("ORCH_GUIDANCE", "[oops", "one,two"),
    ],
)
def test_a_slip_in_a_variable_names_it(files: tuple[Path, Path], variable: str, value: str, hint: str) -> None:
    problem = _refused(files, environ={variable: value})
    assert variable in problem.message
    assert hint in f"{problem.message} {problem.hint}"
    name, given, value = problem.hint.removeprefix("for example: ").partition("=")
    if given:
        assert _load(files, environ={name: value}).sources


def test_every_refused_value_gets_an_example_that_is_taken(files: tuple[Path, Path]) -> None:
    # No key takes a table in a list, and no section a list.
    own = "backends: {mine: {command: [program], %s: [{a: b}]}}"
    within = ["args", "env", "seam", "model", "executable"]
    paths = [key.path for key in keys()] + ["memory", "memory.budget", "limits", "backends", "backends.claude"]
    slips = [_nested(path, "[{a: b}]") for path in paths + [f"backends.claude.{name}" for name in within]]
    slips += [own % name for name in ("prompt", "env", "seam")] + ["backends: {mine: {command: []}}"]
    slips += [f"backends: {{mine: {{command: [p], seam: {{{name}: ''}}}}}}" for name in ("file", "flag", "env")]
    for text in slips:
        problem = _refused(files, project=text)
        assert problem.hint.startswith("for example: "), (text, problem.hint)
        example = problem.hint.removeprefix("for example: ")
        if "mine" in example and "command" not in example:
            example = example.replace("mine: {", "mine: {command: [program], ")
        assert _load(files, project=example).sources, (text, example)


def _nested(path: str, value: str) -> str:
    text = value
    for name in reversed(path.split(".")):
        text = f"{{{name}: {text}}}"
    return text


@pytest.mark.parametrize("variable", ["ORCH_ZEPHYR", "ORCH_HOME", "ORCH_MINE", "ORCH_MODE"])
def test_a_variable_that_is_near_to_nothing_is_only_noted(files: tuple[Path, Path], variable: str) -> None:
    assert variable in _load(files, environ={variable: "x"}).notes[0]


def test_an_unreadable_file_is_a_problem(files: tuple[Path, Path]) -> None:
    files[0].mkdir()
    with pytest.raises(ConfigProblem, match="cannot be read"):
        load_config(files[0], {})


def test_relative_paths_start_from_the_layer_that_says_them(files: tuple[Path, Path]) -> None:
    config = _load(files, project="guidance: [docs/a.md, /b.md, ~/c.md]\nworktrees: {dir: ../trees}\n")
    top, home = files[0].parent.parent, files[1].parents[2]
    assert config.guidance == (f"{top}/docs/a.md", "/b.md", f"{home}/c.md")
    assert config.worktrees.dir == f"{top}/../trees"
    assert _load(files, user="guidance: [a.md]").guidance == (f"{files[1].parent}/a.md",)


def test_a_file_with_a_byte_order_mark_and_crlf(files: tuple[Path, Path]) -> None:
    config = _load(files, project=b"\xef\xbb\xbfmemory:\r\n  mcp: true\r\n")
    assert config.memory.mcp


WORDS = [key.path.rpartition(".")[2] for key in keys()] + ["memory", "backends", "claude", "mine", "command", "seam"]
PIECES = [
    *WORDS,
    *":-[]{},&*!|>%@`'\"#?\t \n~",
    ": ",
    "\n  ",
    "\n",
    "- ",
    "true",
    "on",
    "1",
    "0x1",
    "\u2028",
    "\x85",
    "\ufeff",
]


@given(
    st.one_of(
        st.binary(max_size=200), st.lists(st.sampled_from(PIECES), max_size=40).map(lambda x: "".join(x).encode())
    )
)
def test_any_bytes_are_a_configuration_or_a_problem(data: bytes) -> None:
    try:
        written = parse(data, base=Path("/base"), shown="file")
        build_config(written, ("claude",), own_names(written), None)
    except ConfigProblem as problem:
        assert "\n" not in problem.message
        assert problem.message.startswith("file")
