"""The kind of answer that a question asks for, and whether a text can be one."""

import re
from enum import Enum

from memory.vocabulary import MEASURES


class Wanted(Enum):
    """The kind of thing that an answer has to hold. LEAVE is asked for where something may be allowed."""

    ANYTHING = "anything"
    NUMBER = "number"
    VERSION = "version"
    TIME = "time"
    DURATION = "duration"
    FREQUENCY = "frequency"
    PERSON = "person"
    PLACE = "place"
    PROCEDURE = "procedure"
    LEAVE = "leave"


def _asks(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_COUNTS = (
    "two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|dozen|hundred|thousand|million|once|twice|half"
)
_SPAN = "(?:milli|micro)?seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|frames?|releases?|ticks?"
_SPAN_SHORT = "ms|µs|us|s|secs?|mins?|h|d"
_REGULAR = "hourly|daily|nightly|weekly|monthly|yearly"

_NUMBER = _asks(
    r"\bhow (?:many|much|wide|large|big|fast|far|high|deep|old|small|heavy|slow)\b",
    r"\bat (?:which|what) rate\b|\b(?:which|what) port\b|\bport number\b",
    r"\b(?:minimum|maximum)\b|\bsize of\b|\brate limit\b",
)
_VERSION = _asks(r"\b(?:which|what)(?: [\w.+#-]+){0,3} versions?\b", r"\bhow (?:new|recent) ")
_TIME = _asks(r"\W*(?:(?:and|so) )?(?:when|how soon|at (?:which|what) point|(?:by |at )?(?:what|which) time)\b")
# `when do I use X` asks for an occasion, and any text about X may tell it.
_OCCASION = _asks(r"\W*when (?:do|should|must|can|may|would) (?:I|we|you|one) (?:use|need|call|pick|choose)\b")
_FREQUENCY = _asks(r"\W*how (?:often|frequently|regularly)\b")
_DURATION = _asks(r"\W*(?:(?:for|after) )?how (?:long|much time|many (?:hours|minutes|days|seconds))\b")
_PERSON = _asks(r"\W*who\b(?!.*\bprovider\b)")
_PLACE = _asks(
    r"\bwhere\b",
    r"\b(?:which|what) (?:\w+ )?(?:files?|director(?:y|ies)|folder|dir|place|path|bucket|branch|machine|host|page)\b",
)
_PROCEDURE = _asks(
    r"\bhow (?:do|can|should|would|could|must|does one|are we|am I)\b|\bhow to\b",
    r"\b(?:which|what)(?:'s|s)?(?: is| are)?(?: the)? (?:\w+ )?(?:commands?|steps?|procedure|way) \b",
)
_LEAVE = _asks(
    r"\b(?:may|can|could|should|must|shall) "
    r"(?:I|we|you|one|anybody|anyone|several|two|an?|the|it|they|agents?|users?)\b",
    r"\b(?:is|are) (?:it|we|you|I|there) (?:ok|okay|allowed|safe|fine|possible|forbidden|permitted)\b",
    r"\ballowed\b|\bpermitted\b",
)

_HOLDS = {
    # A number of its own, and not the digit in a name such as `eu-1`.
    Wanted.NUMBER: _asks(
        r"(?<![\w-])v?\d[\d.,]*(?:%|[a-zA-Zµ]{0,2}\b)",
        rf"\b(?:{_COUNTS}|an? (?:second|minute|hour|day|week|month|year))\b",
    ),
    Wanted.VERSION: _asks(
        r"\bv\d|\b\d+\.\d+",
        r"\b(?:versions?|is|at|to|on|with|beyond|than|only) \d+\b(?! ?(?:(?:ms|s|m|h|min|sec|hour|day|week|month|"
        r"year|kb|mb|gb|hz|px|frame|time)s?\b|%))",
        r"\b[A-Z][\w+#-]* \d+\b(?! ?(?:(?:ms|s|min|sec|second|minute|hour|day|week|kb|mb|gb)s?\b|%))",
    ),
    Wanted.TIME: _asks(
        rf"\b\d|\b(?:{_REGULAR}|{_SPAN}|always|every|each|once|twice)\b",
        r"\b(?:when|whenever|if|unless|before|after|while|during|until)\b",
        r"\bas soon as\b|\bon (?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:midnight|noon|in tests)\b",
    ),
    Wanted.DURATION: _asks(
        rf"(?<![\w-])(?:\d[\d.,]*[ -]?|(?:an?|{_COUNTS}|few|several|every|one) (?:an? )?)(?:{_SPAN_SHORT}|{_SPAN})\b",
        rf"\b(?:forever|permanent\w*|for good|until|never|{_REGULAR})\b",
    ),
    Wanted.FREQUENCY: _asks(
        rf"\b(?:every|{_REGULAR}|always|once|twice|never|seldom|rarely|continuously|cron|per|times)\b",
        r"\b(?:(?:on|after|for|at) each|in a|a (?:second|minute|hour|day|week|month|year))\b|\d ?hz\b",
    ),
    # Names begin with a capital letter: this one is not blind to case.
    Wanted.PERSON: re.compile(
        r"@\w|\b(?:[Tt]eam|owners?|owned|people|person|[Oo]n[- ]?call|maintainers?|leads?|groups?|guild|squad|"
        r"reviewers?|admins?|operators?|workers?|users?|developers?|engineers?|[Aa]sk|[Pp]ing|[Cc]ontact|[Tt]alk to|"
        r"by [A-Z][a-z]+|[A-Z][a-z]+ (?:owns|maintains|reviews|approves))\b"
    ),
    Wanted.PLACE: _asks(
        r"\w/|/\w|\b\w+\.[a-z]{1,5}\b|https?:|#\w",
        r"\b(?:in|under|at|on|into|inside|below|beneath|beside|behind|within|to|from|through|by|via|goes|lands?)\b",
        r"\b(?:table|file|directory|folder|bucket|branch|host|server)\b",
    ),
    Wanted.PROCEDURE: _asks(
        r"`|\w/|\w\.\w|\b(?:run|use|with|by|through|via|using|from|edit|add|set|make|ask|go|start|then|first|call|put|pass)\b",
        r"\b(?:open|press|click|copy|needs?|requires?|must|only)\b",
    ),
}


def wanted_of(text: str, kind: str | None) -> Wanted:
    """What a question asks for; `kind` is the noun after its `which` or `what`."""
    if _PERSON.match(text):
        return Wanted.PERSON
    for wanted, pattern in ((Wanted.FREQUENCY, _FREQUENCY), (Wanted.DURATION, _DURATION)):
        if pattern.match(text):
            return wanted
    if _TIME.match(text) and not _OCCASION.match(text):
        return Wanted.TIME
    if _VERSION.search(text):
        return Wanted.VERSION
    if _NUMBER.search(text) or kind in MEASURES:
        return Wanted.NUMBER
    for wanted, pattern in ((Wanted.PLACE, _PLACE), (Wanted.PROCEDURE, _PROCEDURE), (Wanted.LEAVE, _LEAVE)):
        if pattern.search(text):
            return wanted
    return Wanted.ANYTHING


def holds(wanted: Wanted, text: str) -> bool:
    """Whether a text can hold that kind of answer at all."""
    pattern = _HOLDS.get(wanted)
    return pattern is None or pattern.search(text) is not None
