"""Tracks which `!` of `tark:` comments in open documents the user inserted (`comments.runOnSave`).

A `!` counts only if all of this is true:

- It came by a `didChange` that changed at most its own line.
- It is not from an edit by Tark.
- After the change, the text differed from the file on disk.

So a file that the editor opens or reloads runs nothing. The file can already have the `!` if the editor saved it before
the server handled the change (`LateChange`).
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.server.prompting.line_marks import LineChange, Mark, Marks, carry_marks
from tark_lsp.settings import Settings
from tark_lsp.workspace.documents import Change, Closed, DocumentEvent, Documents, Saved, TextDocument
from tark_lsp.workspace.text_document import is_chat

LATE_SECONDS = 1.0
"""If the file on disk already has a change, `didSave` must come within this time for the change to count as saved."""


@dataclass(frozen=True, slots=True)
class LateChange:
    """A change that was reported when the file already had it: the editor saved quickly, or reloaded the file.

    If the editor saved, `didSave` follows at once, and the file was not written since. After a reload, a save writes
    the file again.
    """

    at: float
    written: tuple[int, int] | None

    @classmethod
    def of(cls, path: Path) -> "LateChange":
        return cls(time.monotonic(), _written(path))

    def was_saved(self, path: Path) -> bool:
        return time.monotonic() - self.at < LATE_SECONDS and self.written == _written(path)


def _written(path: Path) -> tuple[int, int] | None:
    """A value that changes with each write of the file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino


@dataclass(slots=True)
class FollowedDocument:
    lines: list[str]
    marks: Marks = field(default_factory=dict)
    pieces: int = 0
    """The number of changes in the current notification so far."""
    late: LateChange | None = None
    ran: dict[str, str] = field(default_factory=dict)
    """Lines whose `!` was removed for a turn: the line without it -> the line with it."""


class InsertedMarks:
    def __init__(
        self, documents: Documents, settings: Callable[[], Settings], is_ours: Callable[[Path, str], bool]
    ) -> None:
        """`is_ours(path, line)`: whether an edit by Tark wrote this line."""
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
        """Remembers that a turn began. If the user undoes the removal of the `!`, it is not a new one."""
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
            # The first change after the setting was turned on is ignored, because the text before it is unknown.
            self._followed[document] = FollowedDocument(document.lines[:])
            return
        match event:
            case Change(last=last):
                followed.pieces += 1
                if last:
                    self._follow(document, document.path, followed)
            case Saved():
                saved = followed.late is not None and followed.late.was_saved(document.path)
                kept = Mark.INSERTED if saved else Mark.RETURNED
                followed.marks = {line: kept if mark is Mark.LATE else mark for line, mark in followed.marks.items()}
            case _:
                pass

    def _follow(self, document: TextDocument, path: Path, followed: FollowedDocument) -> None:
        before, followed.lines = followed.lines, document.lines[:]
        pieces, followed.pieces = followed.pieces, 0
        told = {line: mark for line, mark in followed.marks.items() if mark is not Mark.LATE}
        marks, change = carry_marks(told, before, followed.lines)
        followed.marks = marks
        if change is None:
            return
        if self._is_ours(path, change.after):
            self.set_marks(document, {change.line: None})
        elif change.inserts_mark and "tark:" in document.text:
            mark = _mark_of(document, followed, change, pieces)
            followed.late = LateChange.of(path) if mark is Mark.LATE else None
            self.set_marks(document, {change.line: mark})


def _mark_of(document: TextDocument, followed: FollowedDocument, change: LineChange, pieces: int) -> Mark:
    if pieces == 1 and followed.ran.get(_bare(change.before)) == _bare(change.after):
        return Mark.RETURNED
    if differs_from_disk(document):
        return Mark.INSERTED
    if _bare(change.after) in followed.ran.values():
        return Mark.RETURNED
    return Mark.LATE


def _bare(line: str) -> str:
    return line.lstrip().rstrip("\r\n")


def differs_from_disk(document: TextDocument) -> bool:
    """Whether they differ in more than line endings. If the file is not UTF-8, only ASCII is compared."""
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
