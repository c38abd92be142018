"""Grants: what the user allowed beyond one call, and which calls each grant covers. Pure."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from tark_lsp.tools.tool import Command, Preview
from tark_lsp.workspace.files import Workspace

Scope: TypeAlias = Literal["turn", "session"]
SCOPES: tuple[Scope, Scope] = ("turn", "session")


@dataclass(frozen=True, slots=True)
class Grant:
    """Edits below a folder, or one exact command in one folder.

    `covers` is the text that the user is shown. `unreviewed`: ids of the edits that were applied and not reviewed when
    it was given. Without a sandbox, a grant for a command is suspended while there are others: an edit of the script
    that it runs would run unseen. In the sandbox it holds.
    """

    id: str
    scope: Scope
    covers: str
    folder: Path | None = None
    command: Command | None = None
    unreviewed: frozenset[str] = frozenset()

    def allows(self, preview: Preview) -> bool:
        """Whether the grant is about this call. It can still be suspended (`changed_since`)."""
        if preview.command is not None:
            # The same command can read another place than the user was shown.
            return self.command is not None and not preview.outside and _is_same(self.command, preview.command)
        if self.folder is None or not preview.edits or any(edit.removes for edit in preview.edits):
            return False
        return all(path.is_relative_to(self.folder) for edit in preview.edits for path in edit.paths)

    def changed_since(self, preview: Preview, unreviewed: Mapping[str, Path]) -> Sequence[Path]:
        """The files with edits that suspend the grant for this call."""
        if preview.command is None or preview.command.confined:
            return ()
        return [path for edit_id, path in unreviewed.items() if edit_id not in self.unreviewed]


def grants_for(preview: Preview, workspace: Workspace, new_ids: tuple[str, str]) -> tuple[Grant, ...]:
    """The grants that the user can choose for this call, narrowest first; `new_ids` are two unused ids."""
    scoped = tuple(zip(new_ids, SCOPES, strict=True))
    if preview.command is not None and not preview.outside:
        command = preview.command
        covers = f"`{command.text}` in {workspace.display(command.cwd) or '.'}{command.beyond}"
        return tuple(Grant(grant_id, scope, f"{covers}, this {scope}", command=command) for grant_id, scope in scoped)
    if preview.edits and not any(edit.removes for edit in preview.edits):
        folder = Path(os.path.commonpath([path.parent for edit in preview.edits for path in edit.paths]))
        if not workspace.is_inside(folder):  # edits in several workspace folders: their common folder is above them
            return ()
        shown = f"the workspace folder {folder.name}" if folder in workspace.folders else workspace.display(folder)
        return tuple(
            Grant(grant_id, scope, f"edits below {shown}, this {scope}", folder=folder) for grant_id, scope in scoped
        )
    return ()


def _is_same(granted: Command, command: Command) -> bool:
    """The same words in the same folder, with no more than was granted. In the sandbox it can do less than without."""
    return (
        granted.argv == command.argv
        and granted.cwd == command.cwd
        and (command.confined or not granted.confined)
        and (granted.network or not command.network)
        and {*command.writable} <= {*granted.writable}
    )
