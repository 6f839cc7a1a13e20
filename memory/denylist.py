"""Files that hold credentials: nothing of ours ever reads them into anything."""

import fnmatch

_PATTERNS = (
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "id_rsa*",
    "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc",
    "credentials", "credentials.*", "secrets", "secrets.*", "*.secret", "*.secrets", "service-account*.json",
    ".htpasswd", "kubeconfig", "*.tfvars",
)  # fmt: skip
_ALLOWED = (".env.example", ".env.sample", ".env.template", ".env.dist")


def is_denied(name: str) -> bool:
    """Whether a file of that name (without folders) is never to be read; examples of settings are no settings."""
    lowered = name.lower()
    return lowered not in _ALLOWED and any(fnmatch.fnmatchcase(lowered, pattern) for pattern in _PATTERNS)
