"""How much of a question a text covers: the measure by which an entry is an answer, or none."""

import re
from dataclasses import dataclass

from memory.gone import says_gone
from memory.kinds import has_instance
from memory.question import Part
from memory.stems import stem
from memory.tokeniser import contains_identifier
from memory.wanted import Wanted, holds
from memory.words import denies


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What the parts of a question weigh, and what each rule leaves of a word's weight or of the whole cover."""

    weak: float = 0.12
    weak_found: float = 0.4
    action: float = 1.5
    head: float = 1.3
    kind: float = 0.9
    category: float = 0.3
    category_found: float = 0.3
    wanted: float = 0.2
    wanted_loose: float = 0.3
    long: float = 2.5
    beyond: float = 0.3
    doubled: float = 0.8
    kind_synonym: float = 0.4
    head_synonym: float = 0.9
    proper: float = 1.3
    name: float = 1.9
    denial: float = 1.8
    denied_found: float = 1.1
    synonym: float = 0.95
    instance: float = 0.96
    alike: float = 0.6
    missed_action: float = 0.72
    missed_head: float = 0.8
    missed_kind: float = 0.85
    missed_name: float = 0.3
    missed_wanted: float = 0.25
    missed_place: float = 0.6
    missed_procedure: float = 0.3
    contrast: float = 0.25
    forbids: float = 0.25
    no_evidence: float = 0.3
    loose_evidence: float = 0.6
    elided: float = 0.4
    gone: float = 0.62


WEIGHTS = Weights()
_LIGHT = (Part.WEAK, Part.CATEGORY)


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A word of the question: as written, stemmed, what means the same (`others`: its stems), its rarity (0.5 to 1).

    `instances` are names of what the word is the kind of.
    """

    text: str
    stem: str
    wordings: frozenset[str]
    others: frozenset[str]
    rarity: float
    part: Part
    instances: frozenset[str] = frozenset()

    def weight(self, weights: Weights) -> float:
        """What the word counts for."""
        if self.part is Part.WEAK:
            return weights.weak
        factor = {
            Part.ACTION: weights.action,
            Part.HEAD: weights.head,
            Part.KIND: weights.kind,
            Part.CATEGORY: weights.category,
            Part.PROPER: weights.proper,
        }
        return self.rarity * factor.get(self.part, 1.0)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question in stems. `sides` are, for each contrast that it takes a side in, (its side, the other sides)."""

    units: tuple[Unit, ...]
    names: tuple[str, ...]
    wanted: Wanted
    denies: bool
    measure: bool = False
    action: str | None = None
    sides: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A text as one question sees it: whether it denies something, and has what is wanted; what it `elides`."""

    text: str
    stems: frozenset[str]
    denies: bool
    fits: bool
    elides: str | None


def cover(asked: Asked, text: str, stems: frozenset[str], weights: Weights = WEIGHTS) -> float:
    """How much of the question's weight stands in a text (0 to 1), lowered where it cannot be what is asked for."""
    candidate = _Candidate(
        text=text, stems=stems, denies=denies(text), fits=holds(asked.wanted, text), elides=_elided(asked, text)
    )
    shares = _shares(asked.units, stems, weights)
    instances = [bool(unit.instances) and has_instance(unit.instances, text) for unit in asked.units]
    shares = [max(share, weights.instance * known) for share, known in zip(shares, instances, strict=True)]
    factor = _evidence(asked, candidate, shares, weights) * _fitness(asked, candidate, weights)
    total, got = _form(asked, candidate, weights)
    for unit, found, known in zip(asked.units, shares, instances, strict=True):
        weight, share = _weigh(unit, found, weights, candidate, both_deny=asked.denies and candidate.denies)
        if known and unit.part in _LIGHT:
            weight = unit.rarity * weights.kind
        total += weight
        got += weight * share
        if not share and candidate.elides is None:
            factor *= _missed(asked, unit, text, weights)
    for name in asked.names:
        total += weights.name
        if contains_identifier(text, name):
            got += weights.name
        else:
            factor *= weights.missed_name
    # Who asks at length tells more than an answer repeats.
    total = min(total, weights.long + weights.beyond * max(0.0, total - weights.long))
    covered = factor * min(1.0, got / total) if total else 0.0
    proper = [unit.text for unit in asked.units if unit.part is Part.PROPER]
    return max(covered, weights.gone) if says_gone(proper, text) else covered


def _form(asked: Asked, candidate: _Candidate, weights: Weights) -> tuple[float, float]:
    """What the form of a question weighs, and what of it a text has: a denial, the kind of answer."""
    total = got = 0.0
    if asked.denies:
        total += weights.denial
        got += weights.denial * candidate.denies
    if asked.wanted is Wanted.LEAVE and candidate.denies:
        # What forbids a thing answers whether it is allowed; what does not forbid it may answer as well.
        total += weights.denial
        got += weights.denial
    elif asked.units and asked.wanted not in (Wanted.LEAVE, Wanted.ANYTHING):
        weight = weights.wanted_loose if asked.wanted in (Wanted.PLACE, Wanted.PROCEDURE) else weights.wanted
        total += weight
        got += weight * candidate.fits
    return total, got


