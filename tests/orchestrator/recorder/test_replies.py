"""Scripts of replies: what JSON can say, and what it cannot."""

import json
from pathlib import Path

import pytest

from orchestrator.recorder import (
    Calls,
    Cut,
    Error,
    Reset,
    Rule,
    RunCommand,
    Script,
    ScriptFault,
    Text,
    Tokens,
    ToolCall,
    load_script,
    parse_script,
)


def test_every_kind_of_reply_can_be_written_in_json() -> None:
    script = parse_script(
        {
            "replies": [
                "hello",
                {"text": "used", "usage": {"input": 7, "cached": 5, "written": 3, "output": 2}, "delay": 0.5},
                {"run": "ls", "text": "first"},
                {"run": ["a", "b"]},
                {"tool": "Read", "arguments": {"file_path": "/x"}},
                {"error": 429, "headers": {"Retry-After": 1}, "body": {"why": "slow"}},
                {"error": 401, "message": "no"},
                {"cut": "half of"},
                {"reset": True},
            ],
            "final": {"error": 500},
            "rules": [{"contains": "curate", "reply": "ok"}],
        }
    )
    assert script.replies == (
        Text("hello"),
        Text("used", Tokens(input=7, cached=5, written=3, output=2), 0.5),
        Calls((RunCommand("ls"),), "first"),
        Calls((RunCommand("a"), RunCommand("b"))),
        Calls((ToolCall("Read", {"file_path": "/x"}),)),
        Error(429, '{"why": "slow"}', {"Retry-After": "1"}),
        Error(401, message="no"),
        Cut("half of"),
        Reset(),
    )
    assert script.final == Error(500)
    assert script.rules == (Rule("curate", Text("ok")),)


def test_a_list_alone_is_a_script(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(["a", {"run": "ls"}]), encoding="utf-8")
    assert load_script(path) == Script.of(Text("a"), RunCommand("ls"))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("text", "a script is a list"),
        ({"reply": []}, "unknown key 'reply'"),
        ([3], "reply 1: a reply is a string or an object"),
        (["a", {}], "reply 2: exactly one of"),
        ([{"cut": "x", "reset": True}], "exactly one of"),
        ([{"text": "x", "usge": {}}], "unknown key 'usge'"),
        ([{"text": "x", "usage": {"inputs": 1}}], "inputs"),
        ([{"error": "many"}], "reply 1"),
        ({"rules": [{"contains": 1, "reply": "x"}]}, "a rule is"),
        ({"replies": {}}, "replies must be a list"),
    ],
)
def test_a_bad_script_says_where(value: object, said: str) -> None:
    with pytest.raises(ScriptFault, match=said):
        parse_script(value)


def test_a_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ScriptFault, match=r"script\.json"):
        load_script(path)
    with pytest.raises(ScriptFault, match=r"missing\.json"):
        load_script(tmp_path / "missing.json")
