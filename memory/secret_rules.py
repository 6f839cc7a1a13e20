"""The rules by which a line is taken for a secret; loaded only for text that looks suspicious (`memory.secrets`)."""

import itertools
import math
import re
from collections import Counter

_PROSE = re.compile(
    r"\b(?:pass(?:word|wort|wd|phrase)?|pwd?|kennwort|mot de passe|contrase(?:ñ|n)a|secret|"
    r"token|api[ _-]?key|access[ _-]?key|credentials?)\b"
    r"(?:\s+(?:for|of|to)\s+\S+)?\s*(?:\b(?:is|ist|lautet|est|es)\b|[:=])\s*[\"'`]?(?P<value>[^\s\"'`,;]{6,})",
    re.I,
)
_ASSIGNED = re.compile(
    r"\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD|CREDENTIALS?)\s*=\s*[\"']?(?P<value>[^\s\"']{4,})"
)
_LOGIN = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]*:(?P<value>[^\s/@]+)@", re.I)
_VENDOR = re.compile(
    r"\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|xox[abposr]-[\w-]{10,}|xapp-[\w-]{20,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{20,}"
    r"|pypi-[\w-]{20,}|do[opr]_v1_[a-f0-9]{40,}|AGE-SECRET-KEY-1[0-9A-Z]{40,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{20,}"
    r"|rubygems_[a-f0-9]{30,}|oy2[a-z0-9]{40,}|[sr]k_(?:test|live)_\w{16,}|whsec_\w{16,}|dckr_pat_[\w-]{20,}"
    r"|lin_api_\w{20,})"
)
# Digits and letters of a number are a commit or a digest, unless a name before them says otherwise.
_LABELLED = re.compile(
    r"\b(?:api|auth|access|secret|app|account)[ _-]?(?:key|token)s?\b\W{0,3}(?:is\b|are\b)?\W{0,3}"
    r"(?P<value>[0-9a-f]{32,64})\b",
    re.I,
)
_DSN = re.compile(r"\bhttps?://(?P<value>[0-9a-f]{32})(?::[0-9a-f]{32})?@", re.I)
# A password as an argument: curl -u user:…, sshpass -p …, mysql -p…, redis-cli -a …, and a line of a .netrc file.
_ARGUMENT = re.compile(
    r"\bcurl\b[^|;]*?\s(?:-u|--user)[ =]?[\"']?[^\s:\"'<$]+:(?P<curl>[^\s\"']{4,})|"
    r"\bsshpass\s+-p[ ]?(?P<ssh>[^\s\"']{4,})|"
    r"\bmysql\w*\b[^|;]*?\s-p(?P<mysql>[^\s\"'-][^\s\"']{3,})|"
    r"\bredis-cli\b[^|;]*?\s(?:-a|--pass)\s+(?P<redis>[^\s\"']{4,})|"
    r"\blogin\s+\S+\s+password\s+(?P<netrc>\S{4,})"
)
_DIGEST = re.compile(r"\Asha(?:1|224|256|384|512)-")
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
    if any(
        _is_value(next(value for value in found.groups() if value), prose=False) for found in _ARGUMENT.finditer(line)
    ):
        return "a password in a command"
    for pattern, kind in (
        (_DSN, "a key in a URL"),
        (_LABELLED, "an access key"),
        (_LOGIN, "a login in a URL"),
        (_ASSIGNED, "a secret's value"),
        (_PROSE, "a password or key"),
    ):
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
    if value.endswith((".md", ".yml", ".json", ".py")):
        return False
    return bool(re.search(r"[0-9!#%^&*?~]", value)) or _is_jumbled(value)


def _is_jumbled(value: str) -> bool:
    """Letters whose case changes as in no name: the humps of `UserStore` are words, those of a password are not."""
    humps = re.findall(r"[A-Z]*[a-z]+|[A-Z]+", value)
    return value.isalpha() and len(value) >= 8 and len(humps) > 2 and len(value) / len(humps) < 3.2


def _is_random(run: str) -> bool:
    if _HEX.match(run) or _DIGEST.match(run):
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
PATTERNS = ("_PROSE", "_ASSIGNED", "_LOGIN", "_VENDOR", "_LABELLED", "_DSN", "_ARGUMENT", "_RUN")
