"""The git filter that keeps orch's block out of every object: one standalone file.

Git runs it as `python -I -S filter.py MODE BLOCK-FILE`, the content on standard input and output. It is copied out of
the package when the first agent starts, so it imports nothing of ours and outlives an uninstalled orch.

`clean` (into git) takes the block out, `smudge` (into the working file) puts it on top. Agents edit the file as they
like, so `clean` also knows a block whose line endings were converted, that was moved, or that lost a marker; a line
that is not ours stays.
"""

import sys

BEGIN = b"<!-- orch:memory begin -->"
END = b"<!-- orch:memory end -->"
BOM = b"\xef\xbb\xbf"


def bare(line: bytes) -> bytes:
    """A line without what editors change at its end."""
    return line.rstrip(b"\r\n\t ")


def clean(content: bytes, block: bytes | None = None) -> bytes:
    """Return the content without any block.

    A complete block goes as a whole, edits in it included. With one marker lost, the other goes together with the
    neighbouring lines that stand in `block` (the current one; None: unknown, then only the marker goes).
    The result holds no marker line, so a second `clean` changes nothing.
    """
    if BEGIN not in content and END not in content:
        return content
    bom, body = split_bom(content)
    lines = body.splitlines(keepends=True)
    ours = text_lines(block)
    kept: list[bytes] = []
    at = 0
    while at < len(lines):
        line = bare(lines[at])
        if line == BEGIN:
            end = _end_of(lines, at + 1)
            at = at + 1 + _run(lines[at + 1 :], ours) if end is None else end + 1
        elif line == END:
            run = _run(kept[::-1], ours[::-1])
            del kept[len(kept) - run :]
            at += 1
        else:
            kept.append(lines[at])
            at += 1
    return bom + b"".join(kept)


def clean_copies(content: bytes, block: bytes | None) -> bytes:
    """Return the content without exact copies of the block; what only resembles it stays.

    For the other text files of a worktree: an agent moves or copies the file that carries the block, while a
    repository's own documents may well show what a block looks like.
    """
    if block is None or BEGIN not in content:
        return content
    bom, body = split_bom(content)
    lines = body.splitlines(keepends=True)
    whole = [bare(line) for line in block.splitlines()]
    kept: list[bytes] = []
    at = 0
    while at < len(lines):
        if bare(lines[at]) == BEGIN and [bare(line) for line in lines[at : at + len(whole)]] == whole:
            at += len(whole)
        else:
            kept.append(lines[at])
            at += 1
    return bom + b"".join(kept)


def smudge(content: bytes, block: bytes | None) -> bytes:
    """Return the content with the block on top, after a byte order mark; without a block, the content as it is."""
    if not block or not is_text(content):
        return content
    bom, body = split_bom(clean(content, block))
    return bom + block + body


def split_bom(content: bytes) -> tuple[bytes, bytes]:
    """Split off a UTF-8 byte order mark."""
    return (BOM, content[len(BOM) :]) if content.startswith(BOM) else (b"", content)


def is_text(content: bytes) -> bool:
    """Whether a UTF-8 block can stand in front of the content: not UTF-16, and no NUL (git's own rule)."""
    return not content.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\0" not in content[:8000]


def text_lines(block: bytes | None) -> list[bytes]:
    """The lines between the markers of a block, without their ends."""
    return [] if block is None else [bare(line) for line in block.splitlines()][1:-1]


def _end_of(lines: list[bytes], start: int) -> int | None:
    """The place of the end marker that closes a block; None when the file or another block begins first."""
    for at in range(start, len(lines)):
        line = bare(lines[at])
        if line == END:
            return at
        if line == BEGIN:
            return None
    return None


def _run(lines: list[bytes], ours: list[bytes]) -> int:
    """How many of the first lines stand in `ours`, in that order.

    Blank lines at the end of a run that does not reach the end of ours may be the person's: they do not count.
    """
    place = count = sure = 0
    for line in lines:
        try:
            place = ours.index(bare(line), place) + 1
        except ValueError:
            break
        count += 1
        if bare(line):
            sure = count
    return count if place == len(ours) else sure


def _load_block(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:  # noqa: PTH123 (pathlib would triple the start-up time)
            return stream.read()
    except OSError:
        return None


def archives(words: list[bytes]) -> bool:
    """Whether a git command line is `git archive`, which wants what the commit holds, not the working file."""
    with_value = (b"-C", b"-c", b"--git-dir", b"--work-tree", b"--namespace", b"--exec-path", b"--config-env")
    at = 1
    while at < len(words) and words[at].startswith(b"-"):
        at += 2 if words[at] in with_value else 1
    return at < len(words) and words[at] == b"archive"


def _caller() -> list[bytes]:
    """The command line of the git that runs us (the shell between us has been replaced); empty without /proc."""
    try:
        with open("/proc/self/stat", "rb") as stream:  # noqa: PTH123
            # `PID (NAME) STATE PARENT …`, and the name may hold anything.
            parent = stream.read().rpartition(b")")[2].split()[1].decode()
        with open(f"/proc/{parent}/cmdline", "rb") as stream:  # noqa: PTH123
            return stream.read().split(b"\0")
    except (OSError, IndexError):
        return []


def main(argv: list[str]) -> int:
    """Filter standard input to standard output; return the exit code."""
    if len(argv) != 3 or argv[1] not in ("clean", "clean-copies", "smudge"):
        sys.stderr.write("usage: filter.py {clean|clean-copies|smudge} BLOCK-FILE\n")
        return 2
    content = sys.stdin.buffer.read()
    block = _load_block(argv[2])
    if argv[1] == "clean":
        result = clean(content, block)
    elif argv[1] == "smudge":
        result = content if archives(_caller()) else smudge(content, block)
    else:
        result = clean_copies(content, block)
    sys.stdout.buffer.write(result)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
