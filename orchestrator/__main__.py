"""`orch` and `python -m orchestrator`."""

import gc
import sys


def main() -> None:
    """Run the command line, and exit with its code."""
    # Most commands live for a few hundredths of a second and make hardly any garbage: looking for it in all that they
    # have imported, as they start and once more as they end, takes a tenth of that.
    gc.set_threshold(20_000)
    try:
        from orchestrator.cli import main as run

        code = run()
    except KeyboardInterrupt:  # too early, or too late, for the command line to answer it
        code = 130
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
