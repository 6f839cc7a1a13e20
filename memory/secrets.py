"""Secrets: found before they are written anywhere of ours, refused, and never repeated."""

import re

# Everything that a rule could answer to has one of these: a long run, a telling word, a URL with a login, a key block,
# the beginning of a token that may be short, or of one whose characters break the run. Text without any of them is
# passed without loading the scanner, which takes longer than the whole command.
_SUSPICIOUS = re.compile(
    r"[^\s/\\.,;:()]{16,}|pass|pwd|secret|token|key|auth|cred|contrase|bearer|private|://[^\s/]*@|BEGIN|AKIA|hook"
    r"|\bpw\b|kennwort|curl|mysql|redis-cli|aws.{0,40}pw|xox[a-z]-|sq0csp-|(?-i:eyJ|AKC\w{10}|AP[\dABCDEF]\w{8})",
    re.I,
)


def is_suspicious(text: str) -> bool:
    """The quick look: False only where no line of the text can be flagged by a rule."""
    return _SUSPICIOUS.search(text) is not None


def find_secret(text: str) -> tuple[int, str] | None:
    """The first secret in `text`: its line (from 1) and what kind it is; None when there is none.

    The kind never repeats any of the secret.
    """
    if not is_suspicious(text):
        return None
    from memory.secret_rules import kind_of_secret

    for number, line in enumerate(text.split("\n"), 1):
        kind = kind_of_secret(line)
        if kind is not None:
            return number, kind
    return None
