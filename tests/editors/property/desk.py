"""The parts of the server that edits go through, as `App` puts them together, before one model of an editor."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from tark_lsp.agent.user_interface import PermissionRequest
from tark_lsp.review.decisions import Reviews
from tark_lsp.review.outside import OutsideChanges
from tark_lsp.review.saves import Saves
from tark_lsp.server.asking.permission import PermissionEvent, Permissions, TurnCancelled
from tark_lsp.server.asking.permission_asking import PermissionAsking
from tark_lsp.server.asking.preview import Preview
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.asking.waiting_permission import WaitingPermission
from tark_lsp.server.editing.apply import EditorBuffers
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.server.protocol.incoming import PermissionReply
from tark_lsp.server.turns.turn_user import TurnUser
from tark_lsp.tools.tool import Risk, ToolContext, ToolKind
from tark_lsp.workspace.checkpoints.turn_undo import UndoResult
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tests.checkpoints import checkpoints_in_memory
from tests.editors.property.model_editor import ModelEditor
from tests.memory import MemoryEditor


class AnsweredPermissions(Permissions):
    """`answered` is called with each answer that comes before the question is closed."""

    answered: Callable[[PermissionReply], None]

    def resolve(self, waiting: WaitingPermission, reply: PermissionReply) -> None:
        if not waiting.answer.done():
            self.answered(reply)
        super().resolve(waiting, reply)


class Desk:
    def __init__(
        self,
        folder: Path,
        editor: ModelEditor,
        answered: Callable[[PermissionReply], None] = lambda _: None,
        *,
        in_place: bool = False,
    ) -> None:
        """`in_place`: the client reviews in place, so that no save decides anything."""
        loop = asyncio.get_running_loop()
        self.editor = editor
        self.documents = editor.documents = Documents("utf-16", loop.time)
        self.workspace = Workspace([folder], EditorBuffers(editor, self.documents))
        self.checkpoints = checkpoints_in_memory()
        self.reviews = Reviews(self.workspace, self.documents, self.checkpoints)
        self.outside = OutsideChanges(self.reviews, self.documents, self.checkpoints)
        self.saves = Saves(self.reviews, self.documents, self.checkpoints, accepts=not in_place)
        questions = Questions(editor, self.documents)
        hunks = HunksJson(self.documents, self.reviews.hunks)
        show = TextDisplay(editor, questions)
        self.permissions = AnsweredPermissions(self.documents, self.workspace, hunks, show)
        self.permissions.answered = answered
        self.permissions.listen(self._on_permission_event)
        preview = Preview(editor, self.documents, self.reviews, self.outside)
        self.asking = PermissionAsking(editor, self.permissions, questions, preview)
        self.turns: dict[str, asyncio.Task[object]] = {}

    def propose(self, turn_id: str, edits: tuple[ProposedEdit, ...], *, ask: bool, after: bool) -> None:
        context = ToolContext(self.workspace, MemoryEditor())
        person = TurnUser(
            turn_id, "session", context, self.asking, self.reviews, review_after=lambda: after, comment=None
        )
        request = PermissionRequest(("call",), "edit", ToolKind.EDIT, Risk.WRITE, "", f"digest-{turn_id}", None, edits)
        self.turns[turn_id] = asyncio.ensure_future(person.review_edits(request, ask=ask))

    async def undo(self, turn_id: str) -> UndoResult:
        return await self.outside.undo(turn_id, self.workspace)

    def _on_permission_event(self, event: PermissionEvent) -> None:
        if isinstance(event, TurnCancelled):
            self.turns[event.turn_id].cancel()
