"""`saveAfterEdit`: a document without unsaved changes before an edit of ours has none after it either."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.client_state import ClientState
from tark_lsp.settings import Settings

SAVED_SECONDS = 1.0
"""How long the didSave can take to arrive after the answer to `tark/save`."""


class Saving:
    def __init__(
        self,
        connection: Connection,
        state: ClientState,
        settings: Callable[[], Settings],
        ours: set[Path],
        background: BackgroundTasks,
    ) -> None:
        """`ours`: the files that we are having saved. A save of ours accepts no hunks."""
        self._connection = connection
        self._state = state
        self._settings = settings
        self._ours = ours
        self._background = background

    def save_if_clean(self, path: Path, was_clean: bool) -> None:
        """An edit of ours was written to the document; `was_clean`: it had no unsaved changes before."""
        if was_clean and self._settings().save_after_edit and self._connection.client.understands("save"):
            self._background.start(self._save(path))

    async def _save(self, path: Path) -> None:
        self._ours.add(path)
        if await self._state.save_documents([path]):
            await asyncio.sleep(SAVED_SECONDS)
        self._ours.discard(path)
