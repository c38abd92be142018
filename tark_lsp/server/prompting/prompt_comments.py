"""The `tark:` comments of open documents: finds them, determines the turn that each starts, and inserts empty ones."""

from dataclasses import dataclass
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server.documents.ranges import definition_after
from tark_lsp.server.documents.targets import Target
from tark_lsp.server.prompting.comments import PromptComment, empty_comment, find_comments
from tark_lsp.server.protocol.outgoing import range_json
from tark_lsp.workspace.documents import Change, Closed, DocumentEvent, Documents, TextDocument
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk, count_lines, ending_of, split_lines
from tark_lsp.workspace.outcomes import Applied, Outcome, Stale
from tark_lsp.workspace.positions import line_length, to_client


def comment_range(comment: PromptComment) -> dict[str, Any]:
    return range_json(comment.start, 0, comment.end, 0)


@dataclass(slots=True)
class InsertedComment:
    """A comment that Tark inserted at `line`, about the `lines` lines directly below it."""

    line: int
    lines: int
    kind: str


class PromptComments:
    def __init__(self, documents: Documents, workspace: Workspace) -> None:
        self._workspace = workspace
        self._inserted: dict[TextDocument, list[InsertedComment]] = {}
        self._found: dict[TextDocument, tuple[int, list[PromptComment]]] = {}
        """A cache of the comments, with the document's number of changes, because every key can request code lenses."""
        self._documents = documents
        documents.listen(self._follow)

    def comments_in(self, document: TextDocument) -> list[PromptComment]:
        changes, found = self._found.get(document, (-1, []))
        if changes != document.changes:
            found = []
            if "tark:" in document.text:
                found = find_comments(document.lines, language_of(document), document.snapshot())
            self._found[document] = document.changes, found
        return found

    def comment_near(self, uri: str, target: Target) -> PromptComment | None:
        """A comment in the target's lines or directly above them, if any."""
        document = self._documents.find_document(uri)
        if document is None or not (found := self.comments_in(document)):
            return None
        text = target.selection.snapshot.text
        first = len(split_lines(text[: target.selection.start] + "|")) - 1
        last = len(split_lines(text[: target.selection.end] + "|")) - 1
        return next((comment for comment in found if first <= comment.end and comment.start <= last), None)

    def turn_of(self, document: TextDocument, comment: PromptComment) -> tuple[str, dict[str, Any] | None]:
        """The kind and range of the comment's turn: those for which it was inserted, else `agent` and the definition
        after it."""
        for inserted in self._inserted.get(document, ()):
            if comment.start <= inserted.line < comment.end:
                end = min(comment.end + inserted.lines, len(document.lines))
                return inserted.kind, self._whole_lines(document, comment.end, end)
        found = definition_after(document.lines, comment.end)
        return "agent", None if found is None else self._whole_lines(document, *found)

    def start_argument(self, document: TextDocument, comment: PromptComment) -> dict[str, Any]:
        """The argument of `tark.turn.start` that runs the comment."""
        kind, where = self.turn_of(document, comment)
        return {
            "kind": kind,
            "prompt": comment.prompt,
            "textDocument": {"uri": document.uri, "version": document.version},
            "comment": comment_range(comment),
            **({} if where is None else {"range": where}),
        }

    async def insert_comment(self, target: Target, kind: str) -> None:
        """Insert an empty comment directly above the target, for the user's prompt. Raises RequestError."""
        document = self._documents.find_document(target.uri)
        if document is None or document.path is None:
            raise RequestError(
                "this editor has no input box, and the document is not an open file to write a prompt into"
            )
        snapshot = document.snapshot()
        text = target.selection.snapshot.text
        line = len(split_lines(text[: target.selection.start] + "|")) - 1
        lines = max(1, len(split_lines(text[target.selection.start : target.selection.end])))
        standing = document.lines[line]
        indent = standing[: len(standing) - len(standing.lstrip())]
        ending = ending_of(standing) or ending_of(document.lines[0]) or "\n"
        comment, _ = empty_comment(indent.rstrip("\r\n"), language_of(document), ending)
        outcome = await self._workspace.apply(
            ProposedEdit(document.path, snapshot, (Hunk(line, (), (comment,)),)), "Tark: a comment for your prompt"
        )
        if not isinstance(outcome, Applied):
            raise RequestError(f"no comment could be inserted there: {outcome.reason}")
        self._inserted.setdefault(document, []).append(InsertedComment(line, lines, kind))

    async def remove_mark(self, document: TextDocument, comment: PromptComment) -> Outcome:
        """Remove the ` !` at the end of the comment, which must have one."""
        line, _ = comment.mark or (comment.start, 0)
        hunk = Hunk(line, (comment.snapshot.lines[line],), (without_mark(comment),))
        edit = ProposedEdit(comment.snapshot.path, comment.snapshot, (hunk,))
        if document.text != comment.snapshot.text:
            return Stale("the text changed meanwhile")
        return await self._workspace.apply(edit, "Tark: run a comment")

    def _whole_lines(self, document: TextDocument, start: int, end: int) -> dict[str, Any]:
        if end < len(document.lines):
            return range_json(start, 0, end, 0)
        last = document.lines[-1]
        end_character = to_client(last, line_length(last), self._documents.encoding)
        return range_json(min(start, end - 1), 0, end - 1, end_character)

    def _follow(self, event: DocumentEvent) -> None:
        if isinstance(event, Closed):
            self._inserted.pop(event.document, None)
            self._found.pop(event.document, None)
        elif isinstance(event, Change):
            for inserted in self._inserted.get(event.document, ()):
                if (event.end_line, event.end_character) <= (inserted.line, 0):
                    inserted.line += count_lines(event.text) - (event.end_line - event.start_line)


def without_mark(comment: PromptComment) -> str:
    """The line with the comment's ` !`, without the ` !`."""
    if comment.mark is None:
        return comment.snapshot.lines[comment.start]
    line, column = comment.mark
    text = comment.snapshot.lines[line]
    return text[:column] + text[text.rindex("!") + 1 :]


def language_of(document: TextDocument) -> str:
    """The client's language id, else the file's suffix."""
    if document.language_id or document.path is None:
        return document.language_id
    return document.path.suffix.removeprefix(".")
