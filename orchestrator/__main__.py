"""`orch` and `python -m orchestrator`."""

import sys


def main() -> None:
    """Run the command line, and exit with its code."""
    from orchestrator.cli import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
