"""Hunks as the contract shows them: `tark/update hunks`, `tark.hunk.list`, the edits of a permission request."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.documents.positions import line_length, to_client
from tark_lsp.server.documents.uris import uri_from_path
from tark_lsp.server.protocol_json import range_json
from tark_lsp.server.review.hunks import ReviewHunk, by_path
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.workspace.edits import ProposedEdit


class HunksJson:
    def __init__(self, documents: Documents, reviews: Reviews) -> None:
        self._documents = documents
        self._reviews = reviews

    def uri(self, path: Path) -> str:
        return self._documents.uri(path)

    def hunk(self, each: ReviewHunk) -> dict[str, Any]:
        return {
            "hunkId": each.id,
            "turnId": each.turn_id,
            "range": self.range(each),
            "oldText": each.hunk.old_text,
            "newText": "".join(each.new),
            "applied": each.applied,
            "state": each.state,
            "outsideSelection": each.outside_selection,
            **self._operation(each),
            **({"reason": each.reason} if each.lost and each.reason else {}),
        }

    def _operation(self, each: ReviewHunk) -> dict[str, Any]:
        """What becomes of the file itself; a hunk of lines has no such field."""
        if not each.operation:
            return {}
        target = {} if each.target is None else {"target": uri_from_path(each.target)}
        return {"operation": {"kind": each.operation, **target}}

    def range(self, each: ReviewHunk) -> dict[str, Any]:
        """Of a hunk that could not be applied, what stands in its place now."""
        document = self._documents.at(each.path)
        if each.open or document is None:
            return self._lines(each.start, each.standing)
        return self._lines(each.start, document.lines[each.start : each.end])

    def _lines(self, start: int, lines: Sequence[str]) -> dict[str, Any]:
        """Whole lines; a last line without an ending ends at its last character, since no line follows it."""
        end = start + len(lines)
        if lines and line_length(last := lines[-1]) == len(last):
            return range_json(start, 0, end - 1, to_client(last, len(last), self._documents.encoding))
        return range_json(start, 0, end, 0)

    def of(self, path: Path) -> dict[str, Any]:
        """All hunks of a file, as an update `hunks` carries them."""
        return self.document(path, self._reviews.find(path))

    def proposed(self, edit: ProposedEdit) -> list[dict[str, Any]]:
        """What a tool call wants to change, before it is a hunk to be decided."""
        return [
            {"range": self._lines(hunk.start, hunk.old), "oldText": hunk.old_text, "newText": hunk.new_text}
            for hunk in edit.hunks
        ]

    def document(self, path: Path, hunks: Iterable[ReviewHunk]) -> dict[str, Any]:
        document = self._documents.at(path)
        return {
            "uri": self.uri(path),
            "version": None if document is None else document.version,
            "hunks": [self.hunk(each) for each in hunks],
        }

    def by_document(self, hunks: Iterable[ReviewHunk]) -> list[dict[str, Any]]:
        return [self.document(path, some) for path, some in by_path(hunks).items()]