def _weigh(
    unit: Unit, share: float, weights: Weights, candidate: _Candidate, *, both_deny: bool
) -> tuple[float, float]:
    """What a word weighs for a text, and the share of it that is found there."""
    if candidate.elides is not None and unit.text == candidate.elides:
        return 1.0, 1.0
    if candidate.elides is not None and not share:
        return unit.weight(weights) * weights.elided, 0.0
    if unit.part is Part.WEAK and share:
        return (weights.denied_found if both_deny else weights.weak_found), share
    if unit.part is Part.CATEGORY and share:
        return weights.category_found * unit.rarity, share
    return unit.weight(weights), share


def _missed(asked: Asked, unit: Unit, text: str, weights: Weights) -> float:
    """What is left of the cover where a word is missing that the question turns on."""
    if unit.part is Part.ACTION:
        return weights.missed_action
    if unit.part is Part.HEAD:
        return weights.missed_head
    if unit.part is Part.KIND and not (asked.measure and holds(Wanted.NUMBER, text)):
        return weights.missed_kind
    return 1.0


def _evidence(asked: Asked, candidate: _Candidate, shares: list[float], weights: Weights) -> float:
    """Below 1 where hardly anything of what a question is about stands in a text as it was asked."""
    if any(contains_identifier(candidate.text, name) for name in asked.names):
        return 1.0
    heavy = [share for unit, share in zip(asked.units, shares, strict=True) if unit.part not in _LIGHT]
    if not heavy or candidate.elides is not None:
        return 1.0
    found = [share for share in heavy if share]
    if not found:
        return weights.no_evidence
    return 1.0 if max(found) >= weights.instance or len(found) > 1 else weights.loose_evidence


def _fitness(asked: Asked, candidate: _Candidate, weights: Weights) -> float:
    """Below 1 where a text is not the kind of answer that is asked for, or is about the other side of a contrast."""
    factor = 1.0
    if not candidate.fits:
        lowered = {Wanted.PLACE: weights.missed_place, Wanted.PROCEDURE: weights.missed_procedure}
        factor *= lowered.get(asked.wanted, weights.missed_wanted)
    if asked.wanted is Wanted.PROCEDURE and not asked.denies and _FORBIDS.search(candidate.text):
        factor *= weights.forbids
    for side, others in asked.sides:
        if others & candidate.stems and not side & candidate.stems:
            factor *= weights.contrast
    return factor


def _shares(units: tuple[Unit, ...], stems: frozenset[str], weights: Weights) -> list[float]:
    """How far each word is found. A word of the text that stands for another one stands for one only."""
    claimed = {unit.stem for unit in units if unit.stem in stems}
    shares = {unit: 1.0 for unit in units if unit.stem in stems}
    for unit in sorted(units, key=lambda unit: unit.part is Part.WEAK):
        if unit in shares:
            continue
        left = stems - claimed
        found = min(unit.others & left, default=None)
        share = {Part.KIND: weights.kind_synonym, Part.HEAD: weights.head_synonym}.get(unit.part, weights.synonym)
        if found is None and unit.part is not Part.WEAK:
            found = min((other for other in left if _alike(unit.stem, other)), default=None)
            share = weights.alike
        if found is None and unit.part is not Part.ACTION and unit.others & claimed:
            # `text string`: two words of the question for one of the text.
            shares[unit] = weights.doubled
            continue
        if found is not None:
            claimed.add(found)
        shares[unit] = share if found is not None else 0.0
    return [shares[unit] for unit in units]


def _alike(word: str, other: str) -> bool:
    """Whether two stems are forms or compounds of one word: `reconcil` and `reconcili`, `virus` and `antivirus`."""
    short, long = sorted((word, other), key=len)
    if len(short) >= 5 and len(long) > len(short) and long.endswith(short):
        return True
    if len(short) >= 4 and long in (short + "er", short + "or", short + "r"):
        return True
    return len(short) >= 6 and long.startswith(short)


# A sentence that only forbids: it tells nobody how a thing is done.
_FORBIDS = re.compile(r"\A\W*(?:never|do not|don't|avoid|no)\b[^;:.]*[.]?\Z", re.IGNORECASE)
_BY = re.compile(
    r"(?:\A|[.;:,] |\bthen )([A-Za-z]+)(?: [\w'-]+){0,4}? (?:with|by|using|via|through)\b|"
    r"(?:\A|[.;:] )([A-Za-z]+)[^.;]{0,30}: `"
)


def _elided(asked: Asked, text: str) -> str | None:
    """The action of a question that a text tells without its object: `Restore with …`."""
    if asked.action is None or asked.wanted is not Wanted.PROCEDURE:
        return None
    for match in _BY.finditer(text):
        if stem(match[1] or match[2]) == stem(asked.action):
            return asked.action
    return None
