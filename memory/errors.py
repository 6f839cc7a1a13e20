"""The one error of this package."""


class MemoryFault(Exception):
    """The memory cannot be read or changed as asked; `hint` names what helps."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
