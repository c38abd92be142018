"""`comments.runOnSave`: a `tark:` comment that ends in ` !` runs when the user saves (docs/comments.md)."""

from collections.abc import Callable, Sequence

from tark_lsp.errors import TarkError
from tark_lsp.folders import user_config_path
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.editing.saving import Saving
from tark_lsp.server.prompting.comments import PromptComment
from tark_lsp.server.prompting.inserted_marks import InsertedMarks
from tark_lsp.server.prompting.line_marks import Mark
from tark_lsp.server.prompting.prompt_comments import PromptComments, without_mark
from tark_lsp.server.protocol import incoming
from tark_lsp.server.turns.start_command import StartCommand
from tark_lsp.settings import Settings
from tark_lsp.workspace.documents import DocumentEvent, Documents, Saved, TextDocument
from tark_lsp.workspace.outcomes import Applied, Refused

ATTEMPTS = 10
"""How often the removal of the `!` is tried if the user types at that moment."""


class CommentRuns:
    def __init__(
        self,
        documents: Documents,
        comments: PromptComments,
        marks: InsertedMarks,
        start: StartCommand,
        saving: Saving,
        questions: Questions,
        settings: Callable[[], Settings],
        background: BackgroundTasks,
    ) -> None:
        self._comments = comments
        self._marks = marks
        self._start = start
        self._saving = saving
        self._questions = questions
        self._settings = settings
        self._background = background
        self._running: set[TextDocument] = set()
        self._told_unknown = False
        documents.listen(self._on_document_event)

    def _on_document_event(self, event: DocumentEvent) -> None:
        if isinstance(event, Saved) and event.by_hand and self._settings().comments.run_on_save:
            self._tell_returned(event.document)
            if lines := self._lines_with(event.document, Mark.INSERTED):
                self._saved(event.document, lines, certain=event.certain)

    def _saved(self, document: TextDocument, lines: Sequence[int], *, certain: bool) -> None:
        if not (certain or self._settings().comments.run_on_unknown_save):
            self._tell_unknown()
        elif self._settings().workspace_trusted is False:
            self._marks.set_marks(document, dict.fromkeys(lines))
            self._questions.warn("Tark: the comment is not run, since you do not trust this workspace")
        else:
            self._marks.set_marks(document, dict.fromkeys(lines, Mark.DUE))
            if document not in self._running:
                self._running.add(document)
                self._background.start(self._run_due(document))

    async def _run_due(self, document: TextDocument) -> None:
        """Runs the comments that are due. The `!` is removed first, so that the turn does not see it, and a second save
        does not run the comment again."""
        try:
            attempts = 0
            while (comment := self._next_due(document)) is not None:
                was_clean, attempts = not document.dirty, attempts + 1
                outcome = await self._comments.remove_mark(document, comment)
                if isinstance(outcome, Applied):
                    attempts = 0
                    await self._begin(document, comment, was_clean)
                elif isinstance(outcome, Refused) or attempts == ATTEMPTS:
                    self._forget_due(document)
                    self._questions.warn(
                        f"Tark: the comment is not run, since its ! cannot be removed: {outcome.reason}"
                    )
        finally:
            self._forget_due(document)
            self._running.discard(document)

    async def _begin(self, document: TextDocument, comment: PromptComment, was_clean: bool) -> None:
        line, _ = comment.mark or (comment.start, 0)
        if document.path is not None:
            self._saving.save_if_clean(document.path, was_clean)
        same = [now for now in self._comments.comments_in(document) if now.prompt == comment.prompt]
        found = min(same, key=lambda now: abs(now.start - comment.start), default=None)
        if found is None:  # the user removed it meanwhile
            return
        self._marks.remember_run(document, without_mark(comment), comment.snapshot.lines[line])
        argument = self._comments.start_argument(document, found)
        try:
            await self._start.start(incoming.StartTurn.model_validate(argument))
        except TarkError as error:
            hint = f" ({error.hint})" if error.hint else ""
            self._questions.warn(f"Tark: the comment is not run: {error.message}{hint}")

    def _next_due(self, document: TextDocument) -> PromptComment | None:
        lines = self._lines_with(document, Mark.DUE)
        found = (comment for comment in self._comments.comments_in(document) if comment.mark)
        return next((comment for comment in found if comment.mark and comment.mark[0] in lines), None)

    def _forget_due(self, document: TextDocument) -> None:
        marks = self._marks.marks_in(document)
        self._marks.set_marks(document, {line: None for line, mark in marks.items() if mark is Mark.DUE})

    def _lines_with(self, document: TextDocument, mark: Mark) -> list[int]:
        """The lines of comments that end in a `!` with this mark."""
        if not (marks := self._marks.marks_in(document)):
            return []
        ends = [comment.mark[0] for comment in self._comments.comments_in(document) if comment.mark and comment.prompt]
        return [line for line in ends if marks.get(line) is mark]

    def _tell_returned(self, document: TextDocument) -> None:
        if lines := self._lines_with(document, Mark.RETURNED):
            self._marks.set_marks(document, dict.fromkeys(lines))
            self._questions.tell(
                "Tark: the comment is not run again, since its ! came back by undo, or the file has it already; "
                "to run it, save the file without the !, then type a new one"
            )

    def _tell_unknown(self) -> None:
        if not self._told_unknown:
            self._told_unknown = True
            self._questions.warn(
                "Tark: the comment is not run, since this editor does not tell your saves from automatic ones; "
                f"to run comments on every save, set comments.runOnUnknownSave in {user_config_path()}"
            )
