"""What can go wrong in the projection; the orchestrator maps each to an error that a person sees."""


class ProjectionFault(Exception):
    """`message` says what is wrong in one line, `hint` what helps (may be empty)."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BlockFault(ProjectionFault):
    """A block that cannot be made, or a file whose markers do not add up."""


class HygieneFault(ProjectionFault):
    """Git's configuration, or a file that goes with it, cannot be written."""


class PlacementFault(ProjectionFault):
    """A context file in a worktree cannot be read or written safely."""


class SeamFault(ProjectionFault):
    """The render cannot be carried the way that was asked for, or in any way."""
