"""The environment of a command, built from an allowlist, so that no key or secret of the user gets into it."""

import fnmatch
from collections.abc import Mapping
from functools import lru_cache

ALLOWED = (
    # who and where
    "HOME", "USER", "LOGNAME", "SHELL", "PATH", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LANGUAGE", "LC_*",
    "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS",
    # certificates (paths)
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    # where languages keep their things (paths)
    "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYTHONPATH", "PYENV_ROOT", "UV_CACHE_DIR",
    "NVM_DIR", "NODE_PATH", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR",
    "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE",
    "JAVA_HOME", "MAVEN_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "ANDROID_HOME", "SDKMAN_DIR",
    "GEM_HOME", "RBENV_ROOT", "ASDF_DIR", "DOTNET_ROOT", "CC", "CXX", "PKG_CONFIG_PATH",
    "NIX_PATH", "NIX_PROFILES", "LOCALE_ARCHIVE",
    # Windows, untested
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "USERNAME", "USERPROFILE", "APPDATA",
    "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE", "PSMODULEPATH",
)  # fmt: skip

FIXED: Mapping[str, str] = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "PYTHONUNBUFFERED": "1",
}
"""There is no terminal: no colours, no pagers, no questions."""


def command_environment(environ: Mapping[str, str], marker: str) -> dict[str, str]:
    """The allowed variables of `environ`, `FIXED`, and `marker` (`NAME=value`)."""
    allowed = {name: value for name, value in environ.items() if is_allowed(name)}
    name, _, value = marker.partition("=")
    return {**allowed, **FIXED, name: value}


@lru_cache(maxsize=1000)  # a call compares 50 names with 60 patterns, and every call has the same names
def is_allowed(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name.upper(), pattern) for pattern in ALLOWED)
