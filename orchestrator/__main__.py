"""`orch` and `python -m orchestrator`."""

import sys


def main() -> None:
    """Run the command line, and exit with its code."""
    try:
        from orchestrator.cli import main as run
    except KeyboardInterrupt:  # too early for the command line to answer it
        sys.exit(130)
    sys.exit(run())


if __name__ == "__main__":
    main()
