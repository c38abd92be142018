"""Publishes undecided hunks as diagnostics, so that the editor's list of problems is a list for review."""

from pathlib import Path
from typing import Any

from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.review.wording import list_entry
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.client_state import OUR_SOURCE
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.workspace.documents import Documents

WARNING, INFORMATION = 2, 3
"""Not Hint: VS Code's list of problems has no hints."""


class HunkDiagnostics:
    def __init__(self, connection: Connection, documents: Documents, hunks: HunksJson) -> None:
        self._connection = connection
        self._documents = documents
        self._hunks = hunks
        self._published: dict[Path, str] = {}
        """Files with diagnostics, and the URI they were published for."""

    def publish(self, path: Path) -> None:
        """Those of closed files, too, since the user opens them from that list. None for clients with `review`."""
        if self._connection.client.understands("review"):
            return
        shown = [hunk for hunk in self._hunks.store.find_hunks(path) if hunk.undecided]
        document, uri = self._documents.at(path), self._hunks.uri(path)
        published = self._published.pop(path, None)
        if published not in (None, uri):  # the editor spells the URI of an open document in its own way
            self._connection.notify("textDocument/publishDiagnostics", {"uri": published, "diagnostics": []})
        if not shown and published != uri:
            return
        if shown:
            self._published[path] = uri
        params: dict[str, Any] = {"uri": uri, "diagnostics": [self._diagnostic(hunk) for hunk in shown]}
        if document is not None and document.version is not None:
            params["version"] = document.version
        self._connection.notify("textDocument/publishDiagnostics", params)

    def _diagnostic(self, hunk: ReviewHunk) -> dict[str, Any]:
        return {
            "range": self._hunks.range(hunk),
            "severity": INFORMATION if hunk.pending else WARNING,
            "source": OUR_SOURCE,
            "message": list_entry(hunk),
            "code": "hunk" if hunk.pending else hunk.state,
        }
