"""The errors that a person can meet, each with what happened, what helps and an exit code.

    OrchError                     exit 1
    ├── UsageProblem              2    a flag, an argument or an id that cannot be meant
    ├── ConfigProblem             2    a config file, environment value or flag with a bad key or value
    ├── ProjectProblem            4    not a repository, no commit, no main checkout, records that cannot be written
    ├── RecordsProblem            1    the records cannot be read: damaged, or no database
    ├── MemoryProblem             5    the memory file cannot be read, parsed or written
    ├── BackendProblem            6    unknown, not installed, or it did not start
    ├── WorktreeProblem           7    a branch, path or registration is in the way
    ├── SeamProblem               8    the render cannot be carried to this backend
    ├── WorkAtRisk                9    going on would lose work that is kept nowhere else
    └── GitProblem                1    git failed in a way that no other error names

Exit 3 is an unexpected error (a log holds the traceback), 130 is Ctrl-C. Exit codes from 10 up are the
outcome of an agent (`orch spawn --wait`, `orch wait`): see `orchestrator.outcome`.
"""


class OrchError(Exception):
    """An expected failure.

    `message` says what is wrong in one line, `hint` names a command or an edit that helps (may be empty).
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageProblem(OrchError):
    """A flag, an argument or an id that cannot be meant."""

    exit_code = 2


class ConfigProblem(OrchError):
    """A config file, environment value or flag with a bad key or value; the message names file, line and key."""

    exit_code = 2


class ProjectProblem(OrchError):
    """Not a repository, no commit yet, no main checkout, records that cannot be written."""

    exit_code = 4


class RecordsProblem(OrchError):
    """The records cannot be read: damaged, or no database."""


class MemoryProblem(OrchError):
    """The memory file cannot be read, parsed or written."""

    exit_code = 5


class BackendProblem(OrchError):
    """A backend is unknown, not installed, or did not start."""

    exit_code = 6


class WorktreeProblem(OrchError):
    """A branch, a path or a registration is in the way of a worktree."""

    exit_code = 7


class SeamProblem(OrchError):
    """The render cannot be carried to this backend."""

    exit_code = 8


class WorkAtRisk(OrchError):
    """Going on would lose work that is kept nowhere else."""

    exit_code = 9


class GitProblem(OrchError):
    """Git failed in a way that no other error names."""
