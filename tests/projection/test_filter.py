import io
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projection import filter as block_filter
from projection.block import has_markers, render_block
from projection.filter import BEGIN, BOM, END, Pipe, archives, clean, clean_copies, smudge
from tests.projection.test_block import contents

TEXT = "# Notes\n\n- one\n- two\n\nThe end."
BLOCK = render_block(TEXT)
LINES = BLOCK.splitlines(keepends=True)


@given(contents)
def test_clean_undoes_smudge_for_every_content_without_a_marker(content: bytes) -> None:
    if has_markers(content):
        return
    smudged = smudge(content, BLOCK)
    assert clean(smudged, BLOCK) == content
    assert clean(content, BLOCK) == content
    assert smudge(smudged, BLOCK) == smudged


@given(contents, st.sampled_from([None, BLOCK]))
def test_clean_leaves_no_marker_and_is_idempotent_on_anything(content: bytes, block: bytes | None) -> None:
    once = clean(content, block)
    assert not has_markers(once)
    assert clean(once, block) == once


@given(contents)
def test_smudge_is_idempotent_on_anything_and_agrees_with_clean(content: bytes) -> None:
    once = smudge(content, BLOCK)
    assert smudge(once, BLOCK) == once
    assert clean(once, BLOCK) == clean(content, BLOCK)


@given(contents, st.integers(0, 40), st.sampled_from([b"\n", b"\r\n"]))
def test_the_persons_lines_survive_wherever_the_block_stands(content: bytes, place: int, ending: bytes) -> None:
    if has_markers(content):
        return
    lines = content.removeprefix(BOM).splitlines(keepends=True)
    bom = BOM if content.startswith(BOM) else b""
    place = min(place, len(lines))
    if place and not lines[place - 1].endswith(b"\n"):
        return
    block = BLOCK.replace(b"\n", ending)
    mixed = bom + b"".join([*lines[:place], block, *lines[place:]])
    assert clean(mixed, BLOCK) == content


PERSON = b"# Mine\n\n- one\n\nlast"


@pytest.mark.parametrize(
    ("what", "content", "left"),
    [
        ("an edit inside", BLOCK.replace(b"- two", b"- two, or three\nand more") + PERSON, PERSON),
        ("converted line endings", (BLOCK + PERSON).replace(b"\n", b"\r\n"), PERSON.replace(b"\n", b"\r\n")),
        ("spaces at line ends", BLOCK.replace(b"\n", b"  \n") + PERSON, PERSON),
        ("the end marker lost", b"".join(LINES[:-1]) + PERSON, PERSON),
        # The blank line may be the person's.
        ("the end marker and lines lost", b"".join(LINES[:3]) + PERSON, b"\n" + PERSON),
        ("the begin marker lost", b"".join(LINES[1:]) + PERSON, PERSON),
        ("the begin marker and lines lost", b"".join(LINES[4:]) + PERSON, PERSON),
        ("the begin marker lost, moved down", PERSON + b"\n" + b"".join(LINES[1:]) + b"x", PERSON + b"\nx"),
        ("the end marker lost, line endings converted", b"".join(LINES[:-1]).replace(b"\n", b"\r\n") + PERSON, PERSON),
        ("doubled", BLOCK + PERSON + b"\n" + BLOCK, PERSON + b"\n"),
        ("doubled, one without an end", b"".join(LINES[:-1]) + PERSON + b"\n" + BLOCK, PERSON + b"\n"),
        ("only a begin marker", BEGIN + b"\n" + PERSON, PERSON),
        ("only an end marker", PERSON + b"\n" + END, PERSON + b"\n"),
        ("no final newline", BLOCK.removesuffix(b"\n"), b""),
        ("below a byte order mark", BOM + BLOCK + PERSON, BOM + PERSON),
        ("nothing", PERSON, PERSON),
        ("indented, as in a document about it", b"    " + BEGIN + b"\n", b"    " + BEGIN + b"\n"),
    ],
)
def test_clean_takes_the_block_whatever_an_agent_did_to_it(what: str, content: bytes, left: bytes) -> None:
    assert clean(content, BLOCK) == left, what


