"""The corpus of attacks: none changes the structure of the render, none counts as trusted."""

import re
from pathlib import Path

import pytest

from memory.document import parse
from memory.entry import Trust
from memory.poison import held_reason
from memory.trust import Judged, committed_trust, judge
from projection.budget import Budget
from projection.render import CLOSE, OPEN, render

DATA = Path(__file__).resolve().parent.parent / "data" / "attacks.txt"
_ESCAPE = re.compile(r"\\n|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")
BUDGET = Budget(bytes=60_000, tokens=60_000)
# What steers instead of describing; the others are made harmless by the form of the render.
STEERING = frozenset(
    {"override", "role", "hide", "fetch", "credentials", "switch", "rights", "steer", "homoglyph", "base64"}
)


def load_attacks() -> list[tuple[str, str]]:
    """Every attack: its kind and its text."""

    def char(found: re.Match[str]) -> str:
        code = found[1] or found[2]
        return "\n" if code is None else chr(int(code, 16))

    lines = [line for line in DATA.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [(kind, _ESCAPE.sub(char, text)) for kind, _, text in (line.partition(": ") for line in lines)]


ATTACKS = load_attacks()


def memory_with(texts: list[str]) -> bytes:
    """A memory file with these texts as an agent would write them: each is a bullet, its other lines raw."""
    bullets = "".join(f"- {text}\n" for text in texts)
    return f"# Project memory\n\n## Notes\n- Fixtures live in testdata/.\n{bullets}".encode()


def _judged(texts: list[str], *, vouched: bool) -> tuple[Judged, ...]:
    document = parse(memory_with(texts))
    return judge(document, committed=committed_trust(document) if vouched else {}, ledger={})


def check_structure(text: str) -> None:
    """One frame, headings and bullets of the render alone, nothing that a backend would act on."""
    assert text.startswith(OPEN + "\n")
    assert text.endswith("\n" + CLOSE)
    assert text.lower().count("<project-memory") == 1
    assert text.count("</") == 1
    for bad in (
        "```",
        "~~~",
        "<!",
        "-->",
        "\r",
        "\t",
        "\x1b",
        "\x07",
        "\u2028",
        "\u202e",
        "\u200b",
        "\U000e0049",
        "\ufe0f",
    ):
        assert bad not in text
    body = text.split("\n")[3:-1]
    assert all(re.match(r"- \S|  \S|## \S|$", line) for line in body)
    assert not any(
        re.match(r"\s*(#{1,6} (?<!^## )|={2,}$|-{2,}$)", line) for line in body if not line.startswith("## ")
    )
    assert not re.search(r"(?<![0-9A-Za-z])@[^\s@]", text)


def test_the_corpus_is_large_and_of_every_kind() -> None:
    assert len(ATTACKS) >= 60
    kinds = {kind for kind, _ in ATTACKS}
    assert {"fence", "marker", "homoglyph", "hidden", "base64", "provenance", "indirect"} <= kinds


@pytest.mark.parametrize("vouched", [False, True], ids=["from an agent", "committed by a person"])
@pytest.mark.parametrize(("kind", "text"), ATTACKS)
def test_no_attack_changes_the_structure(kind: str, text: str, vouched: bool) -> None:
    check_structure(render(_judged([text], vouched=vouched), BUDGET).text)


def test_all_of_them_together_do_not_either() -> None:
    texts = [text for _, text in ATTACKS]
    for vouched in (False, True):
        check_structure(render(_judged(texts, vouched=vouched), BUDGET).text)


@pytest.mark.parametrize(("kind", "text"), ATTACKS)
def test_no_attack_counts_as_more_than_unverified(kind: str, text: str) -> None:
    for item in _judged([text], vouched=False):
        assert item.trust is Trust.UNVERIFIED


@pytest.mark.parametrize(("kind", "text"), [each for each in ATTACKS if each[0] in STEERING])
def test_what_steers_is_held_back(kind: str, text: str) -> None:
    assert held_reason(text) is not None


@pytest.mark.parametrize(
    "fact",
    [
        "Run the tests with `make check`.",
        "Tests need `docker compose up db` first; without it they hang.",
        "Never edit generated files under gen/.",
        "The auth service signs tokens with the key from Vault.",
        "Install the dependencies with `pip install -e .[dev]`.",
        "Do not commit samconfig.toml: it has account numbers.",
        "The agent module is in agents/; its tests mock the model.",
        "`git push` runs the pre-push hook, which takes a minute.",
        "Skip the slow tests with `-m 'not slow'`.",
        "Users log in with OpenID; see auth/oidc.py.",
    ],
)
def test_plain_facts_are_not_held_back(fact: str) -> None:
    assert held_reason(fact) is None
