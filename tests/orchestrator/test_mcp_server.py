"""`orch mcp`, asked by the official client over standard input and output."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.conftest import Orch
from tests.orchestrator.test_asking import CITATION, MEMORY, remember


def call(repo: Path, tool: str, arguments: dict[str, Any]) -> str:
    """Start the server, call one tool, and return the text of its result."""

    async def session() -> str:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-I", "-m", "orchestrator", "mcp", "--project", str(repo)],
            env=dict(os.environ),
            cwd="/",
        )
        async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as client:
            await client.initialize()
            assert tool in [each.name for each in (await client.list_tools()).tools]
            result = await client.call_tool(tool, arguments)
            return "".join(getattr(part, "text", "") for part in result.content)

    return asyncio.run(session())


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
    assert call(repo, "propose_fact", {"fact": "The worker needs Redis 7."}).startswith("refused: only an agent")
    assert path.read_text() == MEMORY


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
