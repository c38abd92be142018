"""A proposed edit as LSP `TextEdit`s, with the positions of an open document. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from tark_lsp.server.protocol.outgoing import range_json
from tark_lsp.workspace import positions
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, ending_of, split_lines
from tark_lsp.workspace.text_document import TextDocument

Position: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class TextEdit:
    """`text` replaces the range from `start` to `end`: (line, character in the client's units)."""

    start: Position
    end: Position
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, cached because each key press needs them many times."""
        return split_lines(self.text)


def text_edits(document: TextDocument, edit: ProposedEdit, encoding: str) -> list[dict[str, Any]]:
    """The edit in the form of LSP."""
    sent = find_text_edits(document.lines, edit, encoding)
    return [{"range": range_json(*item.start, *item.end), "newText": item.text} for item in sent]


def find_text_edits(lines: Sequence[str], edit: ProposedEdit, encoding: str) -> list[TextEdit]:
    """Edits of whole lines, in order. If a hunk's last line has no line ending, the edit ends at its last character.

    If only the line ending of a hunk's first line changes, the edit begins at the end of that line, which is not sent.
    `lines` are the lines of the document: one more than there are line endings.
    """
    last = len(lines) - 1
    edits = []
    for hunk in edit.hunks:
        start, end, text = (hunk.start, 0), (hunk.end, 0), hunk.new_text
        if hunk.end > last:
            end = _end_of_line(lines, last, encoding)
            start = min(start, end)
        if hunk.old and hunk.new and _body(hunk.old[0]) == _body(hunk.new[0]):
            start = _end_of_line(lines, hunk.start, encoding)
            ending = ending_of(hunk.old[0])
            text = text[len(_body(hunk.old[0])) :]
            if len(hunk.old) == 1 < len(hunk.new) and text.endswith(ending):
                end, text = start, text[: len(text) - len(ending)]
        edits.append(TextEdit(start, end, text))
    return edits


def _body(line: str) -> str:
    return line.removesuffix(ending_of(line))


def _end_of_line(lines: Sequence[str], number: int, encoding: str) -> Position:
    line = lines[number]
    return number, positions.to_client(line, positions.line_length(line), encoding)


def anchored(edit: ProposedEdit) -> ProposedEdit:
    """The same change. Lines that are added after the last line become part of an edit of the last line."""
    lines = edit.base.lines
    added = edit.hunks[-1] if edit.hunks else None
    if added is None or added.old or not lines or added.start < len(lines):
        return edit
    if len(edit.hunks) > 1 and edit.hunks[-2].end == added.start:  # the last line is already edited
        return edit
    return edit.only([*edit.hunks[:-1], Hunk(added.start - 1, (lines[-1],), (lines[-1], *added.new))])
