"""Configuration, and the door to the environment."""

import os


def environment() -> dict[str, str]:
    """A copy of this process's environment."""
    return dict(os.environ)
