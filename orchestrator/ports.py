"""A block of free ports for each agent, so that agents which start servers do not meet."""

import contextlib
import errno
import os
import socket
import zlib
from pathlib import Path

from orchestrator.errors import OrchError
from orchestrator.project import Project

# Below the ports that Linux (from 32768) and macOS (from 49152) give to outgoing connections.
_FIRST, _LAST = 20000, 32000
_NAME = "ports"


def reserve_ports(project: Project, agent_id: str, count: int) -> tuple[int, ...]:
    """Choose `count` ports in a row that are free now and no other agent of the project has; write them down.

    They stay the agent's until it is removed. The caller holds the project's lock. Raises OrchError when none are left.
    """
    if count == 0:
        return ()
    if count > _LAST - _FIRST:
        raise OrchError(f"worktrees.ports is {count}, and there are {_LAST - _FIRST} ports", "set a smaller one")
    taken = {port for folder in project.agents.glob("*") for port in load_ports(folder)}
    blocks = range(_FIRST, _LAST - count + 1, count)
    # Each agent looks from another place on: another project's agents do not know of ours.
    begin = zlib.crc32(os.fsencode(project.common_dir) + agent_id.encode()) % len(blocks)
    for number in range(len(blocks)):
        first = blocks[(begin + number) % len(blocks)]
        block = tuple(range(first, first + count))
        if taken.isdisjoint(block) and all(_is_free(port) for port in block):
            (project.agents / agent_id / _NAME).write_text(" ".join(map(str, block)) + "\n")
            return block
    raise OrchError(
        f"there are no {count} free ports in a row between {_FIRST} and {_LAST}", "orch rm agents that are done"
    )


def load_ports(folder: Path) -> tuple[int, ...]:
    """The ports that an agent's directory says are its own."""
    try:
        return tuple(int(word) for word in (folder / _NAME).read_text().split())
    except (OSError, ValueError):
        return ()


def port_variables(ports: tuple[int, ...]) -> dict[str, str]:
    """ORCH_PORT is the first, ORCH_PORT_1, ORCH_PORT_2, … are the others."""
    return {f"ORCH_PORT_{number}" if number else "ORCH_PORT": str(port) for number, port in enumerate(ports)}


def _is_free(port: int) -> bool:
    """Whether nothing has the port on any address of this machine. Bound for a moment, never listened on."""
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        with contextlib.ExitStack() as stack:
            try:
                found = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
                if family == socket.AF_INET6:
                    found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                found.bind((address, port))
            except OSError as exc:
                # A machine without IPv6 has no IPv6 port that could be taken.
                if family == socket.AF_INET or exc.errno == errno.EADDRINUSE:
                    return False
    return True
