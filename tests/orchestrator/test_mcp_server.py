"""`orch mcp`, asked by the official client over standard input and output."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.conftest import ROOT, Orch
from tests.orchestrator.test_asking import CITATION, MEMORY, remember


def result(repo: Path, tool: str, arguments: dict[str, Any], **environ: str) -> tuple[str, bool]:
    """Start the server, call one tool, and return the text of its result and whether it is called an error."""

    async def session() -> tuple[str, bool]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-I", "-m", "orchestrator", "mcp", "--project", str(repo)],
            env={**os.environ, **environ},
            cwd="/",
        )
        async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as client:
            await client.initialize()
            assert tool in [each.name for each in (await client.list_tools()).tools]
            found = await client.call_tool(tool, arguments)
            return "".join(getattr(part, "text", "") for part in found.content), bool(found.is_error)

    return asyncio.run(session())


def call(repo: Path, tool: str, arguments: dict[str, Any]) -> str:
    """As `result`, of a call that is no error."""
    text, wrong = result(repo, tool, arguments)
    assert not wrong, text
    return text


def exchange(repo: Path, *lines: bytes, count: int = 1) -> list[dict[str, Any]]:
    """Send the server these lines, which it gives so many answers to; return those, in the order in which they came."""
    command = [sys.executable, "-I", "-m", "orchestrator", "mcp", "--project", str(repo)]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for value in (
            {"jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
        ):
            server.stdin.write(json.dumps(value).encode() + b"\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == "begin"
        server.stdin.write(b"".join(line + b"\n" for line in lines))
        server.stdin.flush()
        found = [json.loads(server.stdout.readline()) for _ in range(count)]
        server.stdin.close()
        assert server.stdout.read() == b""
        assert server.wait(timeout=30) == 0
    return found


def test_a_client_gets_the_cited_answer(repo: Path) -> None:
    remember(repo, MEMORY)
    first, second = call(repo, "project_memory", {"question": "Where do fixtures live?"}).split("\n")
    assert CITATION.match(first)
    assert second == "  Fixtures live in `testdata/orders/`."


def test_a_client_is_told_what_is_not_known(repo: Path) -> None:
    assert call(repo, "project_memory", {"question": "Where do fixtures live?"}) == "not in project memory"
    assert not (repo / ".orch").exists()


def test_a_person_s_client_proposes_nothing(repo: Path) -> None:
    path = remember(repo, MEMORY)
    text, wrong = result(repo, "propose_fact", {"fact": "The worker needs Redis 7."})
    assert (text.startswith("refused: only an agent"), wrong) == (True, True)
    assert path.read_text() == MEMORY


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"fact": "The token is ghp_" + "a1B2c3D4e5F6" * 3}, "looks like"),
        ({"fact": "The worker needs Redis 7.", "section": "## Bad\nname"}, "no name for a section"),
        ({"fact": "   "}, "an entry needs a text"),
    ],
)
def test_a_claim_that_is_refused_is_an_error_of_one_line(repo: Path, arguments: dict[str, str], says: str) -> None:
    remember(repo, MEMORY)
    text, wrong = result(repo, "propose_fact", arguments, ORCH_AGENT="a1b2")
    assert (text.startswith("refused: "), says in text, "\n" in text, wrong) == (True, True, False, True)


def test_a_claim_of_nobody_who_could_end_lands_at_once(repo: Path) -> None:
    path = remember(repo, MEMORY)
    result(repo, "propose_fact", {"fact": "The CDN is Fastly."}, ORCH_AGENT="a1b2")
    assert "agent a1b2" in next(line for line in path.read_text().splitlines() if "Fastly" in line)
    assert "Fastly" in result(repo, "project_memory", {"question": "Which CDN do we use?"})[0]


def test_a_claim_that_no_agent_would_be_given_is_taken_with_a_warning(repo: Path) -> None:
    remember(repo, MEMORY)
    small, wrong = result(repo, "propose_fact", {"fact": "The worker needs Redis 7."}, ORCH_AGENT="a1b2")
    assert ("cannot be injected" in small, wrong) == (False, False)
    large, wrong = result(repo, "propose_fact", {"fact": "The worker needs Redis 7. " * 300}, ORCH_AGENT="a1b2")
    assert (large.startswith("proposed "), "cannot be injected" in large, wrong) == (True, True, False)


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("project_memory", {}, "project_memory needs question"),
        ("project_memory", {"question": 1}, "question has to be a text"),
        ("project_memory", {"question": "Where?", "limit": 3}, "project_memory knows no 'limit': it takes question"),
        ("propose_fact", {"text": "x"}, "propose_fact knows no 'text': it takes fact, section"),
        ("propose_fact", {"fact": ["x"]}, "fact has to be a text"),
        ("remember", {}, "there is no tool 'remember': there are project_memory, propose_fact"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(repo: Path, tool: str, arguments: dict[str, Any], says: str) -> None:
    params = {"name": tool, "arguments": arguments}
    (answer,) = exchange(
        repo, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    )
    assert answer["result"] == {"content": [{"type": "text", "text": says}], "isError": True}


def test_each_argument_is_described(repo: Path) -> None:
    (answer,) = exchange(repo, b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}')
    schemas = {tool["name"]: tool["inputSchema"] for tool in answer["result"]["tools"]}
    assert {name: list(schema["properties"]) for name, schema in schemas.items()} == {
        "project_memory": ["question"],
        "propose_fact": ["fact", "section"],
    }
    assert all(each["description"] for schema in schemas.values() for each in schema["properties"].values())
    documented = (ROOT / "docs" / "ask.md").read_text()
    assert all(f"`{name}`" in documented for schema in schemas.values() for name in schema["properties"])


def test_what_is_no_message_is_answered_too(repo: Path) -> None:
    answers = exchange(
        repo,
        b"no JSON",
        b"\xff\xfe",
        b"",
        b'{"jsonrpc": "2.0", "id": 7, "method": 5}',
        b"[1, 2]",
        b'{"jsonrpc": "2.0", "id": 9, "result": 5}',
        count=5,
    )
    assert [(each["id"], each["error"]["code"]) for each in answers] == [
        (None, -32700),
        (None, -32700),
        (7, -32600),
        (None, -32600),
        (None, -32600),
    ]
    assert all("\n" not in each["error"]["message"] for each in answers)


def test_a_server_outlives_what_is_no_message_before_its_greeting(repo: Path) -> None:
    command = [sys.executable, "-I", "-m", "orchestrator", "mcp", "--project", str(repo)]
    done = subprocess.run(command, input=b"no JSON\n", capture_output=True, timeout=60, check=False)
    assert json.loads(done.stdout)["error"]["code"] == -32700
    assert (done.returncode, done.stderr) == (0, b"")


def _request(number: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


def _begin() -> str:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    return _request(0, "initialize", **hello) + '{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'


def _ask(number: int, question: str) -> str:
    return _request(number, "tools/call", name="project_memory", arguments={"question": question})


def test_requests_that_are_piped_in_are_all_answered_before_the_end(repo: Path) -> None:
    remember(repo, MEMORY)
    lines = _begin() + "".join(_ask(number, "Where do fixtures live?") for number in range(1, 31))
    command = [sys.executable, "-I", "-m", "orchestrator", "mcp", "--project", str(repo)]
    done = subprocess.run(command, input=lines.encode(), capture_output=True, timeout=120, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(each["id"] for each in answers) == list(range(31))
    told = {each["result"]["content"][0]["text"].split("\n")[1] for each in answers if each["id"]}
    assert told == {"  Fixtures live in `testdata/orders/`."}
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_request_that_is_taken_back_keeps_nobody_waiting(repo: Path) -> None:
    remember(repo, MEMORY)
    back = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    lines = _begin() + _ask(1, "Where do fixtures live?") + json.dumps(back) + "\n" + _request(2, "ping")
    command = [sys.executable, "-I", "-m", "orchestrator", "mcp", "--project", str(repo)]
    done = subprocess.run(command, input=lines.encode(), capture_output=True, timeout=50, check=False)
    assert {0, 2} <= {json.loads(line)["id"] for line in done.stdout.splitlines()}
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_client_that_has_gone_is_no_fault(repo: Path) -> None:
    remember(repo, MEMORY)
    command = [sys.executable, "-I", "-m", "orchestrator", "mcp", "--project", str(repo)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(_begin().encode())
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 0
        server.stdout.close()
        server.stdin.write("".join(_ask(number, "Where do fixtures live?") for number in range(1, 9)).encode())
        server.stdin.close()
        assert server.stderr.read() == b""
        assert server.wait(timeout=60) == 0


@pytest.mark.parametrize("place", ["/nonexist", "README.md"])
def test_a_project_that_is_no_directory_is_refused_with_a_hint(orch: Orch, place: str) -> None:
    done = orch("mcp", "--project", place)
    assert done.code == 2
    assert done.stderr.splitlines()[0] == f"error: {place} is no directory"
    assert done.stderr.splitlines()[1].startswith("hint: ")


def test_what_an_agent_proposes_lands_as_unverified_with_its_name(orch: Orch, repo: Path, home: Path) -> None:
    path = remember(repo, MEMORY)
    config = home / ".config" / "orch" / "config.yml"
    config.parent.mkdir(parents=True)
    script = [sys.executable, "-c", CLIENT]
    config.write_text(json.dumps({"backends": {"client": {"command": script, "prompt": "arg", "seam": "none"}}}))
    agent = json.loads(orch.ok("spawn", "--backend", "client", "--wait", "--json", "--", str(repo)).stdout)["agent"]
    assert agent["outcome"] == "completed", orch("logs", agent["id"]).stdout
    orch.ok("memory")  # whatever shows the memory settles first what ended agents have proposed
    added = [line for line in path.read_text().splitlines() if "Redis 7" in line]
    assert len(added) == 1
    assert added[0].startswith("- [unverified · ")
    assert f"agent {agent['id']}" in added[0]
    assert orch.ok("ask", "Which Redis does the worker need?").stdout.splitlines()[0].find(f"agent {agent['id']}") > 0


CLIENT = """
import asyncio, os, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
async def main():
    words = ["-I", "-m", "orchestrator", "mcp", "--project", sys.argv[-1]]
    server = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
    async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as client:
        await client.initialize()
        print(await client.call_tool("propose_fact", {"fact": "The worker needs Redis 7."}))
asyncio.run(main())
"""
