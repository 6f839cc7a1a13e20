"""A person adds an entry to the memory.

Apart from the other decisions because it is what scripts do hundreds of times: it loads only what it needs.
"""

from dataclasses import dataclass
from functools import lru_cache

from memory.document import Document
from memory.edit import DEFAULT_SECTION, LONGEST_SECTION, insert_entry, is_sound_section, require_entry, retag_entry
from memory.entry import Entry, Trust, entry_id, wording
from memory.errors import MemoryFault
from memory.hidden import has_hidden
from memory.secrets import find_secret
from memory.tag import parse_tag
from orchestrator.desk import Desk
from orchestrator.errors import MemoryProblem, UsageProblem

_LONGEST_TEXT = 8000


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What became of one entry: `done` is a word such as `added` or `approved`."""

    id: str
    text: str
    done: str


def require_text(text: str) -> str:
    """The text of an entry, as somebody gives it to a command, without space around it.

    Raises MemoryProblem for a secret (which is never repeated), UsageProblem for what would not be one entry.
    """
    said = _without_secret(text)
    fault = _fault(said)
    if fault is not None:
        raise UsageProblem(*fault)
    if said.startswith("~~") and said.endswith("~~"):
        raise UsageProblem(
            "the text is struck through", "leave the ~~ out; orch memory supersede and rm take entries out"
        )
    try:
        require_entry(said)
    except MemoryFault as exc:
        raise UsageProblem(exc.message, exc.hint or "give one fact in plain text") from exc
    return said


def require_fit(text: str) -> str:
    """The text of an entry that a file holds, without space around it.

    Raises MemoryProblem for a secret (which is never repeated), invisible characters, a tag of its own, or too much.
    """
    said = _without_secret(text)
    fault = _fault(said)
    if fault is not None:
        raise MemoryProblem(*fault)
    return said


def _without_secret(text: str) -> str:
    said = text.replace("\r\n", "\n").strip()
    secret = find_secret(said)
    if secret is not None:
        line, kind = secret
        raise MemoryProblem(
            f"line {line} of the text holds what looks like {kind}; it was not written anywhere",
            "say where the secret is kept, not what it is",
        )
    return said


def _fault(said: str) -> tuple[str, str] | None:
    """What is wrong with a text, and what helps."""
    if has_hidden(said) or any(char < " " and char not in "\n\t" for char in said):
        return "the text holds characters that cannot be seen", "type it anew, in plain characters"
    if parse_tag(said) is not None:
        return "the text begins with a tag of its own", "leave it out: orch writes the tag"
    if len(said.encode("utf-8", "surrogatepass")) > _LONGEST_TEXT:
        return f"the text is longer than {_LONGEST_TEXT} bytes", "an entry is one fact; link to the rest"
    return None


def require_section(section: str | None, *, claimed: bool = False) -> str:
    """The section of an entry, the default one where none is named; `claimed` by an agent, and no person's word.

    Raises UsageProblem for what is no plain name, holds a secret or (claimed) steers who reads it.
    """
    if section is None:
        return DEFAULT_SECTION
    name = section.strip()
    if not is_sound_section(name):
        raise UsageProblem(
            "that is no name for a section",
            f"--section NAME: one plain line of at most {LONGEST_SECTION} characters, without marks of Markdown",
        )
    fault = section_fault(name, claimed=claimed)
    if fault is not None:
        raise UsageProblem(f"the name of the section is refused: {fault}", "name what the section is about")
    return name


def safe_section(section: str) -> str:
    """The section where an agent's claim may land: the default one instead of a name that would be refused."""
    fit = is_sound_section(section) and section_fault(section, claimed=True) is None
    return section if fit else DEFAULT_SECTION


@lru_cache(maxsize=1000)
def section_fault(name: str, *, claimed: bool) -> str | None:
    """Why the name of a section is not to be given to agents: a secret in it, or (claimed) that it steers them."""
    secret = find_secret(name)
    if secret is not None:
        return f"it holds what looks like {secret[1]}"
    if not claimed:
        return None
    from memory.poison import held_reason

    return held_reason(name)


def said_alike(there: Entry, text: str) -> str:
    """The text of an entry that is there, which a person's own text names as well.

    Raises UsageProblem where a name in it is written with other letters: then it may be another fact.
    """
    if wording(there.text) != wording(text):
        from memory.similar import same_letters

        if not same_letters(there.text, text):
            raise UsageProblem(
                f"{there.id} stands there with other letters in a name; nothing was written",
                f"orch memory show {there.id}; orch memory rm {there.id} takes it out, and then yours can be added",
            )
    return there.text


def add_entry(desk: Desk, text: str, section: str | None = None) -> Decision:
    """A person adds an entry; one that an agent proposed already becomes the person's own."""
    said, where = require_text(text), require_section(section)
    found = entry_id(said)
    done = "added"

    def change(document: Document) -> Document:
        nonlocal done
        same = next((entry for entry in document.entries if entry.id == found and not entry.superseded), None)
        if same is None:
            document = insert_entry(document, said, section=where, tag=None)
        elif same.tag is None:
            # Git may have brought back what a person took out; only the person can, by saying it again.
            done = "approved" if desk.ledger.closed(desk.ledger.lines(found)) else "known"
        else:
            done = "approved"
            document = retag_entry(document, same, None)
        # After all that can fail, and before the file is replaced: a grant without its entry does no harm.
        desk.ledger.grant({found: said if same is None else said_alike(same, said)}, Trust.HUMAN, "command")
        return document

    desk.change(change)
    return Decision(id=found, text=said, done=done)
