"""The settings of its own that a backend's adapter lets come along into a worktree."""

from pathlib import PurePosixPath

from adapters import registry
from memory.denylist import is_denied


def test_no_file_of_credentials_comes_along_without_being_listed() -> None:
    named = {name: adapter.local_files for name, adapter in registry().items() if adapter.local_files}
    assert len(named) >= 3
    assert [
        f"{name}: {file}" for name, files in named.items() for file in files if is_denied(PurePosixPath(file).name)
    ] == []
