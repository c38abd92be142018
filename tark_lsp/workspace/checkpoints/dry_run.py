"""DryRunFiles: simulates changes of files in memory. Undo runs on them for a preview, so nothing is written."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from tark_lsp.errors import FileMissing, NotText, WorkspaceError
from tark_lsp.workspace.closed_files import LARGEST_FILE
from tark_lsp.workspace.disk.folder import TAKEN
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import UTF_8, Encoding, decode
from tark_lsp.workspace.file_state import FileState, StateKind
from tark_lsp.workspace.file_step import FileStep
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot

NEW_FILE_MODE = 0o644
NO_TEXT = b"\0"
"""Stands for content that is too large to be shown."""


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
    def buffer(self, path: Path) -> Snapshot | None: ...
    async def states(self, expected: Sequence[tuple[Path, FileState | None]]) -> Sequence[FileState | None]: ...
    async def put(self, steps: Sequence[FileStep]) -> Sequence[str]: ...


class DryRunFiles:
    """Reads from other `Files`, changes in memory. `edits`: the edits that would be made, in order, one per file.

    It does not predict what only an attempt shows: an editor that does not move files, a read-only file, a full disk.
    """

    def __init__(self, files: Files) -> None:
        self.edits: list[ProposedEdit] = []
        self._files = files
        self._changed: dict[Path, bytes | None] = {}
        """What would be at each changed path; None: nothing."""
        self._states: dict[Path, FileState | None] = {}
        """The same for changes by commands, including links and folders."""

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
            self._changed[edit.path] = _encoding(self, edit.path).encode(edit.after)
        except NotText as error:
            return Refused(error.message)
        self._record(edit)
        return Applied(edit.drafted)

    async def move(self, snapshot: Snapshot, target: Path) -> Outcome:
        source = snapshot.path
        for path in (source, target):
            if not self.is_inside(path):
                return Refused(f"{self.display(path)} is outside the workspace")
        if source == target:
            return Refused("it is there already")
        if _is_taken(self, target):
            return Refused(TAKEN)
        self._changed[target] = _encoding(self, source).encode(snapshot.text)
        self._changed[source] = None
        self._record(ProposedEdit(source, snapshot, (), target=target))
        return Applied(Snapshot(target, snapshot.text))

    async def remove(self, snapshot: Snapshot) -> Outcome:
        self._changed[snapshot.path] = None
        self._record(ProposedEdit.removal(snapshot))
        return Applied(Snapshot(snapshot.path, "", exists=False))

    async def restore(self, path: Path, data: bytes, _: int) -> Outcome:
        if _is_taken(self, path):
            return Stale("a file with this name exists now")
        try:
            text = decode(data)[0]
        except NotText as error:
            return Refused(error.message)
        self._changed[path] = data
        self._record(ProposedEdit.between(Snapshot(path, "", exists=False), text))
        return Applied(Snapshot(path, text))

    def buffer(self, path: Path) -> Snapshot | None:
        return None if path in self._changed else self._files.buffer(path)

    async def states(self, expected: Sequence[tuple[Path, FileState | None]]) -> Sequence[FileState | None]:
        found = await self._files.states(expected)
        return [self._state(path, there) for (path, _), there in zip(expected, found, strict=True)]

    async def put(self, steps: Sequence[FileStep]) -> Sequence[str]:
        for step in steps:
            if step.wanted is None or step.wanted.kind is not StateKind.FILE:
                self._put_text(step.path, None)
            elif step.source is not None:
                self._put_text(step.path, step.source)
            self._states[step.path] = step.wanted
        return [""] * len(steps)

    def _state(self, path: Path, there: FileState | None) -> FileState | None:
        if path in self._states:
            return self._states[path]
        data = self._changed.get(path)
        if data is None:
            return None if path in self._changed else there
        mode = there.mode if there is not None and there.kind is StateKind.FILE else NEW_FILE_MODE
        return FileState(StateKind.FILE, mode, sha256(data).hexdigest())

    def _put_text(self, path: Path, source: Path | None) -> None:
        """Record what would be there, as an edit if it is text before and after."""
        before: Snapshot | None = None
        with suppress(WorkspaceError):  # it is not text
            try:
                before = self.read(path)
            except FileMissing:
                before = Snapshot(path, "", exists=False)
        if source is None:
            self._changed[path] = None
            if before is not None and before.exists:
                self._record(ProposedEdit.removal(before))
            return
        try:
            data = source.read_bytes() if source.stat().st_size <= LARGEST_FILE else NO_TEXT
        except OSError:
            data = NO_TEXT
        self._changed[path] = data
        with suppress(NotText):
            text = decode(data)[0]
            if before is not None:
                self._record(ProposedEdit.between(before, text))

    def _record(self, edit: ProposedEdit) -> None:
        """Add the edit. If the file already has an edit, both become one."""
        found = [at for at, known in enumerate(self.edits) if known.place == edit.path]
        at = min(found, key=lambda at: self.edits[at].removes, default=len(self.edits))  # a file before a removed one
        whole = _joined(self.edits[at], edit) if at < len(self.edits) else edit
        self.edits[at : at + 1] = [whole] if whole is not None and _changes_something(whole) else []


def _joined(before: ProposedEdit, edit: ProposedEdit) -> ProposedEdit | None:
    """Both edits as one, the second of which begins where the first one ends. None: the file comes and goes."""
    if edit.removes:
        return ProposedEdit.removal(before.base) if before.base.exists else None
    if not before.base.exists:
        return ProposedEdit.between(Snapshot(edit.place, "", exists=False), edit.after)
    whole = ProposedEdit.between(before.base, edit.after)
    return whole if edit.place == whole.path else replace(whole, target=edit.place)


def _changes_something(edit: ProposedEdit) -> bool:
    return bool(edit.hunks or edit.operation or not edit.base.exists)


def _encoding(files: DryRunFiles, path: Path) -> Encoding:
    try:
        return decode(files.read_bytes(path))[1]
    except WorkspaceError:  # an open document that is not on disk, or is not text there
        return UTF_8


def _is_taken(files: DryRunFiles, path: Path) -> bool:
    try:
        files.read_bytes(path)
    except FileMissing:
        return False
    except WorkspaceError:  # it exists, but is not text, or is a folder or too big
        pass
    return True
