"""Sends unsaved texts of documents to the index, so that it answers from them."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.errors import NotText
from tark_lsp.workspace.documents import DocumentEvent, Documents, Saved, WillSave
from tark_lsp.workspace.encoding import decode
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:
    from tark_lsp.index.client import IndexClient

PAUSE_SECONDS = 0.15
"""A text is checked when nothing was typed for this long, or when a question is asked."""
LARGEST = 1_000_000
"""Characters. The index does not index larger files."""


class OpenTexts:
    def __init__(self, documents: Documents, workspace: Workspace, allows: Callable[[Path], bool]) -> None:
        """`allows`: whether the index may have this file."""
        self._documents = documents
        self._workspace = workspace
        self._allows = allows
        self._client: IndexClient | None = None
        self._stale: set[Path] = set()
        self._shown: set[Path] = set()
        self._timer: asyncio.TimerHandle | None = None
        documents.listen(self._on_document_event)

    def use(self, client: "IndexClient | None") -> None:
        """Switch to the client of the running index; None if no index is running."""
        self._client = client
        self._stale.clear()
        self._shown.clear()
        self.look_at_all()

    def look_at_all(self) -> None:
        """Check all open documents and all shown texts again soon."""
        if self._client is None:
            return
        self._stale |= {*self._documents.paths(), *self._shown}
        self._look_soon()

    def look_now(self) -> None:
        """Send the texts that differ from the disk or exist only in memory."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        stale, self._stale = self._stale, set()
        if self._client is None:
            return
        memory = {change.path: change.after for change in self._workspace.memory_changes()}
        if self._workspace.in_memory:
            stale |= {*memory, *self._shown}
        for path in stale:
            file = memory.get(path)
            kept = "" if file is None else _text(file.data)
            self._show(path, kept if path in memory else self._unsaved_text(path))

    def _unsaved_text(self, path: Path) -> str | None:
        document = self._documents.at(path)
        if document is None or len(document.text) > LARGEST or not document.dirty:
            return None
        return document.text

    def _show(self, path: Path, text: str | None) -> None:
        assert self._client is not None
        if text is not None and not self._allows(path):
            text = None
        if text is not None:
            self._shown.add(path)
        elif path in self._shown:
            self._shown.discard(path)
        else:
            return
        self._client.show_text(path, text)

    def _on_document_event(self, event: DocumentEvent) -> None:
        path = event.document.path
        if self._client is None or path is None or isinstance(event, WillSave) or not self._workspace.is_inside(path):
            return
        if isinstance(event, Saved):
            self._client.files_changed([path])
        self._stale.add(path)
        self._look_soon()

    def _look_soon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(PAUSE_SECONDS, self.look_now)


def _text(data: bytes) -> str:
    """The text of a file; empty if it is not text."""
    try:
        return decode(data)[0]
    except NotText:
        return ""
