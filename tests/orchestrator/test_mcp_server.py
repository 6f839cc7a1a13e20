"""`orch mcp`, asked by the official client over standard input and output."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

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
