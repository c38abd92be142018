"""A proposed edit as the `TextEdit`s of LSP, in the positions of an open document. Pure."""

from typing import Any

from tark_lsp.server import positions
from tark_lsp.server.protocol import range_json
from tark_lsp.server.text_document import TextDocument
from tark_lsp.workspace.edits import ProposedEdit


def text_edits(document: TextDocument, edit: ProposedEdit, encoding: str) -> list[dict[str, Any]]:
    """Whole lines, in order; a hunk that ends with a line that has no ending ends at that line's last character."""
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
