"""The exit codes that tell how an agent ended (`orch spawn --wait`, `orch wait`)."""

from adapters.adapter import Outcome

# From 10 up, so that no outcome is taken for an error of orch itself (see orchestrator.errors).
EXIT_CODES: dict[Outcome, int] = {
    Outcome.COMPLETED: 0,
    Outcome.FAILED: 10,
    Outcome.REFUSED: 11,
    Outcome.AUTH: 12,
    Outcome.RATE_LIMITED: 13,
    Outcome.OVERLOADED: 14,
    Outcome.UNREACHABLE: 15,
    Outcome.CUT: 16,
    Outcome.LIMIT: 17,
    Outcome.STOPPED: 18,
    Outcome.CRASHED: 19,
    Outcome.LOST: 20,
}


def exit_code(outcome: Outcome | None) -> int:
    """The exit code of one outcome; an unknown one counts as lost."""
    return EXIT_CODES[outcome if outcome is not None else Outcome.LOST]
