"""Where the memory is decided about: the project, its records, and the one way to change the document."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memory.document import Document, parse
from orchestrator.ledger import SCHEMA, Ledger
from orchestrator.memory_file import change_memory, require_memory_path
from orchestrator.moves import Moves
from orchestrator.project import Project
from orchestrator.records import Records, transaction

if TYPE_CHECKING:
    from orchestrator.proposals import Proposals


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where a person decides: the project and its records."""

    project: Project
    records: Records
    moves: Moves = field(default_factory=Moves)

    @property
    def ledger(self) -> Ledger:
        """The ledger of this project."""
        return Ledger(records=self.records)

    @property
    def proposals(self) -> "Proposals":
        """The proposals of this project."""
        from orchestrator.proposals import Proposals

        return Proposals(records=self.records, moves=self.moves)

    def change(self, change: Callable[[Document], Document]) -> None:
        """Change the document under the lock; what moves with it is written after the file, and before the unlock."""
        require_memory_path(self.project)
        self.moves.held = {}
        try:
            # Opened before the lock is waited for, and closed when it is free again: others wait for the lock.
            with self.records.kept_open(SCHEMA):
                change_memory(self.project, lambda data: change(parse(data)).serialise(), after=self._write_moves)
        finally:
            self.moves.held = None

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Write what the block says of entries and proposals in one transaction. Within `change` only."""
        from orchestrator import proposals

        # Making a table would end the transaction.
        with (
            self.records.connected(proposals.SCHEMA),
            self.records.connected(SCHEMA) as connection,
            transaction(connection),
        ):
            yield

    def _write_moves(self) -> None:
        if self.moves.held:
            self.proposals.write_held()
