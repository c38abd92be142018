"""DryRunFiles: the files as an undo would leave them. Undo runs on these for a preview, so nothing is written."""

from dataclasses import replace
from pathlib import Path
from typing import Protocol

from tark_lsp.errors import FileMissing, NotText, WorkspaceError
from tark_lsp.workspace.disk.folder import TAKEN
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import UTF_8, Encoding, decode
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot


class Files(Protocol):
    """The methods of `Workspace` that undo needs."""

    def is_inside(self, path: Path) -> bool: ...
    def display(self, path: Path) -> str: ...
    def read(self, path: Path) -> Snapshot: ...
    def read_bytes(self, path: Path) -> bytes: ...
    async def apply(self, edit: ProposedEdit, label: str) -> Outcome: ...
    async def move(self, snapshot: Snapshot, target: Path) -> Outcome: ...
    async def remove(self, snapshot: Snapshot) -> Outcome: ...
    async def restore(self, path: Path, data: bytes, mode: int) -> Outcome: ...


class DryRunFiles:
    """Reads from other `Files`, changes in memory. `edits` has what would be done, in order, one edit per file.

    It does not predict what only trying shows: an editor that does not move files, a read-only file, a full disk.
    """

    def __init__(self, files: Files) -> None:
        self.edits: list[ProposedEdit] = []
        self._files = files
        self._changed: dict[Path, bytes | None] = {}
        """What would be at each changed path; None: nothing."""

    def is_inside(self, path: Path) -> bool:
        return self._files.is_inside(path)

    def display(self, path: Path) -> str:
        return self._files.display(path)

    def read(self, path: Path) -> Snapshot:
        return Snapshot(path, decode(self.read_bytes(path))[0]) if path in self._changed else self._files.read(path)

    def read_bytes(self, path: Path) -> bytes:
        if path not in self._changed:
            return self._files.read_bytes(path)
        data = self._changed[path]
        if data is None:
            raise FileMissing(f"{self.display(path)}: no such file")
        return data

    async def apply(self, edit: ProposedEdit, _: str) -> Outcome:
        try:
            self._changed[edit.path] = self._encoding(edit.path).encode(edit.after)
        except NotText as error:
            return Refused(error.message)
        self.edits.append(edit)
        return Applied(edit.drafted)

    async def move(self, snapshot: Snapshot, target: Path) -> Outcome:
        source = snapshot.path
        for path in (source, target):
            if not self.is_inside(path):
                return Refused(f"{self.display(path)} is outside the workspace")
        if source == target:
            return Refused("it is there already")
        if self._is_taken(target):
            return Refused(TAKEN)
        self._changed[target] = self._encoding(source).encode(snapshot.text)
        self._changed[source] = None
        self._record_move(snapshot, target)
        return Applied(Snapshot(target, snapshot.text))

    async def remove(self, snapshot: Snapshot) -> Outcome:
        self._changed[snapshot.path] = None
        self.edits.append(ProposedEdit.removal(snapshot))
        return Applied(Snapshot(snapshot.path, "", exists=False))

    async def restore(self, path: Path, data: bytes, _: int) -> Outcome:
        if self._is_taken(path):
            return Stale("a file with this name exists now")
        try:
            text = decode(data)[0]
        except NotText as error:
            return Refused(error.message)
        self._changed[path] = data
        self.edits.append(ProposedEdit.between(Snapshot(path, "", exists=False), text))
        return Applied(Snapshot(path, text))

    def _record_move(self, snapshot: Snapshot, target: Path) -> None:
        """Record the move in the edit of the file, if it has one already."""
        places = (None if edit.removes else edit.target or edit.path for edit in self.edits)
        at = next((at for at, place in enumerate(places) if place == snapshot.path), None)
        if at is None:
            self.edits.append(ProposedEdit(snapshot.path, snapshot, (), target=target))
            return
        before = self.edits[at]
        if not before.base.exists:
            after = replace(before, path=target, base=replace(before.base, path=target))
        else:
            after = replace(before, target=None if target == before.path else target)
        self.edits[at : at + 1] = [after] if after.hunks or after.target or not after.base.exists else []

    def _encoding(self, path: Path) -> Encoding:
        try:
            return decode(self.read_bytes(path))[1]
        except WorkspaceError:  # an open document that is not on disk, or is not text there
            return UTF_8

    def _is_taken(self, path: Path) -> bool:
        try:
            self.read_bytes(path)
        except FileMissing:
            return False
        except WorkspaceError:  # it exists, but is not text, or is a folder or too big
            pass
        return True
