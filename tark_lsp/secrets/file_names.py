"""Names of files with keys. Commands in the sandbox cannot read these files, and each value in them is masked."""

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
"""Names that count unless they are below a folder in `OF_TESTS`: test suites contain certificates."""

OF_TESTS = frozenset(
    {"test", "tests", "testdata", "fixtures", "fixture", "examples", "spec", "node_modules", "site-packages"}
)

TEMPLATES = ("*.example", "*.sample", "*.template", "*.dist", "*.defaults", "*.pub")
"""Names without keys, even if they match another pattern."""

OF_SYSTEM = (
    *("etc/shadow", "etc/shadow-", "etc/gshadow", "etc/gshadow-", "etc/sudoers", "etc/sudoers.d", "etc/ssl/private"),
    *("etc/ssh/ssh_host_*_key", "etc/kubernetes", "etc/krb5.keytab", "etc/NetworkManager/system-connections"),
    *("etc/docker/key.json", "var/lib/docker", "var/lib/kubelet", "var/lib/private", "var/run/secrets"),
    *("var/spool/cron", "var/mail", "var/spool/mail", "root", "home"),
)
"""Patterns relative to `/`. Without them, commands of root could read these files. `root`, `home`: homes of others."""


def is_secret(relative: PurePath) -> bool:
    """Whether the file at this path, relative to the workspace folder, has keys according to its name."""
    kind = kind_of(relative.name)
    return kind == "always" or (kind == "not for tests" and OF_TESTS.isdisjoint(map(str.lower, relative.parts[:-1])))


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """The kind of a name: `always`, `not for tests` or empty."""
    lower = name.lower()
    if any(fnmatchcase(lower, pattern) for pattern in TEMPLATES):
        return ""
    if any(fnmatchcase(lower, pattern) for pattern in IN_WORKSPACE):
        return "always"
    return "not for tests" if any(fnmatchcase(lower, pattern) for pattern in KEYS_BUT_FOR_TESTS) else ""
