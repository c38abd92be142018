"""Checkpoints: what each turn changed, recorded before it happens, and undone without touching what the user wrote."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from tark_lsp.errors import WorkspaceError
from tark_lsp.workspace.checkpoints.commands.command_undo import CommandUndo
from tark_lsp.workspace.checkpoints.commands.copies import Copies
from tark_lsp.workspace.checkpoints.dry_run import DryRunFiles, Files
from tark_lsp.workspace.checkpoints.file_histories import FileHistory, histories_of
from tark_lsp.workspace.checkpoints.recorded_files import RecordedFiles
from tark_lsp.workspace.checkpoints.schema import undo_log_of
from tark_lsp.workspace.checkpoints.store import CheckpointStore, LoggedChange
from tark_lsp.workspace.checkpoints.turn_undo import REDO, UNDO, TurnUndo, UndoPreview, UndoResult, Wording
from tark_lsp.workspace.file_state import FileChange
from tark_lsp.workspace.outcomes import Applied, Outcome

About: TypeAlias = Callable[[str], tuple[str, Sequence[Path]]]
"""Returns the title of a turn and the folders of its workspace, given its id."""
Undone: TypeAlias = Literal["all", "partly"]
"""How much of a turn is undone. `partly`: undo or redo kept some of its files."""


class Checkpoints:
    """Each change is recorded just before it is made, because the server can be killed in between; `settle_change`
    then records the outcome. Edits are recorded as texts, since they keep the encoding of the file.

    Each turn has two logs: what it changed, and what its undo changed. Undo undoes the first log and records this in
    the second log; redo does the reverse. So redo follows the rules of undo, and both can be repeated.
    """

    def __init__(
        self,
        store: CheckpointStore,
        about: About = lambda _: ("", ()),
        copies_folder: Callable[[], Path] | None = None,
    ) -> None:
        """`copies_folder()`: the folder for copies of what commands change. Its parent exists. It can raise OSError."""
        self._store = store
        self.commands = store.commands
        self.copies = Copies(copies_folder or _nowhere)
        self._about = about
        self._undoing = asyncio.Lock()

    def record_edit(self, turn_id: str, path: Path, before: str | None, after: str, follows: int = 0) -> int:
        """Record an edit with the text before (None: there is no file) and after it. Returns the number of the change.

        This distinguishes what the user typed between two edits from the agent's text. `follows`: the edit undoes
        something in the part of the log that ends with this change.
        """
        self._begin(turn_id)
        old = None if before is None else _bytes(before)
        return self._store.add_change(turn_id, "edit", path, before=old, after=_bytes(after), mode=follows)

    def record_move(self, turn_id: str, source: Path, target: Path) -> int:
        """Record a move that does not change the text. Returns the number of the change."""
        self._begin(turn_id)
        return self._store.add_change(turn_id, "move", source, target=target)

    def record_removal(self, turn_id: str, path: Path, data: bytes, mode: int) -> int:
        """Record a removal: `data` is the whole file, `mode` its permission bits. Returns the number of the change."""
        self._begin(turn_id)
        return self._store.add_change(turn_id, "remove", path, before=data, mode=mode)

    def removed_content(self, turn_id: str, path: Path) -> tuple[bytes, int, int]:
        """The bytes and the mode of a file that the turn removed, and the number of that change.

        Raises WorkspaceError if they are no longer stored.
        """
        for change in reversed(self._store.changes(turn_id)):
            if change.kind == "remove" and change.path == path and change.before is not None and not change.undone:
                return self._store.content(change.before), change.mode, change.number
        raise WorkspaceError("no copy of it is kept any more")

    def record_command(self, turn_id: str, changes: Sequence[FileChange]) -> list[int]:
        """Record what a command changed, or what is about to be changed in the same way. Returns the numbers.

        The state of the file shows whether a change was made, so it needs no outcome.
        """
        self._begin(turn_id)
        return self._store.commands.add(turn_id, changes)

    def settle_change(self, change: int, outcome: Outcome) -> None:
        """Record the outcome of a change. If this is never called, undo decides by what it finds."""
        if isinstance(outcome, Applied):
            self._store.confirm_change(change)
        else:
            self._store.drop_change(change)

    def changed_paths(self, turn_id: str) -> tuple[Path, ...]:
        """Every path at which the turn changed something, even if that was undone; empty for an unknown turn."""
        changes = self._store.changes(turn_id)
        paths = (path for change in changes for path in (change.path, change.target) if path is not None)
        return tuple(dict.fromkeys(paths))

    def histories(self, turn_id: str) -> list[FileHistory]:
        """What the turn did to each file, in the order of their first changes."""
        return histories_of(self._store.changes(turn_id))

    def undone_turns(self, turn_ids: Iterable[str]) -> dict[str, Undone]:
        """Which of these turns are undone, so that redo has something to do."""
        wanted = [*turn_ids]
        standing = self._store.standing([*wanted, *map(undo_log_of, wanted)])
        return {
            turn_id: "partly" if turn_id in standing else "all"
            for turn_id in wanted
            if undo_log_of(turn_id) in standing
        }

    async def undo(self, turn_id: str, files: Files) -> UndoResult:
        """Undo the turn's changes, each only once. A second call tries again what was kept."""
        return await self._take_back(turn_id, undo_log_of(turn_id), files, UNDO)

    async def redo(self, turn_id: str, files: Files) -> UndoResult:
        """Redo what was undone of the turn, each change only once."""
        return await self._take_back(undo_log_of(turn_id), turn_id, files, REDO)

    async def preview_undo(self, turn_ids: Sequence[str], files: Files) -> UndoPreview:
        """What `undo` of these turns, one after another, would do now. Runs it on `DryRunFiles` to find out."""
        dry_run, done = DryRunFiles(files), UndoResult((), ())
        for turn_id in turn_ids:
            log = _DryRunLog(self._store)
            for part in parts_of(self._store.changes(turn_id)):
                if part[0].kind == "file":
                    undone = await CommandUndo(part, log, dry_run, self.copies, UNDO).undo()
                else:
                    undone = await TurnUndo(part, log, dry_run).undo()
                done = done.followed_by(undone)
        return UndoPreview(tuple(reversed(dry_run.edits)), done)  # in the order in which the changes were made

    async def _take_back(self, log_id: str, record_as: str, files: Files, wording: Wording) -> UndoResult:
        async with self._undoing:
            recorded, done = RecordedFiles(files, self, record_as), UndoResult((), ())
            parts = parts_of(self._store.changes(log_id))
            for part in parts:
                log = _TurnLog(log_id, self, self._store, part[-1].number if part is not parts[0] else 0)
                if part[0].kind == "file":
                    done = done.followed_by(await CommandUndo(part, log, recorded, self.copies, wording).undo())
                else:
                    undo = TurnUndo(part, log, recorded, wording)
                    done = done.followed_by(await undo.undo())
                    self._store.drop_unconfirmed(undo.absent)
            return done

    def _begin(self, turn_id: str) -> None:
        self._store.begin_turn(turn_id, *self._about(turn_id))


