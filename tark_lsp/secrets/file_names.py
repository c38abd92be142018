"""Files that hold keys, by their names: a command in the sandbox cannot read them, and each value in them is masked."""

from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePath

IN_WORKSPACE = (
    *(".env", ".env.*", "*.env", ".netrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass"),
    *("id_rsa", "id_dsa", "id_ecdsa*", "id_ed25519*", "*.kdbx", "*.pfx", "*.p12", "*.jks", "*.keystore", "*.ppk"),
    *("credentials.json", "service-account*.json", "service_account*.json", "client_secret*.json"),
    *("*.tfstate", "*.tfstate.backup", "secrets.y*ml", "secrets.json", "secrets.toml", ".vault-token"),
)
"""Names in lower case."""

KEYS_BUT_FOR_TESTS = ("*.pem", "*.key")
"""They count unless a folder of `OF_TESTS` is above them: test suites have certificates."""

OF_TESTS = frozenset(
    {"test", "tests", "testdata", "fixtures", "fixture", "examples", "spec", "node_modules", "site-packages"}
)

TEMPLATES = ("*.example", "*.sample", "*.template", "*.dist", "*.defaults", "*.pub")
"""They have no keys, whatever they match otherwise."""

OF_SYSTEM = (
    *("etc/shadow", "etc/shadow-", "etc/gshadow", "etc/gshadow-", "etc/sudoers", "etc/sudoers.d", "etc/ssl/private"),
    *("etc/ssh/ssh_host_*_key", "etc/kubernetes", "etc/krb5.keytab", "etc/NetworkManager/system-connections"),
    *("etc/docker/key.json", "var/lib/docker", "var/lib/kubelet", "var/lib/private", "var/run/secrets"),
    *("var/spool/cron", "var/mail", "var/spool/mail", "root", "home"),
)
"""Patterns from `/`. Root's own commands could read them otherwise. `root` and `home`: the home folders of others."""


def is_secret(relative: PurePath) -> bool:
    """Whether the file at this path from the workspace folder has keys, by its name."""
    kind = kind_of(relative.name)
    return kind == "always" or (kind == "not for tests" and OF_TESTS.isdisjoint(map(str.lower, relative.parts[:-1])))


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """Of a name: `always`, `not for tests` or nothing."""
    lower = name.lower()
    if any(fnmatchcase(lower, pattern) for pattern in TEMPLATES):
        return ""
    if any(fnmatchcase(lower, pattern) for pattern in IN_WORKSPACE):
        return "always"
    return "not for tests" if any(fnmatchcase(lower, pattern) for pattern in KEYS_BUT_FOR_TESTS) else ""