def test_without_the_block_file_only_the_markers_are_known() -> None:
    assert clean(b"".join(LINES[:-1]) + PERSON, None) == b"".join(LINES[1:-1]) + PERSON
    assert clean(BLOCK + PERSON, None) == PERSON
    assert smudge(PERSON, None) == PERSON


def test_smudge_leaves_what_is_no_utf_8_text() -> None:
    for content in ("höher".encode("utf-16"), b"\0\1\2", "höher".encode("utf-16-be")):
        assert smudge(content, BLOCK) == content


def test_copies_are_taken_out_only_when_they_are_exact() -> None:
    assert clean_copies(b"a\n" + BLOCK + b"b\n", BLOCK) == b"a\nb\n"
    assert clean_copies(b"a\n" + BLOCK.replace(b"\n", b"\r\n") + b"b\n", BLOCK) == b"a\nb\n"
    shown = b"```\n" + BEGIN + b"\n...\n" + END + b"\n```\n"
    assert clean_copies(shown, BLOCK) == shown
    assert clean_copies(BLOCK, None) == BLOCK


@pytest.mark.parametrize(
    ("words", "is_archive"),
    [
        ("git archive HEAD", True),
        ("/usr/bin/git -C /x -c a=b --no-pager archive", True),
        ("git checkout archive", False),
        ("git -C archive status", False),
        ("git --git-dir archive", False),
        ("git", False),
        ("", False),
    ],
)
def test_an_archive_is_known_by_its_command_line(words: str, is_archive: bool) -> None:
    assert archives(words.encode().split(b" ")) == is_archive


def _run(mode: str, block: Path, content: bytes) -> bytes:
    argv = [sys.executable, "-I", "-S", block_filter.__file__, mode, str(block)]
    return subprocess.run(argv, input=content, stdout=subprocess.PIPE, check=True).stdout


def test_as_a_program_it_filters_standard_input(tmp_path: Path) -> None:
    block = tmp_path / "the block"
    assert _run("smudge", block, PERSON) == PERSON
    block.write_bytes(BLOCK)
    big = bytes(range(256)) * 4096
    assert _run("clean", block, b"\n" + big) == b"\n" + big
    assert _run("smudge", block, PERSON) == BLOCK + PERSON
    assert _run("clean", block, b"".join(LINES[:-1]) + PERSON) == PERSON


def test_as_a_server_it_ends_with_git_and_refuses_what_is_no_git(tmp_path: Path) -> None:
    block = tmp_path / "block"
    block.write_bytes(BLOCK)
    argv = [sys.executable, "-I", "-S", block_filter.__file__, "serve-copies", str(block)]
    assert subprocess.run(argv, input=b"hello world", capture_output=True, check=False).returncode == 1
    said = io.BytesIO()
    git = Pipe(io.BytesIO(), said)
    git.send(b"git-filter-client\n", b"version=2\n")
    git.send(b"capability=clean\n", b"capability=smudge\n")
    big = BLOCK + b"x" * 200_000
    for command in (b"clean", b"smudge"):
        git.send(b"command=" + command + b"\n", b"pathname=a.md\n")
        git.send_content(big)
    done = subprocess.run(argv, input=said.getvalue(), capture_output=True, check=True)
    answer = Pipe(io.BytesIO(done.stdout), io.BytesIO())
    assert answer.receive() == [b"git-filter-server\n", b"version=2\n"]
    assert answer.receive() == [b"capability=clean\n"]
    assert answer.receive() == [b"status=success\n"]
    assert b"".join(answer.receive() or []) == b"x" * 200_000
    assert answer.receive() == []
    assert answer.receive() == [b"status=error\n"]
    assert answer.receive() is None


def test_as_a_program_it_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    argv = [sys.executable, "-I", "-S", block_filter.__file__]
    for words in ([], ["clean"], ["shine", "block"]):
        done = subprocess.run([*argv, *words], input=b"", capture_output=True, check=False)
        assert done.returncode == 2
        assert b"usage" in done.stderr


def test_it_imports_nothing_but_sys() -> None:
    code = f"import sys; sys.argv = ['f']; text = open({block_filter.__file__!r}).read(); known = set(sys.modules)\n"
    code += "try: exec(compile(text, 'filter.py', 'exec'), {'__name__': '__main__'})\nexcept SystemExit: pass\n"
    code += "print(sorted(set(sys.modules) - known))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
