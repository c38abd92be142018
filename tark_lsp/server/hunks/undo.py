"""`tark.turn.undo`: takes back what a turn of this workspace changed, also a turn of an earlier server."""

from collections.abc import Iterable
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.review.outside import OutsideChanges
from tark_lsp.server.commands import Command
from tark_lsp.server.connection.early_answers import EarlyAnswer
from tark_lsp.server.protocol import incoming
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.server.turns.turn_records import TurnRecords
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.uris import path_from_uri


def unkept(problem: str, lost: bool, in_memory: bool) -> str:
    """What to tell the user if the file of the checkpoints cannot be used."""
    before = " Earlier changes can no longer be undone." if lost else ""
    if not in_memory:
        return f"Tark: changes are now recorded in a new file ({problem}).{before}"
    return (
        f"Tark: changes cannot be recorded on disk ({problem}). They can be undone while this server runs, "
        f"but not after it stops.{before} See docs/undo.md."
    )


PENDING = {"restored": [], "kept": [], "pending": True}
"""For an editor that cannot wait: it sends no text while it waits, which undo needs."""


class UndoCommand:
    def __init__(
        self,
        checkpoints: Checkpoints,
        workspace: Workspace,
        documents: Documents,
        records: TurnRecords,
        outside: OutsideChanges,
        hunks: HunksJson,
    ) -> None:
        self._checkpoints = checkpoints
        self._workspace = workspace
        self._documents = documents
        self._records = records
        self._outside = outside
        self._hunks = hunks

    def commands(self) -> Iterable[Command]:
        yield Command("tark.turn.undo", incoming.TurnId, self.undo, early=EarlyAnswer(PENDING, self._outcome))

    async def undo(self, request: incoming.TurnId) -> Any:
        """Raises RequestError for a turn that is running, or is not of this workspace."""
        turn_id = request.turn_id
        if self._records.is_active(turn_id):
            raise RequestError("turnId: the turn is still running", hint="cancel it first, or wait for its end")
        if not self._is_stored(turn_id) and not self._has_changed_nothing(turn_id):
            raise RequestError(f"turnId: there is no turn {turn_id!r}")
        undone = await self._outside.undo(turn_id, self._workspace)
        return {
            "restored": [self._hunks.uri(path) for path in undone.restored],
            "kept": [{"uri": self._hunks.uri(path), "reason": reason} for path, reason in undone.kept],
        }

    def _outcome(self, result: dict[str, Any]) -> str:
        """The message for the user after `PENDING`."""
        names = [self._name(uri) for uri in result["restored"]]
        kept = [f"{self._name(item['uri'])} ({item['reason']})" for item in result["kept"]]
        done = f"the turn is undone in {', '.join(names)}" if names else "nothing was undone"
        return f"Tark: {done}; kept: {', '.join(kept)}" if kept else f"Tark: {done}"

    def _name(self, uri: str) -> str:
        path = path_from_uri(uri)
        return uri if path is None else self._workspace.display(path)

    def _has_changed_nothing(self, turn_id: str) -> bool:
        """Is it a turn of this server, or one of an earlier server that changed no file?"""
        if self._records.get_turn(turn_id) is not None:
            return True
        return self._records.is_known(turn_id) and not self._checkpoints.changed_paths(turn_id)

    def _is_stored(self, turn_id: str) -> bool:
        """Did it change a file of the workspace, or an open document outside of it?"""
        return any(
            self._workspace.is_inside(path) or self._documents.at(path) is not None
            for path in self._checkpoints.changed_paths(turn_id)
        )
