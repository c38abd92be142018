"""Undoes the changes of a turn, the last one first: exactly if nothing was changed since, else line by line.

All edits of a file are undone by one edit, which is one undo step in an editor. Moves, removals and creations are
undone one by one, in reverse order, so that their paths are free, as when they were made.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from tark_lsp.errors import FileMissing, FileTooLarge, NotText, OutsideWorkspace, WorkspaceError
from tark_lsp.workspace.checkpoints.dry_run import Files
from tark_lsp.workspace.checkpoints.file_histories import FileHistory, histories_of
from tark_lsp.workspace.checkpoints.history_inverse import NOT_OURS, HistoryInverse
from tark_lsp.workspace.checkpoints.store import LoggedChange, StoredBytes
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.placing.thread import in_thread
from tark_lsp.workspace.snapshot import Snapshot

TRIES = 50
"""How often to retry a file because the user typed in it meanwhile, or another server wrote it."""
DELETED = "it was deleted since"
TAKEN = "there is another file where it was"
LINKED = "there is a link where it was, to a file the agent did not change"


@dataclass(frozen=True, slots=True)
class Wording:
    """`label`: the label of the edits. `not_ours`: why a file is not removed."""

    label: str
    not_ours: str


UNDO = Wording("Undo Tark", NOT_OURS)
REDO = Wording("Redo Tark", "undo brought it back, and it was changed since")


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The result of an undo. Files are named by their current paths.

    - `kept`: files that stay as they are, each with the reason; files that are also in `restored` stay in part.
    - `left`: the paths from which files were moved back.
    - `commands`: commands changed something, so files that Git ignores may still differ.
    - `edits`: the edits that were made, in order. What the user typed meanwhile is between them.
    """

    restored: tuple[Path, ...]
    kept: tuple[tuple[Path, str], ...]
    left: tuple[Path, ...] = ()
    commands: bool = False
    edits: tuple[ProposedEdit, ...] = field(default=(), compare=False)

    def followed_by(self, later: "UndoResult") -> "UndoResult":
        """The combined result. For a file that was kept twice, the last reason counts."""
        return UndoResult(
            tuple(dict.fromkeys((*self.restored, *later.restored))),
            tuple({**dict(self.kept), **dict(later.kept)}.items()),
            tuple(dict.fromkeys((*self.left, *later.left))),
            self.commands or later.commands,
            (*self.edits, *later.edits),
        )


@dataclass(frozen=True, slots=True)
class UndoPreview:
    """What undo would do now, as edits of the current files, and what it would report."""

    edits: tuple[ProposedEdit, ...]
    undone: UndoResult


class UndoLog(Protocol):
    """The log of the turn that is undone. Undo records its own edits, too, so that partial undo is not repeated."""

    def stored(self, digest: str) -> StoredBytes: ...
    def record_edit(self, path: Path, before: str, after: str) -> int: ...
    def settle_change(self, change: int, outcome: Outcome) -> None: ...
    def mark_undone(self, changes: Sequence[LoggedChange]) -> None: ...


@dataclass(slots=True, eq=False)
class _Work:
    """The state of one file while it is restored."""

    history: FileHistory
    begun: bool = False
    over: bool = False
    """Nothing is left to try."""
    restored: bool = False
    reason: str = ""
    not_moved: str = ""
    """Why the last attempt to move it failed."""