def parts_of(changes: Sequence[LoggedChange]) -> list[list[LoggedChange]]:
    """Groups of changes that are undone together, in the order of undo: changes of one command, or all between two."""
    parts: list[list[LoggedChange]] = []
    last: object = None
    for change in sorted(changes, key=lambda change: change.order):
        kind = change.mode if change.kind == "file" else None
        if not parts or kind != last:
            parts.append([])
        parts[-1].append(change)
        last = kind
    return parts[::-1]


def _nowhere() -> Path:
    raise OSError("copies are not kept")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class _TurnLog:
    """The `UndoLog` of one turn, or of its undo."""

    def __init__(self, log_id: str, checkpoints: Checkpoints, store: CheckpointStore, follows: int) -> None:
        self._log_id = log_id
        self._follows = follows
        self._checkpoints = checkpoints
        self.stored = store.stored
        self.mark_undone = store.mark_undone
        self.settle_change = checkpoints.settle_change

    def record_edit(self, path: Path, before: str, after: str) -> int:
        return self._checkpoints.record_edit(self._log_id, path, before, after, self._follows)


class _DryRunLog:
    """Reads only."""

    def __init__(self, store: CheckpointStore) -> None:
        self.stored = store.stored

    def record_edit(self, *_: object) -> int:
        return 0

    def settle_change(self, *_: object) -> None:
        pass

    def mark_undone(self, *_: object) -> None:
        pass
