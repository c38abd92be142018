"""The text that the hunks of one file stand in, kept in step with its document at the cost of each edit alone."""

from collections.abc import Sequence

from tark_lsp.server.documents.documents import Change, TextDocument
from tark_lsp.server.review.hunks import ReviewHunk, carry, recognise, touched_lines
from tark_lsp.workspace.lines import split_lines


class FollowedText:
    """`lines` are what is known. Of a closed file, or of a text that nobody can vouch for, there is no document."""

    def __init__(self, lines: list[str], document: TextDocument | None = None) -> None:
        self.lines = lines
        self._document = document
        self._changes = -1 if document is None else document.changes

    def is_of(self, document: TextDocument | None) -> bool:
        """Is it sure, without comparing, that this is the text the document has now?"""
        return document is not None and document is self._document and document.changes == self._changes

    def become(self, hunks: Sequence[ReviewHunk], lines: list[str], document: TextDocument | None) -> None:
        """Carry the hunks to the text of now, however it came to be."""
        if lines != self.lines:
            carry(hunks, self.lines, lines)
            recognise(hunks, lines)
        self.lines, self._document = lines, document
        self._changes = -1 if document is None else document.changes

    def follow(self, hunks: Sequence[ReviewHunk], change: Change) -> None:
        """Carry the hunks over one change; the text is then the document's, if no change was left out before."""
        if change.document is not self._document:  # another document of this file
            self._document = None
            return
        lines, first, last = self.lines, change.start_line, change.end_line
        head, tail = self._line(first)[: change.start_character], self._line(last)[change.end_character :]
        if not head and first > 0 and self._line(first - 1).endswith("\r") and (change.text or tail).startswith("\n"):
            first -= 1  # the change made one line ending of a \r that was there and a \n
            head = self._line(first)
        new, old = split_lines(head + change.text + tail), lines[first : last + 1]
        start, end = touched_lines(change, lines)
        above, below = max(0, start - first), max(0, first + len(old) - end)
        same = old[:above] == new[:above] and old[len(old) - below :] == new[len(new) - below :]
        if not same or above + below > min(len(old), len(new)):
            above = below = 0
        carry(hunks, lines, new[above : len(new) - below], (first + above, first + len(old) - below))
        lines[first : last + 1] = new
        recognise(hunks, lines)
        self._changes += 1

    def _line(self, number: int) -> str:
        """The last one may be the empty one after an ending."""
        return self.lines[number] if number < len(self.lines) else ""
