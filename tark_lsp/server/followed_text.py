"""The text that the hunks of one file stand in, kept in step with its document at the cost of each edit alone."""

from collections.abc import Iterable

from tark_lsp.server.documents import Change, TextDocument
from tark_lsp.server.review_hunks import ReviewHunk, carry, touched_lines


class FollowedText:
    """`lines` are what is known. Of a closed file, or of a text that nobody can vouch for, there is no document."""

    def __init__(self, lines: list[str], document: TextDocument | None = None) -> None:
        self.lines = lines
        self._document = document
        self._changes = -1 if document is None else document.changes

    def is_of(self, document: TextDocument | None) -> bool:
        """Is it sure, without comparing, that this is the text the document has now?"""
        return document is not None and document is self._document and document.changes == self._changes

    def become(self, hunks: Iterable[ReviewHunk], lines: list[str], document: TextDocument | None) -> None:
        """Carry the hunks to the text of now, however it came to be."""
        if lines != self.lines:
            carry(hunks, self.lines, lines)
        self.lines, self._document = lines, document
        self._changes = -1 if document is None else document.changes

    def follow(self, hunks: Iterable[ReviewHunk], change: Change) -> None:
        """Carry the hunks over one change that was just made."""
        document = change.document
        missed = document is not self._document or document.changes != self._changes + 1
        lines, known = document.lines, self.lines
        count = len(lines) if lines[-1] else len(lines) - 1
        first, last = touched_lines(change, known)
        end = count - (len(known) - last)
        exact = (
            not missed
            and first <= end
            # Where line endings grew together, or lines apart, the lines beside the change are others than they were.
            and (first == 0 or known[first - 1] == lines[first - 1])
            and (last == len(known) or known[last] == lines[end])
        )
        if not exact:
            self.become(hunks, lines[:count], document)
            return
        carry(hunks, known, lines[first:end], (first, last))
        known[first:last] = lines[first:end]
        self._changes = document.changes
