"""The parts of the server that edits go through, as `App` puts them together, before one model of an editor."""

import asyncio
from pathlib import Path

from tark_lsp.agent.person import PermissionRequest
from tark_lsp.server.asking.permission import Permissions
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.asking.show import Show
from tark_lsp.server.asking.turn_person import TurnPerson
from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.editing.apply import EditorBuffers
from tark_lsp.server.review.hunks_json import HunksJson
from tark_lsp.server.review.preview import Preview
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.tools.tool import Risk, ToolContext, ToolKind
from tark_lsp.workspace.checkpoints.undoing import Undone
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tests.checkpoints import checkpoints_in_memory
from tests.editors.property.model_editor import ModelEditor
from tests.memory import MemoryEditor


class Desk:
    def __init__(self, folder: Path, editor: ModelEditor) -> None:
        loop = asyncio.get_running_loop()
        self.editor = editor
        self.documents = editor.documents = Documents("utf-16", loop.time)
        self.workspace = Workspace([folder], EditorBuffers(editor, self.documents))
        self.checkpoints = checkpoints_in_memory()
        self.reviews = Reviews(
            self.workspace, self.documents, self.checkpoints, lambda _: None, lambda _: None, lambda _, __: None
        )
        questions = Questions(editor, self.documents)
        hunks = HunksJson(self.documents, self.reviews)
        show = Show(editor, questions)
        self.permissions = Permissions(
            editor,
            self.documents,
            self.workspace,
            hunks,
            questions,
            show,
            self._cancel,
            lambda: None,
            Preview(editor, self.documents, self.reviews),
        )
        self.turns: dict[str, asyncio.Task[object]] = {}

    def propose(self, turn_id: str, edits: tuple[ProposedEdit, ...], *, ask: bool, after: bool) -> None:
        context = ToolContext(self.workspace, MemoryEditor())
        person = TurnPerson(
            turn_id, "session", context, self.permissions, self.reviews, review_after=after, comment=None
        )
        request = PermissionRequest(("call",), "edit", ToolKind.EDIT, Risk.WRITE, "", f"digest-{turn_id}", None, edits)
        self.turns[turn_id] = asyncio.ensure_future(person.review(request, ask=ask))

    async def undo(self, turn_id: str) -> Undone:
        async with self.reviews.still(self.checkpoints.touched(turn_id)):
            undone = await self.checkpoints.undo(turn_id, self.workspace)
            kept = {path for path, _ in undone.kept}
            self.reviews.undone(turn_id, [path for path in (*undone.restored, *undone.left) if path not in kept])
        return undone

    def _cancel(self, turn_id: str) -> None:
        self.turns[turn_id].cancel()
