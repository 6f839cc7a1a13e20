"""`orch` and `python -m orchestrator`."""

import gc
import sys


def main() -> None:
    """Run the command line, and exit with its code."""
    # Most commands live for a few hundredths of a second and make hardly any garbage: looking for it in all that they
    # have imported, as they start and once more as they end, takes a tenth of that.
    gc.set_threshold(20_000)
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        _open_standard_streams()
    try:
        from orchestrator.cli import main as run

        code = run()
    except KeyboardInterrupt:  # too early, or too late, for the command line to answer it
        code = 130
    gc.freeze()
    sys.exit(code)


def _open_standard_streams() -> None:
    """Point what was closed (`orch ls >&-`) at nothing: a file of ours would get its number, and what is printed."""
    import os

    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdin = sys.stdin or open(0, encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8")  # noqa: SIM115


if __name__ == "__main__":
    main()
