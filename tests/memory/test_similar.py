"""Whether texts say the same; and finding a fact among many gives what comparing it with each gives."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.similar import Facts, contradicts, same_fact

_WORDS = st.lists(
    st.sampled_from([*"bcdefghjkm", "not", "never", "`x`", "x", "`c d`", "`8080`", "8080", "the", "src/a.py"]),
    min_size=1,
    max_size=14,
)
_TEXTS = st.lists(_WORDS.map(" ".join), max_size=12)


@given(_TEXTS, _WORDS.map(" ".join), st.booleans())
@example(["b c d e f g h j"], "b c d e f g h j k m", True)
@example(["b 8080"], "b the 8080", False)
def test_many_facts_are_searched_as_each_would_be_compared(texts: list[str], asked: str, told: bool) -> None:
    facts = Facts(texts if told else ())
    for text in texts:
        facts.add(text)
    assert facts.says(asked) == any(same_fact(asked, text) for text in texts)


@pytest.mark.parametrize(
    "old", ["Tests run with `make check`.", "Tests run with make check", "tests run `with` make check"]
)
@pytest.mark.parametrize(
    "form", ["Tests {} with `make check`.", 'Tests {} with "make check".', "tests `{}` with make check"]
)
def test_marks_are_no_words(old: str, form: str) -> None:
    same, denied = form.format("run"), form.format("do not run").replace("`do not run`", "do not `run`")
    assert (same_fact(same, old), contradicts(same, old)) == (True, False)
    assert (same_fact(denied, old), contradicts(denied, old)) == (False, True)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Guard it with if (!ready) return.", "Guard it with if (ready) return."),
        ("Guard the handler with `if (!ready)`.", "Guard the handler with `if (ready)`."),
        (".gitignore lists !keep.txt there.", ".gitignore lists keep.txt there."),
        ("The limit is != 5", "The limit is = 5"),
        ("The limit of x = 6", "The limit of x is 5"),
        ("**Timeouts** are 60 seconds.", "Timeouts are 30 seconds."),
        ("_Timeouts_ are 60 seconds.", "Timeouts are 30 seconds."),
        ("The main branch isn't protected.", "The main branch is protected."),
        ("The main branch isn\u2019t protected.", "The main branch is protected."),
        ("The main branch is no longer protected.", "The main branch is protected."),
    ],
)
def test_a_denial_or_another_value_is_seen_however_it_is_written(new: str, old: str) -> None:
    assert (same_fact(new, old), contradicts(new, old), contradicts(old, new)) == (False, True, True)