class TurnUndo:
    """Undoes the changes of one log once; on the workspace, or on `DryRunFiles` to see what would happen.

    The changes are the changes of a turn, or of its undo. In the latter case, this is a redo.
    """

    def __init__(self, changes: Sequence[LoggedChange], log: UndoLog, files: Files, wording: Wording = UNDO) -> None:
        self._wording = wording
        self._inverse = HistoryInverse(log.stored)
        self._files = files
        self._log = log
        self.absent = [change for change in changes if not self._was_made(change)]
        """Changes that seem not to have been made. A server that still runs may be about to make one."""
        histories = histories_of([change for change in changes if change not in self.absent])
        self._works = [_Work(history) for history in histories if not history.undone]
        self._left: list[Path] = []
        self._edits: list[ProposedEdit] = []

    async def undo(self) -> UndoResult:
        """Another `TurnUndo` can try again what was kept, and finds that the rest is done."""
        todo = [(change, work) for work in self._works for change in work.history.changes if not change.undone]
        for change, work in sorted(todo, key=lambda pair: -pair[0].number):
            try:
                if not work.begun:
                    work.begun = True
                    await self._undo_file(work)
                if change.kind == "move" and not work.over:
                    await self._move_back(work, change)
            except WorkspaceError as error:
                work.over = True
                work.reason = work.reason or error.message
        reasons = ((work.history.place, work.reason or work.not_moved) for work in self._works)
        return UndoResult(
            tuple(dict.fromkeys(work.history.place for work in self._works if work.restored)),
            tuple({place: reason for place, reason in reasons if reason}.items()),
            tuple(dict.fromkeys(self._left)),
            edits=tuple(self._edits),
        )

    async def _undo_file(self, work: _Work) -> None:
        """Undo everything except the moves of the file."""
        history = work.history
        if history.created:
            work.over = True
            if history.removal is None:
                await self._remove(work)
            elif history.is_only_agents(history.removal.before):
                self._mark(work, history.changes)  # the turn created and removed it
            else:
                await self._bring_back(work, history.removal)
        elif history.removal is not None:
            await self._bring_back(work, history.removal)
        elif history.edits:
            await self._undo_edits(work)

    async def _remove(self, work: _Work) -> None:
        history = work.history

        async def attempt() -> Outcome:
            try:
                current = self._read(history.place)
            except FileMissing:
                return Applied(Snapshot(history.place, "", exists=False))
            ours = history.is_only_agents(current.digest)
            return await self._files.remove(current) if ours else Refused(self._wording.not_ours)

        work.reason = await _try(attempt)
        if not work.reason:
            work.restored = True
            self._mark(work, history.changes)

    async def _bring_back(self, work: _Work, removal: LoggedChange) -> None:
        history = work.history
        self._inverse.read_stored(history)
        data, conflicts = await in_thread(self._inverse.before_removal, history, removal)

        async def attempt() -> Outcome:
            try:
                there = self._files.read_bytes(history.place)
            except FileMissing:
                return await self._files.restore(history.place, data, removal.mode)
            return Applied(Snapshot(history.place, "")) if there == data else Refused(TAKEN)

        work.reason = await _try(attempt)
        if work.reason:
            work.over = True
        else:
            work.restored, work.reason = True, conflicts
            done = ("remove",) if conflicts else ("remove", "edit")
            self._mark(work, [change for change in history.changes if change.kind in done])

    async def _undo_edits(self, work: _Work) -> None:
        history = work.history
        conflicts = ""
        changed = False

        async def attempt() -> Outcome:
            nonlocal conflicts, changed
            try:
                current = self._read(history.place)
            except FileMissing:
                return Refused(DELETED)
            self._inverse.read_stored(history)
            edit, conflicts = await in_thread(self._inverse.of_edits, history, current)
            changed = bool(edit.hunks)
            return await self._apply(work, edit) if changed else Applied(current)

        work.reason = await _try(attempt)
        if not work.reason:
            confirmed = any(change.confirmed for change in history.changes)
            work.restored, work.reason = changed or (confirmed and not conflicts), conflicts
            if not conflicts:
                self._mark(work, [change for change in history.changes if change.kind == "edit"])

    async def _apply(self, work: _Work, edit: ProposedEdit) -> Outcome:
        before, after = edit.base.text, edit.after
        number = self._log.record_edit(edit.path, before, after)
        outcome = await self._files.apply(edit, self._wording.label)
        self._log.settle_change(number, outcome)
        if isinstance(outcome, Applied):
            self._edits.append(edit)
            digests = edit.base.digest, edit.drafted.digest
            work.history.changes.append(LoggedChange(number, "edit", edit.path, None, *digests, 0, True, False))
        return outcome

    async def _move_back(self, work: _Work, move: LoggedChange) -> None:
        history = work.history
        place = history.place

        async def attempt() -> Outcome:
            try:
                current = self._read(place)
            except FileMissing:
                there = self._exists(move.path)
                return Applied(Snapshot(move.path, "")) if there else Refused(DELETED)
            return await self._files.move(current, move.path)

        work.not_moved = await _try(attempt)
        if not work.not_moved:
            work.restored = True
            self._left.append(place)
            # If a path in between is taken, the file goes from the last path to the first at once.
            later = [change for change in history.changes if change.number >= move.number and change.kind == "move"]
            self._mark(work, later)

    def _read(self, place: Path) -> Snapshot:
        """Raises FileMissing, and WorkspaceError also if the path is a link to another file."""
        current = self._files.read(place)
        if current.path != place:
            raise WorkspaceError(LINKED)
        return current

    def _was_made(self, change: LoggedChange) -> bool:
        """Whether a move or removal was made whose end the server did not see.

        For an edit, `HistoryInverse` finds it out from the texts.
        """
        if change.confirmed or change.undone or change.kind == "edit":
            return True
        try:
            return not self._exists(change.path) and (change.target is None or self._exists(change.target))
        except OutsideWorkspace:
            return True  # this cannot be found out here, and nothing will be done

    def _exists(self, path: Path) -> bool:
        try:
            self._files.read_bytes(path)
        except FileMissing:
            return False
        except (NotText, FileTooLarge):
            pass
        return True

    def _mark(self, work: _Work, changes: Sequence[LoggedChange]) -> None:
        self._log.mark_undone(changes)
        work.history.changes = [
            replace(change, undone=change.undone or change in changes) for change in work.history.changes
        ]


async def _try(attempt: Callable[[], Awaitable[Outcome]]) -> str:
    """Run `attempt` until it succeeds or is refused. Returns why it was not done; empty if it was."""
    reason = "you kept typing in it"
    for _ in range(TRIES):
        match await attempt():
            case Applied():
                return ""
            case Refused(why):
                return why
            case Stale(why):
                reason = why
    return reason
