"""Undo and redo of turns of this workspace, including turns of earlier servers. Reports the result to clients."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from tark_lsp.errors import RequestError
from tark_lsp.folders import checkpoints_path, copies_folder, running_commands_folder
from tark_lsp.review.outside import OutsideChanges
from tark_lsp.server.editing.saving import Saving
from tark_lsp.server.turns.turn_records import TurnRecords
from tark_lsp.sessions.store import SessionStore
from tark_lsp.tools.command_checkpoint import list_not_ignored
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.commands.command_checkpoints import CommandCheckpoints
from tark_lsp.workspace.checkpoints.store import CheckpointStore
from tark_lsp.workspace.checkpoints.turn_undo import UndoResult
from tark_lsp.workspace.documents import DocumentEvent, Documents, Saved
from tark_lsp.workspace.files import Workspace


def unkept(problem: str, lost: bool, in_memory: bool) -> str:
    """What to tell the user if the file of the checkpoints cannot be used."""
    before = " Earlier changes can no longer be undone." if lost else ""
    if not in_memory:
        return f"Tark: changes are now recorded in a new file ({problem}).{before}"
    return (
        f"Tark: changes cannot be recorded on disk ({problem}). They can be undone while this server runs, "
        f"but not after it stops.{before} See docs/undo.md."
    )


def make_checkpoints(warn: Callable[[str], None], title: Callable[[str], str], workspace: Workspace) -> Checkpoints:
    """If the workspace is in memory, no other process can undo its edits, so nothing is recorded on disk.

    `title(turn_id)` is the title of a turn.
    """
    if workspace.in_memory:
        return Checkpoints(CheckpointStore(_nowhere, lambda *_: None))
    store = CheckpointStore(checkpoints_path, lambda *problem: warn(unkept(*problem)))
    return Checkpoints(store, lambda turn_id: (title(turn_id), workspace.folders), copies_folder)


def make_commands(checkpoints: Checkpoints, documents: Documents) -> CommandCheckpoints:
    """What the user saves while a command runs does not count as a change by the command."""
    commands = CommandCheckpoints(checkpoints, running_commands_folder, list_not_ignored)

    def note_saved(event: DocumentEvent) -> None:
        if isinstance(event, Saved) and event.document.path is not None:
            commands.note_written(event.document.path)

    documents.listen(note_saved)
    return commands


def _nowhere() -> Path:
    raise OSError("nothing is recorded on disk")


class TurnUndoing:
    """A turn in a fork is a copy of another turn. Undoing it undoes the changes of the original turn."""

    def __init__(
        self,
        checkpoints: Checkpoints,
        workspace: Workspace,
        documents: Documents,
        records: TurnRecords,
        outside: OutsideChanges,
        store: SessionStore,
        saving: Saving,
        commands: CommandCheckpoints,
    ) -> None:
        self._checkpoints = checkpoints
        self._commands = commands
        self._workspace = workspace
        self._documents = documents
        self._records = records
        self._outside = outside
        self._store = store
        self._saving = saving

    async def undo(self, turn_id: str) -> UndoResult:
        """Raises RequestError for a turn that is running, or is not of this workspace."""
        await self._commands.recover()
        origin = self._checked(turn_id)
        return await self._change(origin, self._outside.undo(origin, self._workspace))

    async def redo(self, turn_id: str) -> UndoResult:
        """Raises RequestError as `undo` does."""
        origin = self._checked(turn_id)
        return await self._change(origin, self._outside.redo(origin, self._workspace))

    async def _change(self, origin: str, work: Awaitable[UndoResult]) -> UndoResult:
        clean = {path for path in self._documents.paths() if not self._is_dirty(path)}
        result = await work
        for path in result.restored:
            self._saving.save_if_clean(path, path in clean)
        self._tell(origin)
        return result

    def _is_dirty(self, path: Path) -> bool:
        document = self._documents.at(path)
        return document is not None and document.dirty

    async def preview_undo(self, turn_ids: Sequence[str]) -> UndoResult:
        """What undo of these turns, one after another, would do now."""
        await self._commands.recover()
        origins = [self._checked(turn_id) for turn_id in turn_ids]
        return (await self._checkpoints.preview_undo(origins, self._workspace)).undone

    def changed_here(self, turn_id: str) -> bool:
        """Did the turn change a file of the workspace, or an open document outside of it?"""
        return any(
            self._workspace.is_inside(path) or self._documents.at(path) is not None
            for path in self._checkpoints.changed_paths(self._origin(turn_id))
        )

    def restorable(self, turn_ids: Iterable[str]) -> set[Path]:
        """The files that these turns changed, and that undo restores."""
        return {path for turn_id in turn_ids for path in self._checkpoints.changed_paths(self._origin(turn_id))}

    def refuse_if_active(self, turn_id: str) -> None:
        """Raises RequestError if the turn, or the turn that it is a copy of, runs or waits."""
        if self._records.is_active(turn_id) or self._records.is_active(self._origin(turn_id)):
            raise RequestError("turnId: the turn is still running", hint="cancel it first, or wait for its end")

    def _checked(self, turn_id: str) -> str:
        """Return the id of the turn under which its changes are recorded."""
        self.refuse_if_active(turn_id)
        if not self.changed_here(turn_id) and not self._has_changed_nothing(turn_id):
            raise RequestError(f"turnId: there is no turn {turn_id!r}")
        return self._origin(turn_id)

    def _origin(self, turn_id: str) -> str:
        row = self._store.log.find_turn(turn_id)
        return turn_id if row is None else row.origin

    def _has_changed_nothing(self, turn_id: str) -> bool:
        """Is it a turn of this server, or a turn of an earlier server that changed no file?"""
        if self._records.get_turn(turn_id) is not None:
            return True
        return self._records.is_known(turn_id) and not self._checkpoints.changed_paths(self._origin(turn_id))

    def _tell(self, origin: str) -> None:
        """Send the update `undone` for the turn and its copies, if it changed anything."""
        if not self._checkpoints.changed_paths(origin):
            return
        undone = self._checkpoints.undone_turns([origin]).get(origin)
        turn_ids = dict.fromkeys([origin, *(turn.id for turn in self._store.log.copies_of(origin))])
        for turn_id in turn_ids:
            self._records.updates_of(turn_id).send("undone", undone=undone)
