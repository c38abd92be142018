"""Asks the editor for RenameFile and DeleteFile. The outcome is read from the disk and from the editor's didClose.

Some editors skip a rename and report it as applied (Neovim), rename on disk only and keep the old buffer (kakoune-lsp),
or save the buffer at its new place, formatted (docs/editors.md). So the answer never counts as the outcome.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tark_lsp.errors import WorkspaceError
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.editing.apply_edit import IN_FLIGHT_SECONDS, PROOF_SECONDS, apply_edit
from tark_lsp.server.protocol.incoming import SAVE
from tark_lsp.workspace.closed_files import LARGEST_FILE
from tark_lsp.workspace.disk.folder import TAKEN
from tark_lsp.workspace.disk.opening import open_folder
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.encoding import decode
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot
from tark_lsp.workspace.text_document import TextDocument
from tark_lsp.workspace.uris import path_text, uri_from_path

LOOK_SECONDS = 0.05
"""Time between two checks of the disk."""
UNSAVED = "it has unsaved changes: save it, then try again"
CHANGED = "the text changed meanwhile"
LINKED = "it is open through a link: close that document, then try again"


class FileOperations:
    """Runs one file operation at a time, and none while an edit is on its way."""

    def __init__(self, connection: Connection, documents: Documents, in_flight: asyncio.Lock) -> None:
        self._connection = connection
        self._documents = documents
        self._in_flight = in_flight

    async def move(self, snapshot: Snapshot, target: Path) -> Outcome | None:
        """See `Buffers.move`. Also None for a file that is not open if the editor refused or did nothing."""
        if not self._can("rename"):
            return None
        source = snapshot.path
        async with self._in_flight:
            if os.path.lexists(target):
                return Refused(TAKEN)
            if Path(os.path.realpath(target)) != target:
                return Refused("there is a link in the new path that was not there before")
            if (problem := await self._problem(snapshot)) is not None:
                return problem
            document = self._documents.at(source)
            change = {
                "kind": "rename",
                "oldUri": self._documents.uri(source),
                "newUri": uri_from_path(target),
                "options": {"overwrite": False},
            }
            said, answered = await self._ask(change, f"Tark: move {source.name} to {target.name}")
            await self._until(lambda: not os.path.lexists(source), PROOF_SECONDS if not said else 0.0)
            if os.path.lexists(source):
                if document is None and answered and not os.path.lexists(target):
                    return None
                return Refused(said or "the editor said it moved the file, but it is where it was")
            if not os.path.lexists(target):
                return Refused("the editor took the file away and did not put it at its new place")
            return await self._moved(document, snapshot, target)

    async def remove(self, snapshot: Snapshot) -> Outcome | None:
        """See `Buffers.remove`."""
        if not self._can("delete"):
            return None
        path = snapshot.path
        async with self._in_flight:
            if (problem := await self._problem(snapshot)) is not None:
                return problem
            options = {"recursive": False, "ignoreIfNotExists": False}
            change = {"kind": "delete", "uri": self._documents.uri(path), "options": options}
            said, _ = await self._ask(change, f"Tark: delete {path.name}")
            await self._until(lambda: not os.path.lexists(path), PROOF_SECONDS if not said else 0.0)
            if os.path.lexists(path):
                return Refused(said or "the editor said it deleted the file, but it is still there")
            await self._until(lambda: self._documents.at(path) is None, PROOF_SECONDS)
            kept = self._documents.at(path) is not None
            return Applied(
                Snapshot(path, "", exists=False), "the editor still has its text open: close it" if kept else ""
            )

    async def _problem(self, snapshot: Snapshot) -> Outcome | None:
        """Why the editor must not be asked. First saves unsaved changes, if the editor supports that."""
        path = snapshot.path
        document = self._documents.at(path)
        if document is not None and Path(path_text(document.uri) or "").is_symlink():
            return Refused(LINKED)  # the editor would move or delete the link itself
        if document is None:
            return None if _text(path) == snapshot.text else Stale("the file has changed on disk")
        if document.text != snapshot.text:
            return Stale(CHANGED)
        if not document.dirty:
            return None
        if not self._connection.client.understands("save"):
            return Refused(UNSAVED)
        try:
            async with asyncio.timeout(self._connection.client.flags.answer_seconds):
                await self._connection.request(SAVE, {"uris": [document.uri]})
        except (RequestFailed, TimeoutError) as error:
            return Refused(f"the editor did not save it: {error or 'no answer'}")
        await self._until(lambda: not document.dirty, PROOF_SECONDS)  # its didSave can come after the answer
        if self._documents.at(path) is not document or document.text != snapshot.text:
            return Stale(CHANGED)
        return Refused(UNSAVED) if document.dirty else None

    async def _ask(self, change: dict[str, Any], label: str) -> tuple[str, bool]:
        """Return why the editor did not do it (empty if it says it did), and whether it answered at all."""
        edit, within = {"documentChanges": [change]}, self._connection.client.flags.answer_seconds
        try:
            applied, reason = await apply_edit(self._connection, label, edit, within=within)
        except TimeoutError:
            return f"the editor did not answer within {within:g} s", False
        except RequestFailed as error:
            applied, reason = False, error.message
        if applied:
            return "", True
        return f"the editor refused{f': {reason}' if reason else ''}", True

    async def _moved(self, document: TextDocument | None, snapshot: Snapshot, target: Path) -> Outcome:
        """Wait until the editor has closed the old document and opened the new one, so that edits go to the new one."""
        notes = []
        if document is not None:
            if await self._until(lambda: self._documents.at(snapshot.path) is None, PROOF_SECONDS):
                delay = self._connection.client.flags.change_delay
                await self._until(lambda: self._documents.at(target) is not None, IN_FLIGHT_SECONDS + delay)
            else:
                notes.append("the editor still has its text open at the old place: close it there")
        opened = self._documents.at(target)
        text = _text(target) if opened is None else opened.text
        if text != snapshot.text:
            notes.append("its text was changed on the way")
        return Applied(Snapshot(target, text or "") if opened is None else opened.snapshot(), "; ".join(notes))

    async def _until(self, true: Callable[[], bool], seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while not true():
            if loop.time() >= until:
                return False
            await asyncio.sleep(LOOK_SECONDS)
        return True

    def _can(self, operation: str) -> bool:
        """Does not check `documentChanges`: Neovim 0.11 supports it without declaring it."""
        operations = self._connection.client.get("workspace.workspaceEdit.resourceOperations")
        return isinstance(operations, list) and operation in operations


def _text(path: Path) -> str | None:
    """The text of the file, for a comparison; None if it cannot be read. Follows no link and does not block."""
    try:
        return decode(open_folder(Path(path.anchor)).read(path.relative_to(path.anchor), LARGEST_FILE).data)[0]
    except (OSError, WorkspaceError):
        return None
