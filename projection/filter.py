"""The git filter that keeps orch's block out of every object: one standalone file.

Git runs it as `python -I -S filter.py MODE BLOCK-FILE`, the content on standard input and output. It is copied out of
the package when the first agent starts, so it imports nothing of ours and outlives an uninstalled orch.

`clean` (into git) takes the block out, `smudge` (into the working file) puts it on top. Agents edit the file as they
like, so `clean` also knows a block whose line endings were converted, that was moved, or that lost a marker; a line
that is not ours stays.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

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


class Pipe:
    """Git's packet lines over a pair of streams: four hexadecimal digits of length, then the data; 0000 ends a list."""

    def __init__(self, source: "BinaryIO", sink: "BinaryIO") -> None:
        self._source, self._sink = source, sink

    def receive(self) -> list[bytes] | None:
        """The packets up to the next flush; None at the end of the stream."""
        packets: list[bytes] = []
        while True:
            size = self._source.read(4)
            if len(size) < 4:
                return None
            if size == b"0000":
                return packets
            packets.append(self._source.read(int(size, 16) - 4))

    def send(self, *packets: bytes) -> None:
        """Send packets and a flush."""
        for packet in packets:
            self._sink.write(b"%04x" % (len(packet) + 4) + packet)
        self._sink.write(b"0000")

    def send_content(self, content: bytes) -> None:
        """Send a file's content in packets of the size that git allows, and a flush."""
        self.send(*(content[at : at + 65516] for at in range(0, len(content), 65516)))

    def flush(self) -> None:
        """Let git have what was sent."""
        self._sink.flush()


def serve_copies(pipe: Pipe, block: bytes | None) -> int:
    """Answer git's long-running filter protocol, version 2: one process cleans all files of a git command.

    Git without nanosecond time stamps looks again at every file of the second of the checkout: a process for each
    would take a minute in a repository with many documents.
    """
    if pipe.receive() != [b"git-filter-client\n", b"version=2\n"]:
        return 1
    pipe.send(b"git-filter-server\n", b"version=2\n")
    pipe.flush()
    pipe.receive()
    pipe.send(b"capability=clean\n")
    pipe.flush()
    while (header := pipe.receive()) is not None and (packets := pipe.receive()) is not None:
        if header[:1] == [b"command=clean\n"]:
            pipe.send(b"status=success\n")
            pipe.send_content(clean_copies(b"".join(packets), block))
            pipe.send()
        else:
            pipe.send(b"status=error\n")
        pipe.flush()
    return 0


def main(argv: list[str]) -> int:
    """Filter standard input to standard output; return the exit code."""
    if len(argv) != 3 or argv[1] not in ("clean", "smudge", "serve-copies"):
        sys.stderr.write("usage: filter.py {clean|smudge|serve-copies} BLOCK-FILE\n")
        return 2
    if argv[1] == "serve-copies":
        return serve_copies(Pipe(sys.stdin.buffer, sys.stdout.buffer), _load_block(argv[2]))
    content = sys.stdin.buffer.read()
    block = _load_block(argv[2])
    if argv[1] == "clean":
        content = clean(content, block)
    elif not archives(_caller()):
        content = smudge(content, block)
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
