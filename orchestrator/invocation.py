"""How a backend is invoked: its command with the text in it, and the files that go with it."""

from dataclasses import replace
from pathlib import Path

from adapters.adapter import Adapter, Carry, Command, Launch, McpServer
from orchestrator.config_schema import Config
from orchestrator.errors import BackendProblem, SeamProblem, UsageProblem
from orchestrator.injection import Injection
from orchestrator.project import Project
from orchestrator.renderfile import FOLDER as RENDERS
from orchestrator.renderfile import render_path, write_render
from orchestrator.seams import SeamPlan

_SERVER_VARIABLES = ("ORCH_AGENT", "ORCH_PROJECT", "HOME", "PATH", "XDG_CONFIG_HOME")
_LONGEST_TASK = 8 * 1024 * 1024


def check_task(task: str) -> None:
    """Raise UsageProblem for a task that no backend can be given."""
    if not task.strip():
        raise UsageProblem("the task is empty", "give it as an argument, with --file PATH, or on standard input")
    try:
        task.encode()
    except UnicodeEncodeError as exc:
        raise UsageProblem(f"the task is not UTF-8 (character {exc.start})", "convert it: iconv") from exc
    if "\0" in task:
        raise UsageProblem("the task holds a NUL byte, which no backend can take", "remove it")
    if len(task) > _LONGEST_TASK:
        raise UsageProblem(f"the task is longer than {_LONGEST_TASK} characters", "put the material into a file")


def build_command(
    project: Project, config: Config, adapter: Adapter, launch: Launch, seam: SeamPlan, injection: Injection
) -> Command:
    """The backend's command, with the render in it where the seam is the launch."""
    try:
        command = _with_mcp(project, config, adapter, launch, adapter.command(launch))
        if seam.kind != "launch":
            return command
        if adapter.launch_seam is None:
            raise SeamProblem(f"{adapter.title} has no launch seam", "set projection.seam to auto or file")
        path = render_path(project.state, injection.text)
        carry = Carry(text=injection.text, path=path, subagents=config.memory.subagents)
        command = adapter.launch_seam.apply(launch, command, carry)
        return replace(command, files={**command.files, carry.path: carry.text.encode()})
    except ValueError as exc:
        raise BackendProblem(f"{adapter.title} cannot be started so: {exc}") from exc


def _with_mcp(project: Project, config: Config, adapter: Adapter, launch: Launch, command: Command) -> Command:
    """The command with orch's MCP server in it, where `memory.mcp` asks for it and the backend takes one."""
    if not config.memory.mcp:
        return command
    if adapter.mcp is None:
        note = f"{adapter.title} takes no MCP server at its start, so memory.mcp does nothing for it"
        return replace(command, notes=(*command.notes, note))
    from orchestrator.mcp_server import server_command

    # Some backends give their servers a bare environment, so what ours needs is handed on.
    environ = {name: launch.environ[name] for name in _SERVER_VARIABLES if name in launch.environ}
    server = McpServer(name="orch", command=server_command(project), environ=environ)
    return adapter.mcp(launch, command, server)


def write_files(command: Command, folder: Path) -> None:
    """Write what the command needs: its files, and its standard input, in the agent's directory `folder`."""
    for path, data in command.files.items():
        if path.parent == folder.parent.parent / RENDERS:
            write_render(path, data)
            continue
        if not path.is_relative_to(folder):
            raise SeamProblem(f"the adapter wants to write {path}, which is outside of its agent's directory")
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        path.write_bytes(data)
    if command.stdin is not None:
        source = folder / "stdin"
        source.touch(mode=0o600)
        source.write_bytes(command.stdin)
