"""Undoes what one command changed: exactly if nothing was changed since, otherwise texts line by line.

All steps that need no editor are made together, in this order: remove what the command created, restore folders,
restore files and links, and finally set the modes of folders.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Protocol

from tark_lsp.errors import FileMissing, NotText, WorkspaceError
from tark_lsp.workspace.checkpoints.commands.copies import Copies
from tark_lsp.workspace.checkpoints.dry_run import Files
from tark_lsp.workspace.checkpoints.inverse_edit import inverse_edit
from tark_lsp.workspace.checkpoints.store import LoggedChange
from tark_lsp.workspace.checkpoints.turn_undo import DELETED, TAKEN, UndoResult, Wording
from tark_lsp.workspace.closed_files import LARGEST_FILE
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import Encoding, decode
from tark_lsp.workspace.file_state import FileState, StateKind
from tark_lsp.workspace.file_step import FileStep
from tark_lsp.workspace.outcomes import Applied
from tark_lsp.workspace.placing.thread import in_thread
from tark_lsp.workspace.snapshot import Snapshot

NO_COPY = "no copy of what it was is kept"
CHANGED = "it was changed since"
OPEN = "it is open in the editor: close it there, then undo again"
WRITABLE = 0o700
TRIES = 3


class UndoMarks(Protocol):
    def mark_undone(self, changes: Sequence[LoggedChange]) -> None: ...


class _Work(NamedTuple):
    change: LoggedChange
    before: FileState | None
    after: FileState | None

    @property
    def path(self) -> Path:
        return self.change.path


class CommandUndo:
    """`changes`: the changes of one command, each of a different path."""

    def __init__(
        self, changes: Sequence[LoggedChange], log: UndoMarks, files: Files, copies: Copies, wording: Wording
    ) -> None:
        self._works = [
            _Work(change, _state(change.before), _state(change.after)) for change in changes if not change.undone
        ]
        self._log = log
        self._files = files
        self._copies = copies
        self._wording = wording
        self._done: list[LoggedChange] = []
        self._restored: list[Path] = []
        self._folders: list[Path] = []
        self._kept: dict[Path, str] = {}

    async def undo(self) -> UndoResult:
        """Another `CommandUndo` can try again what was kept."""
        works = [work for work in self._works if self._is_inside(work)]
        now = await self._files.states([(work.path, work.after) for work in works])
        todo: list[tuple[_Work, FileState | None]] = []
        edits: list[tuple[_Work, FileState | None]] = []
        for work, state in zip(works, now, strict=True):
            work = work._replace(before=_wanted(work, state))
            if state == work.before or (work.after is None and _has_bytes_of(state, work.before)):
                self._done.append(work.change)
            elif self._is_for_the_editor(work, state):
                edits.append((work, state))
            elif reason := self._why_kept(work, state):
                self._kept[work.path] = reason
            else:
                todo.append((work, state))
        await self._put(todo)
        for work, state in edits:
            await self._edit(work, state)
        self._log.mark_undone(self._done)
        restored = self._restored or self._folders  # folders are reported only if there is nothing else
        return UndoResult(tuple(dict.fromkeys(restored)), tuple(self._kept.items()), commands=True)

    def _is_inside(self, work: _Work) -> bool:
        inside = self._files.is_inside(work.path)
        if not inside:
            self._kept[work.path] = f"{self._files.display(work.path)} is outside the workspace"
        return inside

    def _is_for_the_editor(self, work: _Work, state: FileState | None) -> bool:
        """Whether to change its text line by line, because it was changed since, or is open with another text."""
        if not _are_files(work.before, work.after, state) or _has_bytes_of(state, work.before):
            return False
        if (buffer := self._files.buffer(work.path)) is None:
            return not _has_bytes_of(state, work.after)
        before = self._text(work.before)
        return before is not None and buffer.text != before[0]

    def _why_kept(self, work: _Work, state: FileState | None) -> str:
        if work.before is not None and work.before.kind is StateKind.FILE and work.before.digest is None:
            return NO_COPY
        if state == work.after or _are_files(work.before, work.after, state):
            buffer = self._files.buffer(work.path)
            if work.before is None and buffer is not None and not self._shows(buffer, state):
                return self._wording.not_ours
            return ""
        if work.before is None:
            return self._wording.not_ours
        if work.after is None:
            return TAKEN
        return DELETED if state is None else CHANGED

    def _shows(self, buffer: Snapshot, state: FileState | None) -> bool:
        """Whether an open document has the text of its file."""
        try:
            return state is not None and decode(self._files.read_bytes(buffer.path))[0] == buffer.text
        except WorkspaceError:
            return False

    async def _put(self, todo: Sequence[tuple[_Work, FileState | None]]) -> None:
        """Make the steps that need no editor."""
        works = {work.path: work for work, _ in todo}
        for steps in _in_order(todo, self._copies):
            for step, problem in zip(steps, await self._files.put(steps), strict=True):
                work = works[step.path]
                if problem and step.wanted is None and _is_folder(step):
                    self._done.append(work.change)  # the folder contains something, which stays
                elif problem:
                    self._kept[step.path] = problem
                elif step.wanted == work.before:
                    self._done.append(work.change)
                    (self._folders if _is_folder(step) else self._restored).append(step.path)

    async def _edit(self, work: _Work, state: FileState | None) -> None:
        """Undo the change in the current text."""
        before, after = self._text(work.before), self._text(work.after)
        if before is None or after is None:
            self._kept[work.path] = OPEN if self._files.buffer(work.path) is not None else CHANGED
            return
        reason, conflicts = "you kept typing in it", 0
        for _ in range(TRIES):
            try:
                current = self._files.read(work.path)
            except FileMissing:
                reason = DELETED
                break
            except NotText:
                reason = CHANGED
                break
            edit, conflicts, total = await in_thread(inverse_edit, [(before[0], after[0])], current)
            reason = f"{conflicts} of {total} changes were changed again since" if conflicts else ""
            if not edit.hunks:
                break
            whole = ProposedEdit.between(current, edit.after)
            outcome = await self._files.apply(whole, self._wording.label)
            if isinstance(outcome, Applied):
                self._restored.append(work.path)
                break
            reason = outcome.reason
        if reason:
            self._kept[work.path] = reason
            return
        await self._restore_mode(work, state)
        self._done.append(work.change)

    async def _restore_mode(self, work: _Work, state: FileState | None) -> None:
        if work.before is None or work.after is None or work.before.mode == work.after.mode:
            return
        (now,) = await self._files.states([(work.path, None)])
        if now is not None and state is not None and now.kind is StateKind.FILE and now.mode == work.after.mode:
            (problem,) = await self._files.put([FileStep(work.path, now, replace(now, mode=work.before.mode))])
            if problem:
                self._kept[work.path] = problem

    def _text(self, state: FileState | None) -> tuple[str, Encoding] | None:
        """The text of a copy; None if it is not text, or too long."""
        if state is None or state.digest is None:
            return None
        data = self._copies.read(state.digest, LARGEST_FILE)
        try:
            return None if data is None else decode(data)
        except NotText:
            return None


def _in_order(todo: Sequence[tuple[_Work, FileState | None]], copies: Copies) -> list[list[FileStep]]:
    """Steps that can be made together, in the order of the groups."""
    unlocked, removed, folders, files, modes = [], [], [], [], []
    for work, now in sorted(todo, key=lambda one: one[0].path):
        before = work.before
        if before is None:
            removed.append(FileStep(work.path, now, None))
        elif before.kind is not StateKind.FOLDER:
            digest = before.digest
            files.append(FileStep(work.path, now, before, None if digest is None else copies.path(digest)))
        else:
            usable = replace(before, mode=before.mode | WRITABLE)
            if now is not None and now.kind is StateKind.FOLDER:
                unlocked.append(FileStep(work.path, now, replace(now, mode=now.mode | WRITABLE)))
                usable = replace(now, mode=now.mode | WRITABLE)
            else:
                folders.append(FileStep(work.path, now, usable))
            modes.append(FileStep(work.path, usable, before))
    # A folder can be removed, or get its final mode, only after its content is done.
    return [steps for steps in (unlocked, removed[::-1], folders, files, modes[::-1]) if steps]


def _wanted(work: _Work, now: FileState | None) -> FileState | None:
    """What was there before, except for a mode that was changed since, and for bytes that only the user changed."""
    before, after = work.before, work.after
    if before is None or after is None or now is None or not _are_files(before, after, now):
        return before
    mode = before.mode if now.mode == after.mode else now.mode
    return replace(now if before.content == after.content else before, mode=mode)


def _has_bytes_of(now: FileState | None, other: FileState | None) -> bool:
    return _are_files(now, other) and now is not None and other is not None and now.content == other.content


def _is_folder(step: FileStep) -> bool:
    state = step.wanted or step.now
    return state is not None and state.kind is StateKind.FOLDER


def _are_files(*states: FileState | None) -> bool:
    return all(state is not None and state.kind is StateKind.FILE for state in states)


def _state(text: str | None) -> FileState | None:
    return None if text is None else FileState.parse(text)
