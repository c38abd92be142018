"""Follows the `!` of `tark:` comments in open documents (`comments.runOnSave`): which of them the user inserted.

A `!` counts only if it came by a `didChange` of at most its own line, not by an edit of ours, and if the text then
differed from the file on disk. So neither a file that was opened, nor one that the editor read again, runs anything.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.server.prompting.line_marks import LineChange, Mark, Marks, carry_marks
from tark_lsp.settings import Settings
from tark_lsp.workspace.documents import Change, Closed, DocumentEvent, Documents, Saved, TextDocument, WillSave
from tark_lsp.workspace.text_document import is_chat


@dataclass(slots=True)
class FollowedDocument:
    lines: list[str]
    marks: Marks = field(default_factory=dict)
    pieces: int = 0
    """Changes of the current notification."""
    saving: bool = False
    """Was `willSave` sent, and no `didSave` yet?"""
    ran: dict[str, str] = field(default_factory=dict)
    """Lines that lost their `!` to a turn, by what they are without it."""


class InsertedMarks:
    def __init__(
        self, documents: Documents, settings: Callable[[], Settings], is_ours: Callable[[Path, str], bool]
    ) -> None:
        """`is_ours(path, line)`: did an edit of ours write this line?"""
        self._documents = documents
        self._settings = settings
        self._is_ours = is_ours
        self._followed: dict[TextDocument, FollowedDocument] = {}
        documents.listen(self._on_document_event)

    def marks_in(self, document: TextDocument) -> Marks:
        followed = self._followed.get(document)
        return {} if followed is None else followed.marks

    def set_marks(self, document: TextDocument, lines: Mapping[int, Mark | None]) -> None:
        """None removes the mark of a line."""
        if (followed := self._followed.get(document)) is not None:
            changed = {**followed.marks, **lines}
            followed.marks = {line: mark for line, mark in changed.items() if mark is not None}

    def remember_run(self, document: TextDocument, without: str, with_mark: str) -> None:
        """A turn began: if the user undoes the removal of the `!`, that is no new one."""
        if (followed := self._followed.get(document)) is not None:
            followed.ran[_bare(without)] = _bare(with_mark)

    def _is_on(self) -> bool:
        return self._settings().comments.run_on_save

    def _on_document_event(self, event: DocumentEvent) -> None:
        document = event.document
        if isinstance(event, Closed) or document.path is None or is_chat(document.path) or not self._is_on():
            self._followed.pop(document, None)
            return
        followed = self._followed.get(document)
        if followed is None:
            # What it changed is unknown, so the first change after the setting was turned on counts for nothing.
            self._followed[document] = FollowedDocument(document.lines[:])
            return
        match event:
            case Change(last=last):
                followed.pieces += 1
                if last:
                    self._follow(document, document.path, followed)
            case WillSave():
                followed.marks = _without_late(followed.marks)
                followed.saving = True
            case Saved():
                followed.saving = False
                followed.marks = {
                    line: Mark.INSERTED if mark is Mark.LATE else mark for line, mark in followed.marks.items()
                }
            case _:
                pass

    def _follow(self, document: TextDocument, path: Path, followed: FollowedDocument) -> None:
        before, followed.lines = followed.lines, document.lines[:]
        pieces, followed.pieces = followed.pieces, 0
        marks, change = carry_marks(_without_late(followed.marks), before, followed.lines)
        followed.marks = marks
        if change is None:
            return
        if self._is_ours(path, change.after):
            self.set_marks(document, {change.line: None})
        elif change.inserts_mark and "tark:" in document.text:
            self.set_marks(document, {change.line: _mark_of(document, followed, change, pieces)})


def _mark_of(document: TextDocument, followed: FollowedDocument, change: LineChange, pieces: int) -> Mark | None:
    if pieces == 1 and followed.ran.get(_bare(change.before)) == _bare(change.after):
        return Mark.RETURNED
    if differs_from_disk(document):
        return Mark.INSERTED
    if _bare(change.after) in followed.ran.values():
        return Mark.RETURNED
    # Emacs reports what was typed just before a save when the file is written already.
    return Mark.LATE if followed.saving else None


def _bare(line: str) -> str:
    return line.lstrip().rstrip("\r\n")


def _without_late(marks: Marks) -> Marks:
    return {line: mark for line, mark in marks.items() if mark is not Mark.LATE}


def differs_from_disk(document: TextDocument) -> bool:
    """Does it differ in more than line endings? Of a file in another encoding than UTF-8, only ASCII is compared."""
    if document.path is None:
        return False
    try:
        data = document.path.read_bytes()
    except OSError:
        return not document.path.exists()
    try:
        saved, text = data.decode("utf-8-sig"), document.text
    except UnicodeDecodeError:
        ignored = dict.fromkeys([0, *range(128, 256)])
        saved = data.decode("latin-1").translate(ignored)
        text = "".join(character for character in document.text if "\0" < character < "\x80")
    return _plain(saved) != _plain(text)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
