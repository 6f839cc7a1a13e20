"""Text that arrives byte-exact through every seam: what some backend mangles, expands or hides is taken out.

The rules come from measurements of the backends: CRLF becomes LF, whitespace at the ends is cut, `@word` is expanded as
an import, block comments of HTML are dropped, a code fence changes the frame around the text, tag characters vanish.
"""

import re
import unicodedata

# Invisible characters outside the category Cf: fillers, joiners, variation selectors, the blank braille cell.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_FENCE_RUN = re.compile(r"`{3,}|~{3,}")
# `</…`, `<!…` and `<?…`; and the names of frames that a harness or we ourselves put around text.
_TAG = re.compile(
    r"<(?=[/!?]|(?:project-memory|instructions|system|user|assistant|human|tool|function|rules?|context)\b)", re.I
)
_COMMENT_END = re.compile(r"-->")
_IMPORT = re.compile(r"(?<![0-9A-Za-z])@(?=[^\s@])")
_HEADING = re.compile(r"^(\s*)(#{1,6})(?=\s|$)")
# Nothing in it that any rule below answers to; most entries are such, and a memory may have thousands.
_PLAIN = re.compile(r"(?!\s*[#=*_-])(?:[^`~<@>\x00-\x1f\x7f-\U0010ffff]|`(?!``)|~(?!~~))*\Z")
_MOST_PASSES = 8
_UNDERLINE = re.compile(r"^(\s*)(=+|-{2,}|\*{3,}|_{3,})\s*$")


def portable_line(text: str) -> str:
    """One line of memory text as every backend will show it; may be empty.

    Idempotent. The result holds no control, bidirectional, zero-width or tag character, no code fence, no comment, no
    closing tag, no import, no heading.
    """
    if _PLAIN.match(text):
        return text.rstrip(" ")
    line = _pass(text)
    # One rule can make work for another (what a removed character stood between); each pass leaves less to do.
    for _ in range(_MOST_PASSES):
        text, line = line, _pass(line)
        if line == text:
            return line
    return ""


def _pass(text: str) -> str:
    line = "".join(_visible(char) for char in text)
    line = re.sub(r" {2,}$", "", line).rstrip()
    line = _FENCE_RUN.sub(lambda run: run[0][:2], line)
    line = _TAG.sub("< ", line)
    line = _COMMENT_END.sub("-- >", line)
    line = _IMPORT.sub("@ ", line)
    line = _HEADING.sub(r"\1\\\2", line)
    return _UNDERLINE.sub(r"\1\\\2", line)


def _visible(char: str) -> str:
    if " " <= char <= "~":
        return char
    if char in _INVISIBLE or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef":
        return ""
    category = unicodedata.category(char)
    if category in ("Zs", "Zl", "Zp") or char in "\t\n\r\v\f\x85":
        return " "
    return "" if category[0] == "C" else char
