"""`orch demo` with the scripted agent, as on a machine with no backend at all."""

import json
import os
from pathlib import Path

from tests.conftest import Orch

_NOTHING = "/usr/bin:/bin"


def test_without_any_backend_the_scripted_agent_shows_it_all(orch: Orch, home: Path) -> None:
    result = orch.ok("demo", environ={"PATH": _NOTHING})
    assert "backend   scripted" in result.stdout
    assert "seam      file AGENTS.md" in result.stdout
    assert "Never edit the files below gen/" in result.stdout
    assert "messages[0].content, at character" in result.stdout
    assert "NO " not in result.stdout
    assert result.stdout.rstrip().endswith("Everything that is claimed holds.")
    assert not list((home / ".config").glob("*"))


def test_the_json_says_the_same(orch: Orch) -> None:
    shown = json.loads(orch.ok("demo", "--json", environ={"PATH": _NOTHING}).stdout)
    assert (shown["schema"], shown["ok"], shown["backend"]) == (1, True, "scripted")
    assert {name: claim["verdict"] for name, claim in shown["claims"].items()} == dict.fromkeys(
        ("ran", "once", "exact", "second_turn", "status", "footprint"), "true"
    )
    assert len(shown["requests"]) == 2
    assert shown["folder"] is None


def test_it_can_keep_the_folder_with_every_request(orch: Orch, tmp_path: Path) -> None:
    shown = json.loads(orch.ok("demo", "--json", "--keep", environ={"PATH": _NOTHING, "TMPDIR": str(tmp_path)}).stdout)
    folder = Path(shown["folder"])
    assert folder.parent == Path(os.path.realpath(tmp_path))
    assert [path.name for path in sorted((folder / "requests").iterdir())] == [
        "0001-main-v1-chat-completions.http",
        "0002-main-v1-chat-completions.http",
    ]


def test_without_keep_nothing_is_left(orch: Orch, tmp_path: Path) -> None:
    orch.ok("demo", environ={"PATH": _NOTHING, "TMPDIR": str(tmp_path)})
    assert [path.name for path in tmp_path.iterdir()] == ["repo"]


def test_an_unknown_backend_is_one_line_and_a_hint(orch: Orch) -> None:
    result = orch("demo", "--backend", "clade")
    assert result.code == 6
    assert [line.partition(":")[0] for line in result.stderr.splitlines() if ": " in line][-2:] == ["error", "hint"]
