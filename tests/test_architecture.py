"""The guards of the house: imports point one way, the doors are shut, the wheel holds four packages."""

import ast
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from orchestrator import errors
from tests.conftest import ROOT, Orch

# package -> what of ours it may import
MAY_IMPORT = {
    "memory": {"memory"},
    "adapters": {"adapters"},
    "projection": {"projection", "adapters", "memory"},
    "orchestrator": {"orchestrator", "projection", "adapters", "memory"},
}
MODULES = sorted(file for package in MAY_IMPORT for file in (ROOT / package).rglob("*.py"))


def _forbidden(source: str, package: str) -> set[str]:
    """The top-level packages of ours that the source imports although its package may not."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            found.add(node.module.partition(".")[0])
    return (found & {*MAY_IMPORT, "tests"}) - MAY_IMPORT[package]


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_point_one_way(file: Path) -> None:
    package = file.relative_to(ROOT).parts[0]
    assert not _forbidden(file.read_text(encoding="utf-8"), package)


def test_the_guard_of_imports_sees_a_breach() -> None:
    assert _forbidden("import projection.render", "memory") == {"projection"}
    assert _forbidden("def f():\n    from memory import document", "adapters") == {"memory"}
    assert _forbidden("from orchestrator.errors import OrchError", "projection") == {"orchestrator"}
    assert _forbidden("import tests.conftest", "orchestrator") == {"tests"}


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_module_says_its_job(file: Path) -> None:
    assert file.stem not in {"utils", "util", "helpers", "manager", "common", "core", "misc"}
    assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))


BANNED = [
    "import subprocess",
    "from subprocess import run",
    "import pexpect",
    "import os\nos.environ",
    "from os import environ",
    "import os\nos.getenv('A')",
    "import os\nos.system('a')",
    "import os\nos.popen('a')",
    "import tiktoken",
    "import click",
    "from click import echo",
]


def _ruff(source: str, name: str) -> set[str]:
    """The codes that ruff reports for a source that is read as the file of that name."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--output-format=json", "--stdin-filename", name, "-"],
        input=source,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    return {str(found["code"]) for found in json.loads(done.stdout)}


@pytest.mark.parametrize("source", BANNED)
@pytest.mark.parametrize("name", ["orchestrator/example.py", "memory/example.py", "adapters/x.py", "projection/x.py"])
def test_the_doors_are_shut(source: str, name: str) -> None:
    assert "TID251" in _ruff(f'"""Example."""\n\n{source}\n', name)


def test_a_print_is_refused_outside_the_view() -> None:
    assert "T201" in _ruff('"""Example."""\n\nprint("x")\n', "projection/example.py")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import subprocess", "orchestrator/process.py"),
        ("import os\n\nos.environ", "orchestrator/config.py"),
        ("import tiktoken", "projection/tokens.py"),
        ("import click", "orchestrator/commands/example.py"),
    ],
)
def test_each_door_opens_where_it_stands(source: str, name: str) -> None:
    assert "TID251" not in _ruff(f'"""Example."""\n\n{source}\n', name)


def _tree(text: str) -> dict[str, int]:
    """The errors drawn in a docstring: name -> exit code."""
    drawn = {}
    for line in text.splitlines():
        words = line.replace("├──", "").replace("└──", "").split()
        if len(words) >= 2 and words[0].isidentifier() and words[0] in {"OrchError", *_drawn_words(line)}:
            drawn[words[0]] = int(words[2] if words[1] == "exit" else words[1])
    return drawn


def _drawn_words(line: str) -> set[str]:
    return {line.split()[1]} if "──" in line else set()


def _classes() -> dict[str, int]:
    found = {"OrchError": errors.OrchError.exit_code}
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, errors.OrchError):
            found[value.__name__] = value.exit_code
    return found


def test_the_tree_of_errors_is_the_one_that_is_drawn() -> None:
    assert _tree(errors.__doc__ or "") == _classes()
    assert _tree("    OrchError    exit 1\n    ├── Other    7   a thing\nElse text 5") == {"OrchError": 1, "Other": 7}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_exactly_our_four_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names}
    info = {top for top in tops if top.endswith(".dist-info")}
    assert len(info) == 1
    assert tops - info == set(MAY_IMPORT)
    shipped = {name for name in names if name.endswith(".py")}
    assert shipped == {str(file.relative_to(ROOT)) for file in MODULES}


HOSTILE = "import pathlib\npathlib.Path(__file__).parent.with_name('TOUCHED').touch()\nraise SystemExit('hostile')\n"


@pytest.fixture
def hostile(repo: Path) -> Path:
    """A repository that has packages of the same names as ours."""
    for name in ("memory", "adapters", "projection"):
        (repo / name).mkdir()
        (repo / name / "__init__.py").write_text(HOSTILE)
        (repo / f"{name}.py").write_text(HOSTILE)
    return repo


@pytest.mark.parametrize("args", [("--help",), ("config", "show")])
@pytest.mark.parametrize("start", ["entry point", "background", "module"])
def test_orch_runs_where_the_repository_has_packages_of_the_same_names(
    hostile: Path, args: tuple[str, ...], start: str
) -> None:
    begin = {
        "entry point": [str(Path(sys.executable).with_name("orch"))],
        "background": [sys.executable, "-I", "-m", "orchestrator"],
        "module": [sys.executable, "-m", "orchestrator"],
    }[start]
    done = subprocess.run(
        [*begin, *args],
        cwd=hostile,
        env={**_environment(), "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not (hostile / "TOUCHED").exists()


def test_the_hostile_packages_are_hostile(hostile: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import memory"], cwd=hostile, capture_output=True, text=True, check=False
    )
    assert "hostile" in done.stderr
    assert (hostile / "TOUCHED").exists()


def _environment() -> dict[str, str]:
    import os

    return dict(os.environ)


def test_no_test_sees_the_home_of_a_person(orch: Orch, home: Path) -> None:
    shown = orch.ok("config", "path").stdout.splitlines()
    assert shown == [str(orch.cwd / ".orch" / "config.yml"), str(home / ".config" / "orch" / "config.yml")]
    assert Path.home() == home
