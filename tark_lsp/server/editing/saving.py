"""`saveAfterEdit`: saves a document after an edit by Tark if it had no unsaved changes before."""

from collections.abc import Callable
from pathlib import Path

from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.client_state import ClientState
from tark_lsp.settings import Settings


class Saving:
    def __init__(
        self,
        connection: Connection,
        state: ClientState,
        settings: Callable[[], Settings],
        background: BackgroundTasks,
    ) -> None:
        self._connection = connection
        self._state = state
        self._settings = settings
        self._background = background

    def save_if_clean(self, path: Path, was_clean: bool) -> None:
        """An edit by Tark was written to the document. `was_clean`: it had no unsaved changes before."""
        if was_clean and self._settings().save_after_edit and self._connection.client.understands("save"):
            self._background.start(self._save(path))

    async def _save(self, path: Path) -> None:
        await self._state.save_documents([path])
