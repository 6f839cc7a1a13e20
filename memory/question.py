"""A question taken apart: the words that carry it and their parts in it, the names, and what kind of answer is asked for."""

import re
from dataclasses import dataclass
from enum import Enum

from memory.tokeniser import identifiers, words
from memory.vocabulary import CATEGORIES, MEASURES, PHRASES, STOP, WEAK
from memory.words import denies

LONGEST = 2_000


class Wanted(Enum):
    """The kind of thing that an answer has to hold."""

    ANYTHING = "anything"
    NUMBER = "number"
    VERSION = "version"
    TIME = "time"
    DURATION = "duration"
    PERSON = "person"
    PLACE = "place"
    PROCEDURE = "procedure"
    FREQUENCY = "frequency"
    LEAVE = "leave"


class Part(Enum):
    """What a word does in its question.

    WEAK words say little. The ACTION is what is to be done (`how do I deploy …`), the HEAD what it is done to, or what
    is asked about (`where is the crash handler`). The KIND is what is asked for (`which queue …`); a CATEGORY is a kind
    that answers do not repeat (`which tool …`).
    """

    PLAIN = "plain"
    WEAK = "weak"
    PROPER = "proper"
    ACTION = "action"
    HEAD = "head"
    KIND = "kind"
    CATEGORY = "category"


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word of a question as written in lower case, and its part."""

    text: str
    part: Part = Part.PLAIN


@dataclass(frozen=True, kw_only=True)
class Question:
    """The words that carry a question, its identifiers, the kind of answer wanted, and whether it is about a denial."""

    words: tuple[Word, ...]
    names: tuple[str, ...]
    wanted: Wanted
    denies: bool = False
    measure: bool = False
    action: str | None = None


_NUMBER = re.compile(
    r"\bhow (?:many|much|wide|large|big|fast|far|high|deep|old|small|heavy|slow)\b|\bat (?:which|what) rate\b|"
    r"\b(?:which|what) port\b|\b(?:minimum|maximum)\b|\bsize of\b|\brate limit\b|\bport number\b",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\b(?:which|what)(?: [\w.+#-]+){0,3} versions?\b|\bhow (?:new|recent) ", re.IGNORECASE)
_TIME = re.compile(
    r"\W*(?:(?:and|so) )?(?:when|how soon|at (?:which|what) point|(?:by |at )?(?:what|which) time)\b", re.IGNORECASE
)
_OCCASION = re.compile(
    r"\W*when (?:do|should|must|can|may|would) (?:I|we|you|one) (?:use|need|call|pick|choose)\b", re.IGNORECASE
)
_FREQUENCY = re.compile(r"\W*how (?:often|frequently|regularly)\b", re.IGNORECASE)
_LEAVE = re.compile(
    r"\b(?:may|can|could|should|must|shall) (?:I|we|you|one|anybody|anyone|several|two|the|a|an|it|they|agents?|users?)\b|"
    r"\b(?:is|are) (?:it|we|you|I|there) (?:ok|okay|allowed|safe|fine|possible|forbidden|permitted)\b|\ballowed\b|\bpermitted\b",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"\W*(?:(?:for|after) )?how (?:long|much time|many (?:hours|minutes|days|seconds))\b", re.IGNORECASE
)
_PLACE = re.compile(
    r"\bwhere\b|\b(?:which|what) (?:\w+ )?(?:file|files|directory|folder|dir|place|path|bucket|branch|machine|host|page)\b",
    re.IGNORECASE,
)
_PROCEDURE = re.compile(
    r"\bhow (?:do|can|should|would|could|must|does one|are we|am I)\b|\bhow to\b|"
    r"\b(?:which|what)(?:'s|s)?(?: is| are)?(?: the)? (?:\w+ )?(?:command|commands|steps?|procedure|way) \b",
    re.IGNORECASE,
)
# `how do I VERB`, `how can the docs be VERBed` is left out: its verb is a plain word.
_ACTION = re.compile(
    r"\bhow (?:do|can|should|would|could|must|to|does)\s+(?:(?:I|we|you|one|i|somebody|someone|people|they)\s+)?"
    r"(?:(?:best|quickly|manually|locally|only|just|actually|safely)\s+)?([a-z][\w-]*)|"
    r"\b(?:command|way|steps?) (?:to|that|for|which)\s+([a-z][\w-]*)",
    re.IGNORECASE,
)
_KIND = re.compile(r"\b(?:which|what|whose|how many)\s+((?:[\w-]+\s*){1,4})", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\b(?:where|what|who|when)(?:'s|\s+(?:is|are|was|do|does|can|should))\s+((?:[\w-]+\s*){1,5})", re.IGNORECASE
)
_DETERMINERS = frozenset(
    "the a an our my this that these those any some new single one all another its i we you it they there".split()
)
_BELONGINGS = frozenset("repository repo repositories project projects".split())
_VERBS = frozenset(
    """is are was were be do does did can could must should shall may might will would has have had need needs run runs
    use uses used to of in on at for from with by that it they we i you the a an happens happen causes cause makes make
    tells tell says say holds hold keeps keep must't the if when while and or about goes go reads read writes write
    sends send gets get comes come takes take gives give""".split()  # noqa: SIM905 - one word a line would be a page
)
# A number of its own, and not the digit in a name such as `eu-1`.
_HOLDS_NUMBER = re.compile(
    r"(?<![\w-])v?\d[\d.,]*(?:%|[a-zA-Zµ]{0,2}\b)|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|dozen|hundred|thousand|million|"
    r"once|twice|half|an? (?:second|minute|hour|day|week|month|year))\b",
    re.IGNORECASE,
)
_HOLDS_TIME = re.compile(
    r"\b\d|\b(?:hourly|daily|weekly|nightly|monthly|minutes?|hours?|days?|weeks?|months?|seconds?|night|always|after|every|"
    r"each|once|twice|when|whenever|if|unless|before|while|during|until|as soon as|on (?:mon|tues|wednes|thurs|fri|satur|"
    r"sun)days?|midnight|noon|in tests)\b",
    re.IGNORECASE,
)
_HOLDS_VERSION = re.compile(
    r"\bv\d|\b\d+\.\d+|\b(?:versions?|is|at|to|on|with|beyond|than|only) \d+\b(?! ?(?:ms|s|m|h|%|min|sec|hour|day|week|"
    r"month|year|kb|mb|gb|hz|px|frame|time))|\b[A-Z][\w+#-]* \d+\b(?! ?(?:ms|s|%|min|sec|hour|day|week|kb|mb|gb))",
    re.IGNORECASE,
)
_HOLDS_DURATION = re.compile(
    r"(?<![\w-])(?:\d[\d.,]*[ -]?|(?:an?|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|half|few|several|"
    r"every|one) (?:an? )?)(?:ms|µs|us|s|sec|secs|min|mins|h|d|milliseconds?|microseconds?|seconds?|minutes?|hours?|days?|nights?|"
    r"weeks?|months?|years?|frames?|releases?|ticks?)\b|\b(?:forever|permanent\w*|for good|until|never|once|nightly|daily|weekly|"
    r"hourly)\b",
    re.IGNORECASE,
)
_HOLDS_FREQUENCY = re.compile(
    r"\b(?:every|hourly|daily|weekly|nightly|monthly|yearly|always|once|twice|never|seldom|rarely|continuously|cron|per|times|"
    r"on each|after each|for each|at each|in a|a (?:second|minute|hour|day|week|month|year))\b|\d ?hz\b",
    re.IGNORECASE,
)
_HOLDS_PERSON = re.compile(
    r"@\w|\b(?:team|owners?|people|person|on-?call|maintainers?|leads?|groups?|guild|squad|reviewers?|admins?|operators?|"
    r"workers?|users?|developers?|engineers?|by [A-Z][a-z]+|[A-Z][a-z]+ (?:owns|maintains|reviews|approves))\b|"
    r"\b(?:ask|ping|contact|talk to)\b",
    re.IGNORECASE,
)
_HOLDS_PLACE = re.compile(
    r"\w/|/\w|\b\w+\.[a-z]{1,5}\b|https?:|#\w|\b(?:in|under|at|on|into|inside|below|beneath|beside|behind|within|to|from|"
    r"through|by|via|goes|lands?|table|file|directory|folder|bucket|branch|host|server)\b",
)
_HOLDS_PROCEDURE = re.compile(
    r"`|\w/|\w\.\w|\b(?:run|use|with|by|through|via|using|from|edit|add|set|make|ask|go|start|then|first|call|put|pass|open|"
    r"press|click|copy|needs?|requires?|must|only)\b",
    re.IGNORECASE,
)


def read_question(text: str) -> Question:
    """Take a question apart; what is longer than `LONGEST` characters is cut."""
    text = text[:LONGEST]
    names = tuple(identifiers(text))
    plain = text
    for name in names:
        plain = plain.replace(name, " ")
    plain = fold_phrases(plain)
    action, kind = _action(plain), _kind(plain)
    head = None if kind else _head(plain, action)
    about = _about(text, names)
    found: dict[str, Word] = {}
    for index, word in enumerate(words(plain)):
        low = word.casefold()
        if low in STOP or (len(low) == 1 and not low.isdigit()):
            continue
        part = Part.PLAIN
        if low == about:
            part = Part.WEAK
        elif low == action:
            part = Part.WEAK if low in WEAK else Part.ACTION
        elif low == kind:
            part = Part.CATEGORY if low in CATEGORIES else Part.KIND
        elif low == head:
            part = Part.WEAK if low in WEAK and low not in _BELONGINGS else Part.HEAD
        elif index > 0 and word[0].isupper():
            part = Part.PROPER
        elif low in WEAK:
            part = Part.WEAK
        found.setdefault(low, Word(text=low, part=part))
    wanted = _wanted(text, kind)
    return Question(
        words=tuple(found.values()),
        names=names,
        wanted=wanted,
        denies=denies(text),
        measure=kind in MEASURES,
        action=action,
    )


def fold_phrases(text: str) -> str:
    """Wordings of several words as the one word that they mean."""
    low = text.casefold()
    for phrase, word in PHRASES:
        if phrase in low:
            text = re.sub(rf"\b{re.escape(phrase)}\b", word, text, flags=re.IGNORECASE)
    return text


def holds(wanted: Wanted, text: str) -> bool:
    """Whether a text can hold that kind of answer at all."""
    pattern = {
        Wanted.NUMBER: _HOLDS_NUMBER,
        Wanted.VERSION: _HOLDS_VERSION,
        Wanted.DURATION: _HOLDS_DURATION,
        Wanted.FREQUENCY: _HOLDS_FREQUENCY,
        Wanted.TIME: _HOLDS_TIME,
        Wanted.PERSON: _HOLDS_PERSON,
        Wanted.PLACE: _HOLDS_PLACE,
        Wanted.PROCEDURE: _HOLDS_PROCEDURE,
    }.get(wanted)
    return pattern is None or pattern.search(text) is not None


def _action(text: str) -> str | None:
    match = _ACTION.search(text)
    return (match[1] or match[2]).casefold() if match else None


def _kind(text: str) -> str | None:
    """The noun that `which` or `what` asks for."""
    match = _KIND.search(text)
    if match is None:
        return None
    before: str | None = None
    noun: str | None = None
    for word in match[1].casefold().split():
        if word in _DETERMINERS:
            # `what triggers a release`: what stood before was the verb.
            return before
        if word in _VERBS or word in STOP or (noun is not None and word.endswith("ed")):
            break
        before, noun = noun, word
    return noun


def _head(text: str, action: str | None) -> str | None:
    """The noun that the question is about: after `where is`, or the object of the action."""
    if action is not None:
        after = re.split(rf"\b{re.escape(action)}\b", text, maxsplit=1, flags=re.IGNORECASE)
        phrase = after[1] if len(after) == 2 else ""
    else:
        match = _SUBJECT.search(text)
        phrase = match[1] if match else ""
    noun: str | None = None
    for word in re.findall(r"[\w-]+|[^\w\s]", phrase.casefold()):
        if word in _DETERMINERS and noun is None:
            continue
        if not word[0].isalpha() or word in _VERBS or word in STOP or word in _DETERMINERS:
            break
        if noun is not None and word.endswith(("ed", "ing")):
            break
        noun = word
    return noun


def _about(text: str, names: tuple[str, ...]) -> str | None:
    """The verb of `what does NAME do`: an entry that has the name says it in words of its own."""
    for name in names:
        match = re.match(
            rf"\W*what (?:does|do|is|are|did) (?:the )?\W*{re.escape(name)}\W+(\w+)\W*\Z", text, re.IGNORECASE
        )
        if match is not None:
            return match[1].casefold()
    return None


def _wanted(text: str, kind: str | None) -> Wanted:
    if re.match(r"\W*who\b", text, re.IGNORECASE) and not re.match(r"\W*who\b.*\bprovider\b", text, re.IGNORECASE):
        return Wanted.PERSON
    if _FREQUENCY.match(text):
        return Wanted.FREQUENCY
    if _DURATION.match(text):
        return Wanted.DURATION
    if _TIME.match(text) and not _OCCASION.match(text):
        return Wanted.TIME
    if _VERSION.search(text):
        return Wanted.VERSION
    if _NUMBER.search(text) or kind in MEASURES:
        return Wanted.NUMBER
    if _PLACE.search(text):
        return Wanted.PLACE
    if _PROCEDURE.search(text):
        return Wanted.PROCEDURE
    if _LEAVE.search(text):
        return Wanted.LEAVE
    return Wanted.ANYTHING
