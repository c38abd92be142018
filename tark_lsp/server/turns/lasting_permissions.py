"""Permissions that last longer than a session, for the workspace of one turn (`agent.lasting`)."""

import os
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.agent.grants import Grant
from tark_lsp.permissions.store import AllowedCommands, PermissionStore, PermissionsUnusable, StoredPermission
from tark_lsp.server.asking.workspace_trust import WorkspaceTrust
from tark_lsp.tools.command import Command
from tark_lsp.tools.shell import shell
from tark_lsp.workspace.files import Workspace


class WorkspacePermissions:
    """The folders of `workspace` can change while the turn runs."""

    def __init__(self, workspace: Workspace, store: PermissionStore, trust: WorkspaceTrust, *ids: str) -> None:
        """`ids`: the ids of the turn and its session."""
        self._workspace = workspace
        self._turn_id, self._session_id = ids
        self._store = store
        self._trust = trust

    def grants(self) -> Sequence[Grant]:
        return tuple(_grant(one) for one in self._store.grants_in(self._workspace.folders))

    def keep(self, grant: Grant) -> str:
        assert grant.folder is not None, "a permanent grant names the workspace folder"
        commands = AllowedCommands(patterns=grant.patterns)
        if grant.command is not None:
            subfolder = os.path.relpath(grant.command.cwd, grant.folder)
            commands = AllowedCommands(grant.command.text, Path(subfolder).as_posix())
        try:
            self._store.add(grant.folder, commands)
        except PermissionsUnusable as error:
            return f"What you allow for always cannot be stored: {error.message}"
        return ""

    def is_trusted(self) -> bool:
        return self._trust.is_trusted(self._workspace.folders)

    def can_ask_trust(self) -> bool:
        return self._trust.can_ask(self._workspace.folders)

    async def ask_trust(self) -> bool:
        return await self._trust.ask(self._workspace.folders, self._turn_id, self._session_id)


def _grant(stored: StoredPermission) -> Grant:
    commands = stored.commands
    assert commands is not None, "trust in a folder is not a grant"
    covers = f"{stored.covers}, always"
    if commands.patterns:
        return Grant(stored.id, "always", covers, stored.folder, patterns=commands.patterns)
    cwd = Path(os.path.normpath(stored.folder / commands.subfolder))
    command = Command((*shell(), commands.text), commands.text, cwd, confined=True)
    return Grant(stored.id, "always", covers, stored.folder, command)
