"""The pages: the generated ones are current, links lead somewhere, and commands and keys that are named exist."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from orchestrator.cli import COMMANDS
from orchestrator.config_schema import BackendKeys, OwnBackendKeys, hints, keys
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def _generate(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "scripts/generate-docs", *args], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_the_generated_pages_are_current() -> None:
    done = _generate("--check")
    assert done.returncode == 0, done.stderr


def test_a_page_that_is_not_current_is_named(tmp_path: Path) -> None:
    assert _generate("--into", str(tmp_path)).returncode == 0
    assert _generate("--into", str(tmp_path), "--check").returncode == 0
    (tmp_path / "config.md").write_text("old")
    (tmp_path / "errors.md").unlink()
    done = _generate("--into", str(tmp_path), "--check")
    assert done.returncode == 1
    assert "config.md, errors.md" in done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_paths_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    linked = {target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target}
    assert not {target for target in linked if not (page.parent / target).exists()}
    named = set(re.findall(r"\b(?:docs|examples|scripts)/[a-z0-9_./-]*[a-z0-9]", text))
    assert not {path for path in named if not (ROOT / path).exists()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|^\$ )orch ([a-z][a-z-]*)", text, re.MULTILINE))
    assert named <= set(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_keys_that_are_named_exist(page: Path) -> None:
    known = {key.path for key in keys()} | {key.path.rpartition(".")[0] for key in keys()}
    known |= {f"backends.NAME.{name}" for section in (BackendKeys, OwnBackendKeys) for name in hints(section)}
    text = page.read_text(encoding="utf-8")
    tops = "|".join(sorted({key.path.partition(".")[0] for key in keys()} | {"backends.NAME"}))
    named = set(re.findall(rf"`((?:{tops})\.[a-z_.]+)`", text))
    assert not {name for name in named if name not in known and not name.endswith((".md", ".py", ".yml"))}


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[^a-z0-9_-]", line)[0] for line in project["dependencies"]}
    table = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    reasons = re.findall(r"^\| ([a-z][a-z0-9_-]+) \| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)
    assert {name for name, _, _ in reasons} - {"name"} == needed
    for name, _, where in reasons:
        for path in re.findall(r"`([a-z_/.]+)`", where):
            assert (ROOT / path).exists(), f"{name}: {path}"
