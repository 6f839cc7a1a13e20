"""A model endpoint on loopback that records every request: what orch proves a delivery with."""

from orchestrator.recorder.endpoint import Recorder
from orchestrator.recorder.recorded import Recorded
from orchestrator.recorder.replies import (
    Calls,
    Cut,
    Error,
    Reply,
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

__all__ = [
    "Calls",
    "Cut",
    "Error",
    "Recorded",
    "Recorder",
    "Reply",
    "Reset",
    "Rule",
    "RunCommand",
    "Script",
    "ScriptFault",
    "Text",
    "Tokens",
    "ToolCall",
    "load_script",
    "parse_script",
]
