"""The current text of a file with hunks: from its document if it is open, else from the disk."""

from pathlib import Path

from tark_lsp.errors import FileMissing, WorkspaceError
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.snapshot import Snapshot


class CurrentTexts:
    def __init__(self, workspace: Workspace, documents: Documents) -> None:
        self._workspace = workspace
        self._documents = documents

    def read_text(self, path: Path) -> Snapshot:
        """The text, empty if the file does not exist. Raises WorkspaceError."""
        try:
            return self._workspace.read(path)
        except FileMissing:
            return Snapshot(path, "", exists=False)

    def read_lines(self, path: Path, now: Snapshot | None = None) -> list[str] | None:
        """The lines of the file; None if it cannot be read. `now`: the text of a closed file if it was just read."""
        if (document := self._documents.at(path)) is not None:
            return [*document.snapshot().lines]
        try:
            return [*(now or self.read_text(path)).lines]
        except WorkspaceError:
            return None

    def lost_its_file(self, hunk: ReviewHunk) -> bool:
        """Did the hunk's file exist when the hunk was proposed, and no longer exists?"""
        return hunk.had_file and self.is_gone(hunk.path)

    def is_gone(self, path: Path, now: Snapshot | None = None) -> bool:
        """Does the file no longer exist? An editor may show an empty document in its place."""
        document = self._documents.at(path)
        if document is None and now is not None:
            return not now.exists
        return not self._workspace.is_there(path) and (document is None or not document.text)
