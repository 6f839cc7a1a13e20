"""The rules by which a line is taken for a secret; loaded only for text that looks suspicious (`memory.secrets`)."""

import itertools
import math
import re
from collections import Counter

_PROSE = re.compile(
    r"\b(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[ _-]?key|access[ _-]?key|credentials?)\b"
    r"(?:\s+(?:for|of|to)\s+\S+)?\s*(?:\bis\b|[:=])\s*[\"'`]?(?P<value>[^\s\"'`,;]{6,})",
    re.I,
)
_ASSIGNED = re.compile(
    r"\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD|CREDENTIALS?)\s*=\s*[\"']?(?P<value>[^\s\"']{4,})"
)
_LOGIN = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]*:(?P<value>[^\s/@]+)@", re.I)
_VENDOR = re.compile(
    r"\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|xox[abposr]-[\w-]{10,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{20,}|pypi-[\w-]{20,})"
)
_RUN = re.compile(r"[A-Za-z0-9+_=-]{20,}")
_PLACEHOLDER = re.compile(
    r"[<${]|\.\.\.|…|x{4,}|\*{3,}|(?:your|example|changeme|placeholder|dummy|redacted|none|null)", re.I
)
_HEX = re.compile(r"[0-9a-fA-F-]+\Z")
_LEAST_ENTROPY = 3.6  # bits per character; identifiers and paths in prose stay below it


def kind_of_secret(line: str) -> str | None:
    """What kind of secret a line holds, None when it holds none; the kind repeats nothing of it."""
    return _own_rules(line) or _library(line)


def _own_rules(line: str) -> str | None:
    if _VENDOR.search(line):
        return "an access token"
    for pattern, kind in ((_LOGIN, "a login in a URL"), (_ASSIGNED, "a secret's value"), (_PROSE, "a password or key")):
        for found in pattern.finditer(line):
            if _is_value(found["value"], prose=pattern is _PROSE):
                return kind
    if any(_is_random(run) for run in _RUN.findall(line)):
        return "a random-looking string"
    return None


def _is_value(value: str, *, prose: bool) -> bool:
    """A value, not a placeholder or a reference; in prose it needs more than letters to be taken for one."""
    if _PLACEHOLDER.search(value):
        return False
    if not prose:
        return True
    return bool(re.search(r"[0-9!#%^&*?~]", value)) and not value.endswith((".md", ".yml", ".json", ".py"))


def _is_random(run: str) -> bool:
    if _HEX.match(run):
        return False  # commit ids, UUIDs and digests are facts of a repository
    kinds = sum(bool(re.search(pattern, run)) for pattern in ("[a-z]", "[A-Z]", "[0-9]"))
    counts = Counter(run)
    entropy = -sum(n / len(run) * math.log2(n / len(run)) for n in counts.values())
    switches = sum(a.isdigit() != b.isdigit() for a, b in itertools.pairwise(run))
    return kinds == 3 and entropy >= _LEAST_ENTROPY and switches >= 4


def _library(line: str) -> str | None:
    """Ask the detectors of detect-secrets, those of entropy left out: they flag every word when asked for one line."""
    from detect_secrets.core.scan import scan_line
    from detect_secrets.settings import transient_settings

    with transient_settings({"plugins_used": [{"name": name} for name in DETECTORS]}):
        for found in scan_line(line):
            if not _PLACEHOLDER.search(found.secret_value or ""):
                return f"{found.type.lower()}"
    return None


DETECTORS = (
    "ArtifactoryDetector",
    "AWSKeyDetector",
    "AzureStorageKeyDetector",
    "BasicAuthDetector",
    "CloudantDetector",
    "DiscordBotTokenDetector",
    "GitHubTokenDetector",
    "GitLabTokenDetector",
    "IbmCloudIamDetector",
    "JwtTokenDetector",
    "KeywordDetector",
    "MailchimpDetector",
    "NpmDetector",
    "OpenAIDetector",
    "PrivateKeyDetector",
    "PypiTokenDetector",
    "SendGridDetector",
    "SlackDetector",
    "SquareOAuthDetector",
    "StripeDetector",
    "TelegramBotTokenDetector",
    "TwilioKeyDetector",
)

# Our own patterns, by name: a test generates what each of them matches.
PATTERNS = ("_PROSE", "_ASSIGNED", "_LOGIN", "_VENDOR", "_RUN")
