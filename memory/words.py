"""Words for retrieval: what a text is about, with identifiers, paths and commands taken apart properly.

A term is a stem, or one name for a group of words that mean the same to somebody who asks about a repository. An
identifier is also kept whole, because a question that names one means that one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Protocol


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


_WORD = re.compile(r"[\w@$./:+#*-]*\w[\w/*+#-]*", re.UNICODE)
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_JOINED = re.compile(r"[\w][./:_@#*+-]+[\w*]|^--?\w|^[./~$@]\w")

# Words that say nothing about the subject.
_EMPTY = frozenset(
    re.split(
        r"\s+",
        """
        a about all also am an and any are aren as at be because been being but by can cannot could did didn do does
        doesn don done each else etc ever every few for from get gets getting got had has hasn have haven having he her
        here him his how i if in into is isn it its itself just know let like ll lot many may me might more most much
        must my need needed needs no nor not of off ok on once one only onto or other our ours out over own per please
        put re really s same shall she should shouldn so some such t tell than that the their them then there these they
        thing this those through to too under until up us ve very want wants was wasn way we well were what whats when
        where which while who whom whose why will with within without won would wouldn yes you your yours actually
        currently exactly project repository repo codebase explain describe show give anyone anybody someone something
        anything everything somewhere anywhere always never used use uses using go goes going come comes make makes made
        making happen happens happened work works working say says things kind sort
        time point still whole nothing written write writes wrote look looks see seen find
""".strip(),
    )
)
# Groups of words that mean the same in a question about a repository; the first of each names the group.
_GROUPS = """
run execute launch start invoke boot startup
test tests testing testsuite
doc docs documentation document documented manual handbook
config configuration configure configured configs setting settings
dir directory directories folder folders
locate located live lives stored store kept keep reside resides sit sits found find placed location lie
delete remove removed deleted drop erase
build compile compiled built compilation
dependency dependencies package packages library libraries lib
deploy deployed deployment release released ship publish rollout
env environment
auth authentication authenticate login signin logon
fail failure fails failing failed error errors crash broken break breaks
forbidden forbid avoid disallow disallowed prohibited banned ban
migration migrations migrate migrating
fixture fixtures sample samples
mock mocks mocked fake fakes stub stubs
lint linter linting linters
format formatter formatting formatted
secret secrets credential credentials password passwords
install installed installing installation setup
log logs logging logged
container containers docker
create add new generate generated generates generation regenerate produce produced
edit change modify alter changed edited update updated touch
timeout timeouts hang hangs hanging stall stuck
ci pipeline pipelines
db database databases
url urls endpoint endpoints route routes
cron schedule scheduled scheduler nightly
seed seeding seeded
cache caching cached caches
slow slowly
mail mails email emails
compute computes computed calculate calculated calculation
show shown display displayed
read reads reader readers
parse parses parsed parser
version versions versioned versioning
order sequence before first prerequisite beforehand prior
handwritten hand manually manual
allow allowed permitted
limit limits maximum max cap
need require required requires requirement
api apis
frontend ui webapp
server backend daemon service
queue worker workers job jobs
port ports
img image images picture pictures photo photos
i18n translation translations locale locales language
metric metrics monitoring
commit commits committed
branch branches
review reviewed reviewer reviewers
owner owns owned maintainer maintainers responsible
"""
# Only the shape of a question: what they name is in the answer in other words.
_SOFT = frozenset(
    {"run", "singl", "locat", "creat", "edit", "need", "order", "handwritten", "allow", "chang", "forbidden"}
)


_DENIAL = re.compile(
    r"\b(?:not|never|nothing|don't|dont|cannot|can't|mustn't|shouldn't|avoid|forbid\w*|disallow\w*|prohibit\w*|without)\b",
    re.I,
)


def word_groups() -> tuple[tuple[str, ...], ...]:
    """The groups of words that mean the same."""
    return tuple(tuple(line.split()) for line in _GROUPS.strip().splitlines())


def denies(text: str) -> bool:
    """Whether a text forbids or denies something: a question about what must not be is answered by such an entry."""
    return bool(_DENIAL.search(text.replace("’", "'")))


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a text is about: its terms in order, each with the word that it came from (an identifier's parts joined by
    spaces), and the identifiers in it (lower case, separators as `_`).
    """

    terms: tuple[str, ...]
    words: tuple[str, ...]
    identifiers: frozenset[str]


@lru_cache(maxsize=40_000)
def terms_of(text: str) -> Terms:
    """Take a text apart."""
    found: list[tuple[str, str]] = []
    identifiers: set[str] = set()
    for word in _WORD.findall(text.replace("’", "'")):
        bare = word.strip("./:-*#+")
        if _JOINED.search(word) or _CAMEL.search(bare) or "_" in bare:
            whole = _whole(bare)
            pieces = _PART.findall(bare)
            if whole and not whole.isdigit():
                identifiers.add(whole)
                if len(pieces) > 1:
                    found.append((whole, " ".join(piece.lower() for piece in pieces)))
        found.extend(_parts(bare))
    return Terms(
        terms=tuple(name for name, _ in found),
        words=tuple(word for _, word in found),
        identifiers=frozenset(identifiers),
    )


def _whole(word: str) -> str:
    return re.sub(r"\W+", "_", word.lower()).strip("_")


def _parts(word: str) -> Iterator[tuple[str, str]]:
    for piece in _PART.findall(word):
        lowered = piece.lower()
        if lowered in _EMPTY or (len(lowered) == 1 and not lowered.isdigit()):
            continue
        yield term(lowered), lowered


@lru_cache(maxsize=40_000)
def term(word: str) -> str:
    """The term of one lower-case word."""
    groups = _group_names()
    stem = _stemmer().stemWord(word)
    return groups.get(word) or groups.get(stem) or stem


@cache
def _group_names() -> dict[str, str]:
    names: dict[str, str] = {}
    for line in _GROUPS.strip().split("\n"):
        words = line.split()
        name = _stemmer().stemWord(words[0])
        for word in words:
            names.setdefault(word, name)
            names.setdefault(_stemmer().stemWord(word), name)
    return names


@cache
def _stemmer() -> _Stemmer:
    import snowballstemmer

    found: _Stemmer = snowballstemmer.stemmer("english")
    return found
