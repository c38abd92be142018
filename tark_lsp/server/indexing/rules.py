"""Which files the index may have: those that every tool may show without asking.

It excludes files that a rule denies or asks about, keys and credentials, and protected paths (docs/index.md).
"""

import os
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.agent.approval import Policy, is_read_asked, is_read_denied, may_ask_below, may_hide_below
from tark_lsp.secrets.file_names import is_secret
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.protected import is_protected_path


class IndexRules:
    """The rules for one policy and one set of folders. Create a new object if either changes."""

    def __init__(self, policy: Policy, workspace: Workspace) -> None:
        self._policy = policy
        self._workspace = workspace
        self._folders = workspace.folders
        self._plain: dict[Path, bool] = {}

    def allows(self, path: Path) -> bool:
        """Check all rules for the current state of a path."""
        workspace, policy = self._workspace, self._policy
        return (
            workspace.is_inside(path)
            and not self._is_secret(path)
            and not workspace.is_protected(path)
            and not is_read_denied(path, policy, workspace)
            and not is_read_asked(path, policy, workspace)
        )

    def allow_each(self, paths: Sequence[Path]) -> list[bool]:
        """Like `allows`, for files that were listed without following links. Checks rules about a folder only once."""
        return [
            not self._is_secret(path) and not self._is_protected(path)
            if self._is_plain(path.parent)
            else self.allows(path)
            for path in paths
        ]

    def _is_plain(self, folder: Path) -> bool:
        """Whether no rule and no private path applies to files in this folder. Then only their names are checked."""
        if folder not in self._plain:
            self._plain[folder] = self._look_at(folder)
        return self._plain[folder]

    def _look_at(self, folder: Path) -> bool:
        workspace, policy = self._workspace, self._policy
        return (
            Path(os.path.realpath(folder)) == folder
            and workspace.is_inside(folder)
            and not workspace.is_protected(folder)
            and not workspace.is_private(folder)
            and not may_hide_below([folder], policy, workspace)
            and not may_ask_below([folder], policy, workspace)
        )

    def _is_secret(self, path: Path) -> bool:
        return any(is_secret(path.relative_to(folder)) for folder in self._folders if path.is_relative_to(folder))

    def _is_protected(self, path: Path) -> bool:
        return any(
            is_protected_path(path.relative_to(folder)) for folder in self._folders if path.is_relative_to(folder)
        )
