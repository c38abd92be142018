"""Hunks as JSON of the protocol: for `hunks` updates, `tark.hunk.list` and the edits of a permission request."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.review.hunk import ReviewHunk, by_path
from tark_lsp.review.store import HunkStore
from tark_lsp.review.wording import for_user
from tark_lsp.server.protocol.outgoing import range_json
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.positions import line_length, to_client
from tark_lsp.workspace.uris import uri_from_path


class HunksJson:
    def __init__(self, documents: Documents, store: HunkStore) -> None:
        self._documents = documents
        self.store = store

    def uri(self, path: Path) -> str:
        return self._documents.uri(path)

    def hunk(self, hunk: ReviewHunk) -> dict[str, Any]:
        return {
            "hunkId": hunk.id,
            "turnId": hunk.turn_id,
            "range": self.range(hunk),
            "oldText": hunk.old_text,
            "newText": hunk.new_text,
            "applied": hunk.applied,
            "state": hunk.state,
            "outsideSelection": hunk.outside_selection,
            **self._operation(hunk),
            **({"reason": for_user(hunk.reason)} if hunk.blocked and hunk.reason else {}),
        }

    def _operation(self, hunk: ReviewHunk) -> dict[str, Any]:
        """What happens to the file itself; a hunk of lines has no such field."""
        if not hunk.operation:
            return {}
        target = {} if hunk.target is None else {"target": uri_from_path(hunk.target)}
        return {"operation": {"kind": hunk.operation, **target}}

    def range(self, hunk: ReviewHunk) -> dict[str, Any]:
        """For a hunk that is not pending, the range of the lines that are at its place now."""
        document = self._documents.at(hunk.path)
        if hunk.pending or document is None:
            return self._lines(hunk.start, hunk.standing)
        return self._lines(hunk.start, document.lines[hunk.start : hunk.end])

    def _lines(self, start: int, lines: Sequence[str]) -> dict[str, Any]:
        """Whole lines. A last line without a line ending ends at its last character, because no line follows it."""
        end = start + len(lines)
        if lines and line_length(last := lines[-1]) == len(last):
            return range_json(start, 0, end - 1, to_client(last, len(last), self._documents.encoding))
        return range_json(start, 0, end, 0)

    def of(self, path: Path) -> dict[str, Any]:
        """All hunks of a file, as in a `hunks` update."""
        return self.document(path, self.store.find_hunks(path))

    def proposed(self, edit: ProposedEdit) -> list[dict[str, Any]]:
        """What a tool call wants to change, before it is a hunk that the user decides on."""
        return [
            {"range": self._lines(hunk.start, hunk.old), "oldText": hunk.old_text, "newText": hunk.new_text}
            for hunk in edit.hunks
        ]

    def document(self, path: Path, hunks: Iterable[ReviewHunk]) -> dict[str, Any]:
        document = self._documents.at(path)
        return {
            "uri": self.uri(path),
            "version": None if document is None else document.version,
            "hunks": [self.hunk(hunk) for hunk in hunks],
        }

    def by_document(self, hunks: Iterable[ReviewHunk]) -> list[dict[str, Any]]:
        return [self.document(path, some) for path, some in by_path(hunks).items()]
