"""Retrieval: the committed evaluation holds what is claimed of it, and the parts do what they say."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import synonyms
from memory.kinds import instances_in
from memory.meaning import WordModel
from memory.question import fold_all, fold_phrases
from memory.retrieval import THRESHOLD, Index, Passage, find
from memory.tokeniser import identifiers, words
from memory.vocabulary import STOP
from memory.words import denies
from tests.floor import Floor
from tests.memory.evaluation import FRESH, READ, Case, load_cases, ours, plain_bm25, score, substring

CASES = load_cases()
FRESH_CASES = load_cases(FRESH)


def test_the_evaluation_is_what_it_says_it_is() -> None:
    questions = [question for case in (*CASES, *FRESH_CASES) for question in case.questions]
    assert len(CASES) >= 60
    assert len(FRESH_CASES) == 2 * READ
    assert len(questions) >= 300
    assert sum(not question.answers for question in questions) >= 100
    kinds = {"direct", "paraphrase", "identifier", "how", "negated", "superseded", "conflict", "none"}
    assert {question.kind for question in questions} == kinds
    assert len({question.text for question in questions}) > 0.97 * len(questions)
    for case in (*CASES, *FRESH_CASES):
        live = {passage.id for passage in case.passages if not passage.superseded}
        assert all(question.answers <= live for question in case.questions), case.name
        assert all(bool(question.answers) == (question.kind != "none") for question in case.questions), case.name


def test_the_targets_are_met_on_the_evaluation(tell: Callable[[str], None]) -> None:
    methods = (("orch ask", ours), ("substring", substring), ("plain BM25", plain_bm25))
    scores = {name: score(CASES, method) for name, method in methods}
    for name, each in scores.items():
        tell(f"ask: {name}: {each.line}")
    found = scores["orch ask"]
    assert found.forbidden == 0
    assert found.correct_1 >= 0.94
    assert found.correct_3 >= 0.95
    assert found.answered_anyway <= 0.03
    for other in ("substring", "plain BM25"):
        assert found.correct_1 > scores[other].correct_1
        assert found.answered_anyway < scores[other].answered_anyway


def test_the_threshold_is_the_lowest_that_answers_few_of_the_unanswerable() -> None:
    lower = score(CASES, lambda case, question: ours(case, question, threshold=THRESHOLD - 0.02))
    assert lower.answered_anyway > 0.03


def test_questions_that_nothing_was_set_on_are_answered_as_measured(tell: Callable[[str], None]) -> None:
    """The targets are not met here: the bounds are what is measured, so that no change makes it worse unseen."""
    for name, cases in (("read", FRESH_CASES[:READ]), ("unread", FRESH_CASES[READ:])):
        found, bm25 = score(cases, ours), score(cases, plain_bm25)
        tell(f"ask, fresh, {name}: orch ask: {found.line}")
        tell(f"ask, fresh, {name}: plain BM25: {bm25.line}")
        assert found.forbidden == 0
        assert found.correct_3 >= 0.74
        assert found.answered_anyway <= 0.19
        assert bm25.answered_anyway > 0.8


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("edit openapi.yaml, then `make generate`", ["openapi.yaml"]),
        ("pass --no-cache or --force to it", ["--no-cache", "--force"]),
        ("see snake_case_name and camelCaseName", ["snake_case_name", "camelCaseName"]),
        ("what does _dispatch.py do", ["_dispatch.py"]),
        ("in src/app/main.py?", ["src/app/main.py"]),
        ("PhysicsWorld::Step and @acme/ui", ["PhysicsWorld::Step", "acme/ui"]),
        ("plain words only, end-to-end, on iOS with GraphQL.", []),
    ],
)
def test_identifiers_are_seen_whole(text: str, expected: list[str]) -> None:
    assert identifiers(text) == expected


def test_the_humps_of_a_name_are_words() -> None:
    assert words("useApi FeatureFlagCache iOS") == ["use", "Api", "Feature", "Flag", "Cache", "iOS"]


@pytest.mark.parametrize(
    "question", ["what is camelCaseName", "what is camel case name", "camelCaseName?", "where is CAMELCASENAME"]
)
def test_an_identifier_is_found_in_other_spellings(question: str) -> None:
    index = Index(
        [Passage(id="a", text="camelCaseName holds the rate."), Passage(id="b", text="Rates are in rate.py.")]
    )
    found = find(index, question)
    if question.endswith("NAME"):
        assert not found.answers or found.answers[0].passage.id == "a"
    else:
        assert [hit.passage.id for hit in found.answers] == ["a"]


def test_a_question_about_another_identifier_is_not_answered() -> None:
    index = Index([Passage(id="a", text="MAX_RETRIES in settings.py limits the worker's retries.")])
    assert find(index, "What is MAX_RETRIES?").answers
    assert not find(index, "What is MIN_RETRIES?").answers


def test_what_was_is_never_an_answer() -> None:
    index = Index(
        [
            Passage(id="old", text="Tests run with `make test`.", superseded=True),
            Passage(id="new", text="Tests run with `make check`."),
        ]
    )
    found = find(index, "How do I run the tests?")
    assert [hit.passage.id for hit in found.answers] == ["new"]
    assert [hit.passage.id for hit in found.was] == ["old"]


def test_of_two_that_say_the_same_the_more_trusted_comes_first() -> None:
    index = Index(
        [
            Passage(id="a", text="Gauges are read every 5 minutes.", rank=1),
            Passage(id="b", text="Gauges are read every 15 minutes."),
        ]
    )
    assert find(index, "How often are gauges read?").answers[0].passage.id == "b"


_TOOLS = (
    "We use pnpm, not npm.",
    "Invoices are written to Postgres 15 by the nightly job.",
    "Payments go through Stripe.",
    "Room search runs on full text; Algolia was removed in March.",
    "The gateway of old was replaced by Envoy.",
    "The parcel service is written in Go 1.22.",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which package manager do we use?", 0),
        ("What is our package manager?", 0),
        ("Which database do we use?", 1),
        ("Which payment provider is used?", 2),
        ("What do we use for payments?", 2),
        ("How do I reindex the rooms in Algolia?", 3),
        ("How do I configure the filters of Envoy?", None),
        ("Which Go version is used?", 5),
        ("Which linter do we use?", None),
        ("Which cloud provider do we use?", None),
    ],
)
def test_a_kind_is_met_by_its_instances_and_what_is_gone_is_told(question: str, answer: int | None) -> None:
    index = Index([Passage(id=str(number), text=text) for number, text in enumerate(_TOOLS)])
    found = [hit.passage.id for hit in find(index, question).answers]
    assert found[:1] == ([] if answer is None else [str(answer)])


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the minimum supported Rust version?", "a"),
        ("What is our MSRV?", "a"),
        ("How are the SSNs of staff protected?", "b"),
        ("Run the tests?", None),
        ("RUN THE TESTS OF ALL", None),
    ],
)
def test_an_acronym_is_known_by_its_initials(question: str, answer: str | None) -> None:
    index = Index(
        [
            Passage(id="a", text="MSRV is 1.74; a CI job checks it."),
            Passage(id="b", text="The social security numbers of staff are protected by the key in Vault."),
            Passage(id="c", text="CONFIG turns on the RTT log."),
        ]
    )
    assert [hit.passage.id for hit in find(index, question).answers] == ([answer] if answer else [])


@given(st.text(max_size=80))
def test_any_question_can_be_asked(question: str) -> None:
    index = Index(
        [Passage(id="a", text="Fixtures live in testdata/."), Passage(id="b", text='"quoted" OR NEAR(x) * ^')]
    )
    for hit in find(index, question).answers:
        assert 0 <= hit.coverage <= 1


def test_denial_is_seen() -> None:
    assert denies("Never edit gen/.")
    assert not denies("Edit openapi.yaml.")


def test_ten_thousand_entries_are_asked_in_no_time() -> None:
    index = Index(
        [
            Passage(id=str(i), text=f"Part {i} reads conf/part-{i}.toml; `make part-{i}` tests it.")
            for i in range(10_000)
        ]
    )
    find(index, "What does part 12 read?")
    floor = Floor()
    began = time.process_time()
    rounds = 5
    for i in range(rounds):
        assert find(index, f"What does part {i * 771} read?").answers[0].passage.id == str(i * 771)
    assert (time.process_time() - began) / rounds < floor.times(1)


def test_an_empty_memory_knows_nothing() -> None:
    assert ours(Case(name="empty", passages=(), questions=()), "Where are the tests?").keys == ()


def test_a_word_of_the_text_stands_for_one_of_the_question() -> None:
    index = Index([Passage(id="a", text="A release note is needed for each keyword.")])
    assert not find(index, "How do I publish a release?").answers


def test_what_only_forbids_is_no_way_to_do_it() -> None:
    index = Index([Passage(id="a", text="Never write to the ledger table by hand.")])
    assert not find(index, "How do I write to the ledger table?").answers
    assert find(index, "May I write to the ledger table?").answers
    assert find(index, "What must never be written by hand?").answers


@pytest.mark.parametrize(
    ("question", "text", "answered"),
    [
        ("How long are the logs kept?", "Logs are kept for 30 days.", True),
        ("How long are the logs kept?", "Logs are kept in logs/.", False),
        ("Where are the logs kept?", "Logs are kept in logs/.", True),
        ("Which Node version is needed?", "Node 22 is needed.", True),
        ("Which Node version is needed?", "Node is needed; the build takes 20 minutes.", False),
        ("Which queue does the importer publish to?", "The importer publishes a record every minute.", False),
        ("How do I restore the backup?", "Restore with `restic restore latest`.", True),
        ("Why not MySQL?", "We chose Postgres over MySQL because of exclusion constraints.", True),
        ("Why not MySQL?", "Database migrations are never rolled back.", False),
        ("Where is production hosted?", "Production runs in the Stockholm region.", True),
    ],
)
def test_an_answer_holds_what_is_asked_for(question: str, text: str, answered: bool) -> None:
    assert bool(find(Index([Passage(id="a", text=text)]), question).answers) is answered


def test_a_model_of_words_orders_what_is_near_and_answers_nothing() -> None:
    index = Index(
        [
            Passage(id="a", text="Beta builds go to TestFlight."),
            Passage(id="b", text="The automobile is repaired by its mechanic."),
        ]
    )
    question = "Who mends a broken car?"
    without, found = find(index, question), find(index, question, meaning=WordModel())
    assert not without.near
    assert not found.answers
    assert [hit.passage.id for hit in found.near] == ["b"]


def _data(name: str) -> list[str]:
    lines = Path(synonyms.__file__).with_name("data").joinpath(name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_each_word_of_the_vocabulary_is_found_by_its_first_letter() -> None:
    groups = [[word for word in line.split() if word not in STOP] for line in _data("synonyms.txt")]
    assert len(groups) > 100
    for group in groups:
        for word in group:
            assert synonyms.wordings_of(word) >= set(group)
    kinds = [line.partition(":") for line in _data("kinds.txt") if ":" in line]
    assert len(kinds) > 10
    for named, _, names in kinds:
        for kind in named.split(","):
            found = instances_in(f"which {kind}")
            assert all(found[word.casefold()] >= set(names.split()) for word in words(kind))


@given(
    st.lists(st.lists(st.sampled_from(["Set", "up", "end", "to", "login", "roll", "back", "ß", "on"])).map(" ".join))
)
def test_phrases_are_folded_in_many_texts_as_in_one(texts: list[str]) -> None:
    assert list(fold_all(texts)) == [fold_phrases(text) for text in texts]


@given(st.text(alphabet="abAB1_ é", max_size=12))
def test_a_text_has_the_same_words_beside_a_name_with_humps(text: str) -> None:
    assert words(f"fooBar {text}") == ["foo", "Bar", *words(text)]
    assert words(f"fooBar {text}", whole=True) == ["foo", "Bar", "fooBar", *words(text, whole=True)]
