"""The memory of the throwaway repository that a verification runs in: long, and full of what seams like to mangle."""

from collections.abc import Mapping

# The whole of it has to be rendered: what arrives of a long text is what a cap would show.
BUDGET: Mapping[str, int] = {"bytes": 20_000, "tokens": 8_000}

_HARD = (
    "Quotes stay as they are: \"double\", 'single', `code`, back\\slash, $(not run), ${NOT_SET}, %d, 100 %.",
    "Markup stays as it is: <b>bold</b>, </instructions>, &amp;, [link](https://example.invalid/?a=1&b=2), | a | b |.",
    "Letters of all kinds stay as they are: Äpfel, naïve, 数据库 is the database, テスト, Ελληνικά, 🙂, →, ≤.",
    "A tab\tstays a tab, and two  spaces stay two.",
)
_SUBJECTS = ("parser", "scheduler", "storage", "gateway", "importer", "billing", "search", "mailer", "archive", "login")
_FACTS = (
    "reads its settings from conf/{name}-{number}.toml and nothing else; a change there needs a restart.",
    "keeps its fixtures in testdata/{name}/{number}, written by `make fixtures-{name}` and never by hand.",
    "is tested by `make test-{name} N={number}`, which needs a free port and about {number} seconds.",
)


def _memory() -> str:
    lines = ["# Project memory", "", "## Where things live", ""]
    lines += [f"- {text}" for text in _HARD]
    for number in range(1, 160):
        name = _SUBJECTS[number % len(_SUBJECTS)]
        fact = _FACTS[number % len(_FACTS)].format(name=name, number=number)
        lines.append(f"- The {name} (part {number}) {fact}")
    lines += ["", "## Do not repeat", "", "- Never edit the files below gen/ by hand: the next build removes it.", ""]
    return "\n".join(lines)


FILES: Mapping[str, bytes] = {
    ".orch/memory.md": _memory().encode(),
    "README.md": b"# A repository\n\nIt is made to look into, and is thrown away afterwards.\n",
    "NOTES.txt": b"A line that only this file has.\n",
    "src/main.py": b'print("hello")\n',
}
