"""Text that steers an agent instead of describing the repository: held back until a person has looked at it.

This is the second line only. Filters like this one are known to miss attacks; the defence is who may write and what
counts as trusted (`memory.trust`). So the rules aim at the plain kinds, and a false alarm costs a look by a person.
"""

import base64
import binascii
import re
import unicodedata
from functools import cache

from memory.hidden import has_hidden

_CONFUSABLE = str.maketrans(
    "аеорсухіјѕԁһӏѵԝοαερικνυχτΑΒΕΖΗΙΚΜΝΟΡΤΥΧІЅЈАВЕКМНОРСТХУ",
    "aeopcyxijsdhlvwoaepiknuxtABEZHIKMNOPTYXISJABEKMHOPCTXY",
)
_RULES: tuple[tuple[str, str], ...] = (
    (
        r"\b(?:ignore|disregard|forget|override|bypass|drop|skip)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|other|your|the)\b"
        r".{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|orders?|directions?|context|constraints?|policies|policy)\b",
        "it overrides instructions",
    ),
    (r"\b(?:ignore|forget|disregard)\s+(?:everything|anything|whatever)\b", "it overrides instructions"),
    (
        r"\b(?:new|real|actual|updated|hidden|secret)\s+(?:system\s+)?(?:instructions?|prompt|orders?)\b",
        "it poses as instructions",
    ),
    (
        r"\b(?:system|developer)\s*(?:prompt|message|override|mode|notice)\b|^\s*(?:system|assistant|user|developer)\s*:",
        "it poses as another role",
    ),
    (
        r"\b(?:you are|you're|act as|pretend to be|you must now|from now on,? you)\b.{0,60}\b(?:assistant|agent|ai|model|admin|root|mode|unrestricted|jailbroken|allowed)\b",
        "it addresses the agent",
    ),
    (
        r"\b(?:dear|hey|hello|attention|note (?:to|for)|message (?:to|for))[\s,:]+(?:the |all |any |every )?"
        r"(?:ai|llm|coding|language)?\s*(?:assistants?|agents?|models?|llms?|ai|claude|codex|gemini|gpt)\b"
        r"|\b(?:ai|coding|llm|language)[ -]?(?:assistants?|agents?|models?)\b[\s,:]{0,3}(?:reading|must|should|shall|need|have to|please|will)\b"
        r"|\b(?:assistants?|agents?|llms?|claude|codex|gemini|gpt)\b[\s,:]{0,3}(?:reading this|must|should|shall|need to|have to|please)\b",
        "it addresses the agent",
    ),
    (
        r"\b(?:do not|don't|never|without|avoid)\b.{0,30}\b(?:tell|telling|mention|mentioning|inform|informing|report|reporting|reveal|show|alert|ask|asking|disclos\w+)\b"
        r".{0,40}\b(?:user|person|human|developer|anyone|reviewer|maintainer|team|them)\b",
        "it asks to hide something from people",
    ),
    (
        r"\b(?:silently|secretly|covertly|quietly|without (?:review|approval|confirmation|asking))\b",
        "it asks to act unseen",
    ),
    (
        r"\b(?:curl|wget|fetch|iwr|invoke-webrequest)\b[^\n]*(?:\||;|&&|\$\(|`)\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b"
        r"|\b(?:ba|z|da)?sh\s+(?:-c\s+)?[\"']?(?:<\(|\$\()\s*(?:curl|wget)|\b(?:python3?|node|perl|ruby)\s+(?:-c\s+)?[\"']?\$?[<(]?\(?\s*(?:curl|wget)"
        r"|\b(?:curl|wget)\b[^\n]*\|\s*(?:python3?|node|perl|ruby|php)\b",
        "it fetches and runs something from elsewhere",
    ),
    (
        r"\b(?:run|execute|install|download|fetch|load|source|eval|pipe|apply|follow|open|visit|read)\b[^\n]{0,60}\b(?:https?|ftp|git\+\w+|ssh)://",
        "it fetches something from elsewhere",
    ),
    (
        r"\b(?:pip|npm|npx|uvx?|cargo|gem|go|brew|yarn|pnpm)\b[^\n]{0,40}(?:--(?:extra-)?index-url|--registry|-i\s+https?:)",
        "it installs from elsewhere",
    ),
    (
        r"\b(?:send|post|upload|exfiltrat\w*|transmit|forward|leak|email|mail|push|report|copy|paste|print|echo|cat|dump|include|append|write|log|commit)\b[^\n]{0,60}"
        r"(?:\b(?:credentials?|secrets?|tokens?|passwords?|api[ _-]?keys?|private keys?|ssh keys?|environment variables)\b|\.env\b|\.ssh\b|id_rsa|\.aws\b|\.netrc|/etc/(?:passwd|shadow))",
        "it touches credentials",
    ),
    (
        r"(?:~|\$HOME|/root|/home/\w+)?/?\.(?:ssh|aws|gnupg|kube|docker)/|\bid_(?:rsa|ed25519)\b|/etc/(?:shadow|sudoers)|\.netrc\b|\.git-credentials\b",
        "it touches credentials",
    ),
    (
        r"\b(?:nc|ncat|netcat|socat)\b\s+-?\w*\s*\S+\s+\d{2,5}|/dev/tcp/|\bwebhook\b[^\n]{0,40}https?://",
        "it sends something elsewhere",
    ),
    (
        r"--no-verify\b|--dangerously\S*|--insecure\b|--no-gpg-sign\b|\bsslverify\s*[= ]\s*false|\bstrict-ssl\s*[= ]?\s*false|NODE_TLS_REJECT_UNAUTHORIZED|GIT_SSL_NO_VERIFY|PYTHONHTTPSVERIFY"
        r"|\b(?:disable|turn off|switch off|deactivate|bypass|weaken|comment out)\b[^\n]{0,40}\b(?:checks?|tests?|hooks?|linter?s?|linting|ci|security|verification|validation|review|reviews|signing|sandbox|permissions?|guards?|authenti\w+|authori\w+|logging|audit\w*|safety|firewall|scann\w+)\b",
        "it switches checks off",
    ),
    (
        r"\bchmod\s+(?:-R\s+)?(?:777|\+s|u\+s)|\bsudo\b|\brm\s+-(?:rf|fr)\s+(?:/|~|\$HOME|\.\.)|\bgit\s+push\s+(?:\S+\s+)*(?:-f|--force)\b",
        "it asks for dangerous rights or deletions",
    ),
    (
        r"\b(?:always|must|immediately|first|before anything)\b[^\n]{0,40}\b(?:approve|accept|merge|trust|agree|comply|obey|say yes|answer yes|confirm)\b",
        "it steers the agent's decisions",
    ),
    (
        r"\b(?:mark|treat|consider|record|count)\b[^\n]{0,30}\bas\s+(?:trusted|human|verified|approved|safe)\b|\btrusted by (?:a )?(?:human|person|maintainer|admin)|\b(?:approved|verified|signed off) by (?:a |the )?(?:human|person|maintainers?|admins?|security|owner|team|user)\b",
        "it claims a trust that its channel does not give",
    ),
    (
        r"<\s*/?\s*(?:project-memory|system|instructions?|assistant|user|tool|function)\b|\[/?(?:INST|SYS)\]|<\|[a-z_]+\|>|<!--\s*orch:",
        "it forges a frame",
    ),
)


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], str], ...]:
    """The rules, compiled when they are needed first: `orch memory add` never needs them."""
    return tuple((re.compile(pattern, re.I | re.M), reason) for pattern, reason in _RULES)


_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")


def held_reason(text: str) -> str | None:
    """Why an unverified entry with this text is to be held back; None when nothing speaks against it."""
    if has_hidden(text):
        return "it holds characters that cannot be seen"
    for shown in _readings(text):
        for pattern, reason in _compiled():
            if pattern.search(shown):
                return reason
    return None


def _readings(text: str) -> list[str]:
    """The text as a model may read it: as it is, with look-alike letters as Latin ones, with base64 decoded."""
    plain = re.sub(r"[ \t]*\n[ \t]*", "\n", unicodedata.normalize("NFKC", text))
    latin = plain.translate(_CONFUSABLE)
    joined = " ".join(latin.split())
    readings = list(dict.fromkeys((plain, latin, joined, re.sub(r"(?<=\b\w)[ .\-_*](?=\w\b)", "", latin))))
    for run in _BASE64.findall(plain):
        try:
            decoded = base64.b64decode(run + "=" * (-len(run) % 4), validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if sum(char.isprintable() for char in decoded) > 0.9 * len(decoded):
            readings.append(decoded)
    return readings
