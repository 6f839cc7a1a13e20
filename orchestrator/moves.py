"""Moves of proposals that are held back until the memory file has been replaced."""


class Moves:
    """What is held back: a claim must not be lost in between.

    `held` are, by the proposal's number, the columns that change; None while nothing is to be held back.
    """

    def __init__(self) -> None:
        self.held: dict[int, dict[str, str]] | None = None
