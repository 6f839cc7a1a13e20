"""What `orch verify` claims about a backend, judged from what was recorded: pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.delivery import Place, describe, find_text, same_place
from orchestrator.recorder import Recorded
from orchestrator.sharing import Share, measure_share


class Verdict(StrEnum):
    """What became of one claim."""

    TRUE = "true"
    FALSE = "false"
    UNPROVABLE = "not provable"  # nothing on this machine can show it
    ABSENT = "not there"  # the backend has no such thing (no resume)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One cell of the table; `detail` says in one line what was seen."""

    name: str
    verdict: Verdict
    detail: str = ""


# The claims in the order of the table's columns, with their headings.
HEADINGS: Mapping[str, str] = {
    "ran": "ran",
    "once": "once",
    "exact": "exact",
    "second_turn": "2nd turn",
    "resume": "resume",
    "off": "off is absent",
    "footprint": "footprint",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One backend through one seam. `note` says why there are no claims, or what a person should know."""

    backend: str
    seam: str
    version: str | None
    tested: tuple[str, str]
    claims: tuple[Claim, ...] = ()
    share: Share | None = None
    shares_memory: bool | None = None
    place: Place | None = None
    note: str = ""
    installed: bool = True

    @property
    def failed(self) -> tuple[Claim, ...]:
        """The claims that do not hold."""
        return tuple(claim for claim in self.claims if claim.verdict is Verdict.FALSE)

    def claim(self, name: str) -> Claim | None:
        """The claim of that name."""
        return next((claim for claim in self.claims if claim.name == name), None)


def judged(name: str, holds: bool, detail: str = "") -> Claim:
    """A claim that holds or does not."""
    return Claim(name=name, verdict=Verdict.TRUE if holds else Verdict.FALSE, detail=detail)


def ran_claim(complaints: Sequence[str]) -> Claim:
    """Judge whether every run came to its end as the backend itself tells it."""
    found = [complaint for complaint in complaints if complaint]
    return judged("ran", not found, "; ".join(dict.fromkeys(found)))


def delivery_claims(requests: Sequence[Recorded], text: str) -> tuple[Claim, ...]:
    """Judge a run that called one tool: the first request holds the text once, exactly; the later ones just so."""
    if not requests:
        nothing = "no request reached the model"
        return tuple(judged(name, False, nothing) for name in ("once", "exact", "second_turn"))
    first = find_text(requests[0].body, text)
    told = describe(first)
    if len(requests) < 2:
        second = judged("second_turn", False, "the backend made no second request")
    else:
        later = [find_text(recorded.body, text) for recorded in requests[1:]]
        wrong = next((sighting for sighting in later if not same_place(first, sighting)), None)
        # What was wrong from the start is told once, in the first two cells.
        again = "as in the first request" if wrong is not None and not first.once else ""
        told_again = again or describe(wrong if wrong is not None else later[-1])
        second = judged("second_turn", wrong is None, told_again)
    return (judged("once", first.once, told), judged("exact", first.times > 0, told), second)


def resume_claim(requests: Sequence[Recorded], text: str, task: str) -> Claim:
    """Judge a resumed conversation by its last request: the text is there once, and the first run's task is too."""
    if not requests:
        return judged("resume", False, "no request reached the model")
    if not find_text(requests[-1].body, task).times:
        return judged("resume", False, "the conversation was not taken up: the first task is not in the request")
    sighting = find_text(requests[-1].body, text)
    return judged("resume", sighting.once, describe(sighting))


def off_claim(requests: Sequence[Recorded], text: str, differences: Sequence[str]) -> Claim:
    """Judge a run with the memory off: nothing of the text in any request, and none of the given differences."""
    found = list(differences)
    for recorded in requests:
        sighting = find_text(recorded.body, text)
        if sighting.stop is None or sighting.stop.kind != "absent" or sighting.echoes:
            found.append(f"request {recorded.number} holds some of it: {describe(sighting)}")
    if not requests:
        found.append("no request reached the model")
    return judged("off", not found, "; ".join(found))


def footprint_claim(differences: Sequence[str]) -> Claim:
    """Judge what is left in and around the repository."""
    return judged("footprint", not differences, "; ".join(differences))


def share_of(first: Sequence[Recorded], second: Sequence[Recorded]) -> Share | None:
    """Measure what the first request from a second worktree shares with the first from another one."""
    if not first or not second or first[0].api != second[0].api:
        return None
    old, new = first[0].parsed, second[0].parsed
    if not isinstance(old, dict) or not isinstance(new, dict):
        return None
    return measure_share(first[0].api, old, new)


def unprovable(names: Sequence[str], why: str) -> tuple[Claim, ...]:
    """Claims that nothing on this machine can decide."""
    return tuple(Claim(name=name, verdict=Verdict.UNPROVABLE, detail=why) for name in names)
