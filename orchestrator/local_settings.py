"""Two JSON settings files made one: what is there stays, what the other has besides is added."""

import json
from typing import Any


def merge_settings(kept: bytes, more: bytes) -> bytes | None:
    """Add to the JSON object `kept` what only `more` has, in tables inside tables too; lists are joined.

    None where nothing is to be added, or where either is no JSON object: then the file stays as it is.
    """
    try:
        ours, theirs = json.loads(kept), json.loads(more)
    except ValueError:
        return None
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return None
    merged = _merged(ours, theirs)
    if merged == ours:
        return None
    return (json.dumps(merged, indent=2, ensure_ascii=False) + "\n").encode()


def _merged(ours: Any, theirs: Any) -> Any:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        joined = {key: _merged(value, theirs[key]) if key in theirs else value for key, value in ours.items()}
        return {**joined, **{key: value for key, value in theirs.items() if key not in ours}}
    if isinstance(ours, list) and isinstance(theirs, list):
        return [*ours, *(item for item in theirs if item not in ours)]
    return ours
