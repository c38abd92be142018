"""RecordedFiles: records what an undo does to the files, as changes in a separate log that redo undoes."""

import asyncio
import stat
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Protocol

from tark_lsp.errors import NotText, WorkspaceError
from tark_lsp.workspace.checkpoints.commands.command_rows import CommandRows
from tark_lsp.workspace.checkpoints.commands.copies import Copies
from tark_lsp.workspace.checkpoints.dry_run import NEW_FILE_MODE, Files
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import UTF_8, decode
from tark_lsp.workspace.file_state import FileChange, FileState
from tark_lsp.workspace.file_step import FileStep
from tark_lsp.workspace.outcomes import Outcome
from tark_lsp.workspace.snapshot import Snapshot


class ChangeRecorder(Protocol):
    """The methods of `Checkpoints` that record a change before it is made, and its outcome."""

    copies: Copies
    commands: CommandRows

    def record_command(self, turn_id: str, changes: Sequence[FileChange]) -> list[int]: ...
    def record_edit(self, turn_id: str, path: Path, before: str | None, after: str) -> int: ...
    def record_move(self, turn_id: str, source: Path, target: Path) -> int: ...
    def record_removal(self, turn_id: str, path: Path, data: bytes, mode: int) -> int: ...
    def settle_change(self, change: int, outcome: Outcome) -> None: ...


class RecordedFiles:
    """`Files` that record each change in the log `log_id`."""

    def __init__(self, files: Files, recorder: ChangeRecorder, log_id: str) -> None:
        self._files = files
        self._recorder = recorder
        self._log_id = log_id

    def is_inside(self, path: Path) -> bool:
        return self._files.is_inside(path)

    def display(self, path: Path) -> str:
        return self._files.display(path)

    def read(self, path: Path) -> Snapshot:
        return self._files.read(path)

    def read_bytes(self, path: Path) -> bytes:
        return self._files.read_bytes(path)

    async def apply(self, edit: ProposedEdit, label: str) -> Outcome:
        change = self._recorder.record_edit(self._log_id, edit.path, edit.base.text, edit.after)
        return await self._settle(change, self._files.apply(edit, label))

    async def move(self, snapshot: Snapshot, target: Path) -> Outcome:
        change = self._recorder.record_move(self._log_id, snapshot.path, target)
        return await self._settle(change, self._files.move(snapshot, target))

    async def remove(self, snapshot: Snapshot) -> Outcome:
        change = self._recorder.record_removal(self._log_id, snapshot.path, *self._stored(snapshot))
        return await self._settle(change, self._files.remove(snapshot))

    async def restore(self, path: Path, data: bytes, mode: int) -> Outcome:
        try:
            text = decode(data)[0]
        except NotText:
            text = data.decode("utf-8", "surrogateescape")  # redo will find that it is not text, and keep it
        change = self._recorder.record_edit(self._log_id, path, None, text)
        return await self._settle(change, self._files.restore(path, data, mode))

    def buffer(self, path: Path) -> Snapshot | None:
        return self._files.buffer(path)

    async def states(self, expected: Sequence[tuple[Path, FileState | None]]) -> Sequence[FileState | None]:
        return await self._files.states(expected)

    async def put(self, steps: Sequence[FileStep]) -> Sequence[str]:
        """Copies what is replaced first, so that redo can restore it."""
        problems = await asyncio.to_thread(lambda: [self._kept(step) for step in steps])
        todo = [step for step, problem in zip(steps, problems, strict=True) if not problem]
        numbers = self._recorder.record_command(
            self._log_id, [FileChange(step.path, step.now, step.wanted) for step in todo]
        )
        made = dict(zip(todo, await self._files.put(todo), strict=True))
        failed = [number for step, number in zip(todo, numbers, strict=True) if made[step]]
        self._recorder.commands.drop(failed)
        return [problem or made[step] for step, problem in zip(steps, problems, strict=True)]

    def _kept(self, step: FileStep) -> str:
        """Copy what is there, unless the step only changes its mode. Returns why that failed."""
        digest = None if step.now is None else step.now.digest
        if digest is None or (step.wanted is not None and step.wanted.digest == digest):
            return ""
        try:
            if not self._recorder.copies.use(digest):
                self._recorder.copies.add_file(step.path)
        except OSError as error:
            return f"it cannot be copied: {error.strerror}"
        return ""

    async def _settle(self, change: int, work: Awaitable[Outcome]) -> Outcome:
        outcome = await work
        self._recorder.settle_change(change, outcome)
        return outcome

    def _stored(self, snapshot: Snapshot) -> tuple[bytes, int]:
        """The bytes that the file would have if it were saved now, and its mode."""
        try:
            data = self._files.read_bytes(snapshot.path)
            text, encoding = decode(data)
            mode = stat.S_IMODE(snapshot.path.stat().st_mode)
        except (WorkspaceError, OSError):  # an open document that is not on disk
            return UTF_8.encode(snapshot.text), NEW_FILE_MODE
        return data if text == snapshot.text else encoding.encode(snapshot.text), mode
