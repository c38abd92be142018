"""`tark.turn.undo`: takes back what a turn changed, one of this server or of an earlier one in this workspace."""

from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server import protocol
from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.review.hunks_json import HunksJson
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.server.turns.turns import Turns
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.files import Workspace


def unkept(problem: str, lost: bool, in_memory: bool) -> str:
    """What to tell the person when the file of the checkpoints cannot be used."""
    before = " What was changed until now cannot be undone any more." if lost else ""
    if not in_memory:
        return f"Tark: changes are noted in a new file from now on ({problem}).{before}"
    return (
        f"Tark: changes cannot be noted on disk ({problem}). They can be undone while this server runs, "
        f"but not after it ended.{before} docs/undo.md tells what to do."
    )


class UndoCommand:
    def __init__(
        self,
        checkpoints: Checkpoints,
        workspace: Workspace,
        documents: Documents,
        turns: Turns,
        reviews: Reviews,
        hunks: HunksJson,
    ) -> None:
        self._checkpoints = checkpoints
        self._workspace = workspace
        self._documents = documents
        self._turns = turns
        self._reviews = reviews
        self._hunks = hunks

    async def undo(self, request: protocol.TurnId, _: Any) -> Any:
        """Raises RequestError for a turn that runs, or is none of this workspace."""
        turn_id = request.turn_id
        if any(record.id == turn_id for record in self._turns.active()):
            raise RequestError("turnId: the turn is still running", hint="cancel it first, or wait for its end")
        if not self._is_stored(turn_id):
            self._turns.find(turn_id)  # one that changed nothing, or there is none
        async with self._reviews.still(self._checkpoints.touched(turn_id)):
            undone = await self._checkpoints.undo(turn_id, self._workspace)
            kept = {path for path, _ in undone.kept}
            self._reviews.undone(turn_id, [path for path in (*undone.restored, *undone.left) if path not in kept])
        return {
            "restored": [self._hunks.uri(path) for path in undone.restored],
            "kept": [{"uri": self._hunks.uri(path), "reason": reason} for path, reason in undone.kept],
        }

    def _is_stored(self, turn_id: str) -> bool:
        """A document may be open with no folder around it."""
        return any(
            self._workspace.is_inside(path) or self._documents.at(path) is not None
            for path in self._checkpoints.touched(turn_id)
        )
