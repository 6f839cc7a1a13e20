"""One module per backend, each with an `ADAPTER`. Imports nothing of ours."""

import importlib
import pkgutil
from functools import cache

from adapters.adapter import Adapter


@cache
def registry() -> dict[str, Adapter]:
    """Every backend by name, in alphabetical order: each module of this package that holds an `ADAPTER`."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        value = getattr(importlib.import_module(f"{__name__}.{module.name}"), "ADAPTER", None)
        if isinstance(value, Adapter):
            found[value.name] = value
    return dict(sorted(found.items()))
