"""The text of the files that git reads for an agent: configuration, ignore rules and attributes, every name quoted."""

import os
import re
from pathlib import Path

_HEADING = b"# Written by orch: each section holds in the worktree of one agent, and goes with it.\n"


def render_attributes(user: bytes, seam_file: str) -> bytes:
    """The attributes of an agent's worktree: other text files lose copies of the block, then the user's, then ours.

    The later line wins: a filter that the user set for all Markdown stays, except for the seam file.
    """
    names = ("*.md", "*.mdc", seam_file)
    copies = [_attribute_pattern(name) + b" filter=orch-memory-copies\n" for name in dict.fromkeys(names)]
    return b"".join(copies) + user + _attribute_pattern(f"/{seam_file}") + b" filter=orch-memory\n"


def render_agent_config(folder: Path, script: Path, python: str) -> bytes:
    """The git configuration of one agent. A filter that cannot run fails `git add`: better than a block in a commit."""
    clean, copies, smudge = (
        _quoted(_filter_command(python, script, mode, folder / "block")) for mode in ("clean", "serve-copies", "smudge")
    )
    return b"".join(
        (
            b"[core]\n\texcludesFile = ",
            _quoted(os.fsencode(folder / "excludes")),
            b"\n\tattributesFile = ",
            _quoted(os.fsencode(folder / "attributes")),
            b'\n[filter "orch-memory"]\n\tclean = ',
            clean,
            b"\n\tsmudge = ",
            smudge,
            b'\n\trequired = true\n[filter "orch-memory-copies"]\n\tprocess = ',
            copies,
            b"\n",
        )
    )


def render_sections(sections: dict[str, bytes]) -> bytes:
    """The shared file: a section for each agent id and the pattern of its worktree's git directory."""
    return _HEADING + b"".join(
        b'[includeIf "gitdir:%s"]\n\tpath = agents/%s/gitconfig\n' % (_subsection(pattern), os.fsencode(agent))
        for agent, pattern in sorted(sections.items())
    )


def render_include(path: Path) -> bytes:
    """An entry that includes one file."""
    return b"[include]\n\tpath = %s\n" % _quoted(os.fsencode(path))


def render_plain_config(folder: Path) -> bytes:
    """The git configuration of an agent without a block: its ignore rules alone."""
    return b"[core]\n\texcludesFile = %s\n" % _quoted(os.fsencode(folder / "excludes"))


def exclude_line(name: str) -> bytes:
    """The ignore rule for one path below the top."""
    data = glob_quoted(os.fsencode(name))
    return b"/" + re.sub(rb" $", rb"\\ ", data) + b"\n"


def glob_quoted(name: bytes) -> bytes:
    """A name as a pattern that matches it alone."""
    return re.sub(rb"([\\*?\[])", rb"\\\1", name)


def _filter_command(python: str, script: Path, mode: str, block: Path) -> bytes:
    """The shell command of a filter: the Python that orch runs on, else any; git reads `%` as a placeholder."""
    interpreter = _shell_quoted(os.fsencode(python))
    rest = b" -I -S %s %s %s" % (_shell_quoted(os.fsencode(script)), mode.encode(), _shell_quoted(os.fsencode(block)))
    command = b"if [ -x %s ]; then exec %s%s; else exec python3%s; fi" % (interpreter, interpreter, rest, rest)
    return command.replace(b"%", b"%%")


def _attribute_pattern(name: str) -> bytes:
    data = os.fsencode(name) if name.startswith("*.") else glob_quoted(os.fsencode(name))
    # At the start of a line they would make a comment, or a pattern that git refuses.
    data = re.sub(rb"^[#!]", rb"\\\g<0>", data)
    # A pattern with a space in it has to stand in quotes, as a C string.
    return _quoted(data) if re.search(rb"[\s\"\\]", data) else data


def _shell_quoted(data: bytes) -> bytes:
    return b"'" + data.replace(b"'", b"'\\''") + b"'"


def _quoted(value: bytes) -> bytes:
    """A value as git's configuration writes it."""
    for plain, escaped in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n"), (b"\t", b"\\t")):
        value = value.replace(plain, escaped)
    return b'"' + value + b'"'


def _subsection(name: bytes) -> bytes:
    return name.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
