"""A proposed edit as LSP `TextEdit`s, with the positions of an open document. Pure."""

from typing import Any

from tark_lsp.server.protocol.outgoing import range_json
from tark_lsp.workspace import positions
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.text_document import TextDocument


def text_edits(document: TextDocument, edit: ProposedEdit, encoding: str) -> list[dict[str, Any]]:
    """Whole lines, in order. If the last line of a hunk has no ending, the hunk ends at its last character."""
    last = len(document.lines) - 1
    edits = []
    for hunk in edit.hunks:
        start, end = (hunk.start, 0), (hunk.end, 0)
        if hunk.end > last:
            line = document.lines[last]
            end = (last, positions.to_client(line, positions.line_length(line), encoding))
            start = min(start, end)
        edits.append({"range": range_json(*start, *end), "newText": hunk.new_text})
    return edits


def anchored(edit: ProposedEdit) -> ProposedEdit:
    """The same change; if it adds lines after the last line, as an edit of the last line."""
    lines = split_lines(edit.base.text)
    added = edit.hunks[-1] if edit.hunks else None
    if added is None or added.old or not lines or added.start < len(lines):
        return edit
    if len(edit.hunks) > 1 and edit.hunks[-2].end == added.start:  # the last line is edited already
        return edit
    return edit.only([*edit.hunks[:-1], Hunk(added.start - 1, (lines[-1],), (lines[-1], *added.new))])
