"""Starts and ends the client of the index process, so that it always indexes the wanted folders."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.errors import ToolError
from tark_lsp.folders import indexes_folder
from tark_lsp.index.status import IndexState, IndexStatus
from tark_lsp.listeners import Listeners

if TYPE_CHECKING:  # imported only when an index is started
    from tark_lsp.index.client import IndexClient

NOT_NEEDED = IndexStatus(IndexState.OFF, reason="nothing has needed it yet: it starts with your first prompt")


class RunningIndex:
    """`wanted`: returns the folders to index; empty if no index should run. `most_bytes`: size limit of an index.

    Listeners of `changed` get the client after it was started, and None when it is closed. Listeners of `shown` get
    each new status.
    """

    def __init__(
        self,
        wanted: Callable[[], tuple[Path, ...]],
        may_index: Callable[[Sequence[Path]], Sequence[bool]],
        most_bytes: Callable[[], int],
    ) -> None:
        self._wanted = wanted
        self._may_index = may_index
        self._most_bytes = most_bytes
        self._folders: Sequence[Path] = ()
        """The folders that the client indexes."""
        self._switching = asyncio.Lock()
        self.client: IndexClient | None = None
        self.last_status = NOT_NEEDED
        self.changed: Listeners[IndexClient | None] = Listeners()
        self.shown: Listeners[IndexStatus] = Listeners()

    async def switch(self, *, quietly: bool = False) -> None:
        """Start or end the client as wanted, one change at a time. `quietly`: do not notify listeners of an end."""
        async with self._switching:
            wanted = self._wanted()
            if self.client is not None and wanted != self._folders:
                client, self.client = self.client, None
                if not quietly:
                    self._show(NOT_NEEDED)
                    self.changed.emit(None)
                await client.close()
            if self.client is None and wanted:
                await self._start(wanted)

    async def _start(self, folders: Sequence[Path]) -> None:
        from tark_lsp.index.client import IndexClient

        client = IndexClient(folders, indexes_folder(), self._may_index, most_bytes=self._most_bytes())
        client.listen(lambda status: self._show(status) if client is self.client else None)
        try:
            await client.start()
        except ToolError as error:
            self._show(IndexStatus(IndexState.FAILED, reason=error.message))
            await client.close()
            return
        self.client, self._folders = client, folders
        self._show(await client.status())
        self.changed.emit(client)

    def _show(self, status: IndexStatus) -> None:
        self.last_status = status
        self.shown.emit(status)
