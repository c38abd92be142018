"""Files and folders with keys and credentials. No tool reads or lists them, no search shows them, whatever rules allow.

What the user opens or selects can still be sent. In a workspace that is not the home folder, these names have no
special meaning: a project can have a folder `.docker` or a file `.npmrc` that an agent should see.
"""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from tark_lsp.workspace.protected import begins_with, plain_name

IN_HOME = (
    # keys for hosts and mail
    *(".ssh", ".gnupg", ".password-store", ".pki", ".putty", ".age", ".config/sops"),
    # clouds, clusters and containers
    *(".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/doctl", ".config/hcloud", ".oci", ".aliyun"),
    *(".config/containers", ".fly", ".terraform.d", ".config/rclone", ".s3cfg", ".boto", ".vault-token"),
    # accounts of programs
    *(".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab*", ".config/hub"),
    *(
        ".npmrc",
        ".yarnrc*",
        ".pypirc",
        ".gem/credentials",
        ".cargo/credentials*",
        ".m2/settings*.xml",
        ".composer/auth.json",
    ),
    *(".pgpass", ".my.cnf", ".mylogin.cnf", ".config/op", ".config/heroku", ".config/github-copilot", ".huggingface"),
    *(".cache/huggingface/token", ".codex/auth.json", ".claude/.credentials.json", ".claude.json", ".config/netlify"),
    # keyrings, password managers and browsers
    *(".local/share/keyrings", ".local/share/kwalletd", ".config/bitwarden*", ".config/keepassxc", ".mozilla"),
    *(".config/google-chrome", ".config/chromium", ".config/bravesoftware", ".thunderbird"),
    *("library/keychains", "library/cookies", "library/application support/google/chrome", ".electrum", ".bitcoin"),
    # histories of typed commands
    *(".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".node_repl_history"),
)
"""Patterns for paths relative to the home folder, in lower case. They match what they name and everything below."""

PATTERNS = tuple(tuple(pattern.split("/")) for pattern in IN_HOME)


class PrivatePaths:
    def __init__(self, home: Path | None, own: Iterable[Path]) -> None:
        """`own`: Tark's own files and folders with keys and sessions. None of them needs to exist."""
        self._home = None if home is None else Path(os.path.realpath(home))
        self._own = tuple(Path(os.path.realpath(path)) for path in own)

    def covers(self, path: Path) -> bool:
        """`path` is resolved."""
        if any(path.is_relative_to(own) for own in self._own):
            return True
        names = self._names_in_home(path)
        return names is not None and any(begins_with(names, pattern) for pattern in PATTERNS)

    def can_be_below(self, folder: Path) -> bool:
        """Whether `covers` can be true for a path at or below the folder, existing or not."""
        if any(folder.is_relative_to(own) or own.is_relative_to(folder) for own in self._own):
            return True
        if self._home is not None and self._home.is_relative_to(folder):
            return True
        names = self._names_in_home(folder)
        return names is not None and any(all(map(fnmatchcase, names, pattern)) for pattern in PATTERNS)

    def without_private(self, folder: Path, paths: Iterable[str]) -> list[str]:
        """The paths that are not below the folder, and paths below it for which `covers` is false.

        There can be 100,000 paths, so most are decided by their first name below the folder.
        """
        beginning = str(folder).rstrip(os.sep) + os.sep
        can_be_in: dict[str, bool] = {}

        def is_private(path: str) -> bool:
            if not path.startswith(beginning):
                return False
            name = path[len(beginning) :].partition(os.sep)[0]
            if name not in can_be_in:
                can_be_in[name] = self.can_be_below(folder / name)
            return can_be_in[name] and self.covers(Path(path))

        return [path for path in paths if not is_private(path)]

    def _names_in_home(self, path: Path) -> list[str] | None:
        if self._home is None or not path.is_relative_to(self._home):
            return None
        return [plain_name(part) for part in path.relative_to(self._home).parts]


NOTHING_PRIVATE = PrivatePaths(None, ())
