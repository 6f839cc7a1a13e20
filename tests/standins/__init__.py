"""Stand-ins for the backends that no package registry has, built from what is known of the vendors' programs.

Each reads the context files, takes the flags and leaves the traces that the vendor's program does as far as that is
documented, with its traps. Crush and Goose post real requests to the endpoint that they are configured for; Cursor and
Antigravity have no such setting, so what they would send goes into the file that STANDIN_REQUESTS names, one JSON
object a line.
"""

import sys
from pathlib import Path

PROGRAMS = {"crush": "crush", "goose": "goose", "cursor-agent": "cursor", "agy": "antigravity"}


def install_standins(folder: Path) -> Path:
    """Put the programs into `folder`, for PATH; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for program, module in PROGRAMS.items():
        script = folder / program
        source = Path(__file__).parent / f"{module}.py"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -E -s -B "{source}" "$@"\n')
        script.chmod(0o755)
    return folder
