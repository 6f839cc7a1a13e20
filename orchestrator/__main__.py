"""`orch` and `python -m orchestrator`."""

import sys


def main() -> None:
    """Run the command line, and exit with its code."""
    try:
        from orchestrator.cli import main as run

        code = run()
    except KeyboardInterrupt:  # too early, or too late, for the command line to answer it
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
