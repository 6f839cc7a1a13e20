"""The top of orch: commands, spawning, supervising, records.

Importing this package binds our three sibling packages by their place beside it. A user's repository often
has its own `memory/` or `adapters/` folder, and `PYTHONPATH=.` would put that one first.
"""

import importlib.util
import sys
from pathlib import Path

__version__ = "0.1.0"

_SIBLINGS = ("memory", "adapters", "projection")


def _bind_siblings() -> None:
    """Put our own `memory`, `adapters` and `projection` into `sys.modules`, whatever `sys.path` says."""
    home = Path(__file__).resolve().parent.parent
    for name in _SIBLINGS:
        init = home / name / "__init__.py"
        bound = sys.modules.get(name)
        if bound is not None and bound.__file__ is not None and Path(bound.__file__).resolve() == init:
            continue
        spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(init.parent)])
        if spec is None or spec.loader is None:
            raise ImportError(f"orch is installed without its package {name!r} ({init})")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)


try:
    _bind_siblings()
except KeyboardInterrupt:  # too early for the command line to answer it
    raise SystemExit(130) from None
