"""A person adds an entry to the memory.

Apart from the other decisions because it is what scripts do hundreds of times: it loads only what it needs.
"""

from dataclasses import dataclass

from memory.document import Document
from memory.edit import DEFAULT_SECTION, insert_entry, retag_entry
from memory.entry import Trust, entry_id
from memory.hidden import has_hidden
from memory.secrets import find_secret
from memory.tag import parse_tag
from orchestrator.desk import Desk
from orchestrator.errors import MemoryProblem

_LONGEST_TEXT = 8000


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What became of one entry: `done` is a word such as `added` or `approved`."""

    id: str
    text: str
    done: str


def require_fit(text: str) -> str:
    """The text of an entry without space around it.

    Raises MemoryProblem for a secret (which is never repeated), invisible characters, a tag of its own, or too much.
    """
    said = text.replace("\r\n", "\n").strip()
    secret = find_secret(said)
    if secret is not None:
        line, kind = secret
        raise MemoryProblem(
            f"line {line} of the text holds what looks like {kind}; it was not written anywhere",
            "say where the secret is kept, not what it is",
        )
    if has_hidden(said):
        raise MemoryProblem("the text holds characters that cannot be seen", "type it anew, in plain characters")
    if parse_tag(said) is not None:
        raise MemoryProblem("the text begins with a tag of its own", "leave it out: orch writes the tag")
    if len(said.encode("utf-8", "surrogatepass")) > _LONGEST_TEXT:
        raise MemoryProblem(f"the text is longer than {_LONGEST_TEXT} bytes", "an entry is one fact; link to the rest")
    return said


def add_entry(desk: Desk, text: str, section: str | None = None) -> Decision:
    """A person adds an entry; one that an agent proposed already becomes the person's own."""
    said = require_fit(text)
    found = entry_id(said)
    done = "added"

    def change(document: Document) -> Document:
        nonlocal done
        same = next((entry for entry in document.entries if entry.id == found and not entry.superseded), None)
        if same is None:
            document = insert_entry(document, said, section=section or DEFAULT_SECTION, tag=None)
        elif same.tag is None:
            done = "known"
        else:
            done = "approved"
            document = retag_entry(document, same, None)
        # After all that can fail, and before the file is replaced: a grant without its entry does no harm.
        desk.ledger.grant([found], Trust.HUMAN, "command")
        return document

    desk.change(change)
    return Decision(id=found, text=said, done=done)
