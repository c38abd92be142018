"""Reports changed files to the index: from the editor's notifications, the server's own writes, and commands.

While the index runs, clients that can watch files are asked to do so. Changes that nobody reports are found when the
next turn begins. The files of an answer are also compared with the disk before the answer is returned.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.uris import path_from_uri

if TYPE_CHECKING:
    from tark_lsp.index.client import IndexClient

log = logging.getLogger(__name__)

MOST_FILES = 200
"""Paths in one notification. With more, for example after a switch of branches, it is cheaper to compare all files."""
REGISTRATION = {"id": "tark-index-files", "method": "workspace/didChangeWatchedFiles"}


class FileEvents:
    def __init__(self, connection: Connection, workspace: Workspace, background: BackgroundTasks) -> None:
        self._connection = connection
        self._workspace = workspace
        self._background = background
        self._client: IndexClient | None = None
        self._watches = False
        workspace.written.listen(self.changed)

    def use(self, client: "IndexClient | None") -> None:
        """Switch to the client of the running index; None if no index is running."""
        self._client = client
        if self._connection.client.has("workspace.didChangeWatchedFiles.dynamicRegistration"):
            self._background.start(self._watch())

    def changed(self, paths: Sequence[Path]) -> None:
        """Report files or folders that were written, created, moved or removed."""
        if self._client is None:
            return
        inside = [path for path in paths[:MOST_FILES] if self._workspace.is_inside(path)]
        if len(paths) > MOST_FILES:
            self._client.rescan()
        elif inside:
            self._client.files_changed(inside)

    def watched_changed(self, params: dict[str, Any]) -> None:
        """Handle `workspace/didChangeWatchedFiles`. Malformed entries are skipped."""
        changes = params.get("changes")
        if self._client is None or not isinstance(changes, list):
            return
        if len(changes) > MOST_FILES:
            self._client.rescan()
            return
        uris = [change.get("uri") for change in changes if isinstance(change, dict)]
        paths = [path_from_uri(uri) for uri in uris if isinstance(uri, str) and "/.git/" not in uri]
        self.changed([path for path in paths if path is not None])

    async def _watch(self) -> None:
        """Ask the client to start or stop watching files, if it does not already do so."""
        wanted = self._client is not None
        if wanted is self._watches:
            return
        self._watches = wanted
        options = {"registerOptions": {"watchers": [{"globPattern": "**/*"}]}}
        try:
            if wanted:
                registrations = {"registrations": [{**REGISTRATION, **options}]}
                await self._connection.request("client/registerCapability", registrations)
            else:
                # LSP itself misspells the name of this field.
                await self._connection.request("client/unregisterCapability", {"unregisterations": [REGISTRATION]})
        except RequestFailed as error:
            log.warning("watching files: %s", error)
