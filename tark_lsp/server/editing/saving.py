"""`saveAfterEdit`: a document with nothing unsaved before an edit of ours has nothing unsaved after it."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.turns.client_state import ClientState
from tark_lsp.settings import Settings

SAVED_SECONDS = 1.0
"""How long after the answer to `tark/save` the didSave of it may take to arrive."""


class Saving:
    def __init__(
        self,
        connection: Connection,
        state: ClientState,
        settings: Callable[[], Settings],
        not_the_persons: Callable[[], set[Path]],
        soon: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """`not_the_persons()`: of which files a didSave is not the person's, which would accept what is applied.
        `soon(work)`: begins it."""
        self._connection = connection
        self._state = state
        self._settings = settings
        self._not_the_persons = not_the_persons
        self._soon = soon

    def applied(self, path: Path, was_clean: bool) -> None:
        """Text of ours was written to the document; `was_clean`: it had no unsaved changes before."""
        if was_clean and self._settings().save_after_edit and self._connection.client.understands("save"):
            self._soon(self._save(path))

    async def _save(self, path: Path) -> None:
        self._not_the_persons().add(path)
        if await self._state.save([path]):
            await asyncio.sleep(SAVED_SECONDS)
        self._not_the_persons().discard(path)
