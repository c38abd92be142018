"""Publishes undecided hunks and the problems of a review as diagnostics: the editor's list of problems shows
what waits for the user."""

from pathlib import Path
from typing import Any

from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.review.problems import Problems
from tark_lsp.review.wording import list_entry, problem_text
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.client_state import OUR_SOURCE
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.server.protocol.outgoing import problem_range
from tark_lsp.tools.problem import Problem
from tark_lsp.workspace.documents import Documents

WARNING, INFORMATION = 2, 3
"""Not Hint: VS Code's list of problems has no hints."""


PROBLEM = "review"
"""The `code` of the problems of a review."""


class ReviewDiagnostics:
    def __init__(self, connection: Connection, documents: Documents, hunks: HunksJson, problems: Problems) -> None:
        self._connection = connection
        self._documents = documents
        self._hunks = hunks
        self._problems = problems
        self._published: dict[Path, str] = {}
        """Files with diagnostics, and the URI they were published for."""
        problems.listen(self.publish)

    def publish(self, path: Path) -> None:
        """Publish the diagnostics of a file. Closed files are included, because the user opens them from that list.
        Clients with `review` draw hunks themselves."""
        hunks = [] if self._connection.client.understands("review") else self._hunks.store.find_hunks(path)
        shown = [
            *(self._of_hunk(hunk) for hunk in hunks if hunk.undecided),
            *(self._of_problem(problem) for problem in self._problems.find_problems(path)),
        ]
        document, uri = self._documents.at(path), self._hunks.uri(path)
        published = self._published.pop(path, None)
        if published not in (None, uri):  # the editor spells the URI of an open document in its own way
            self._connection.notify("textDocument/publishDiagnostics", {"uri": published, "diagnostics": []})
        if not shown and published != uri:
            return
        if shown:
            self._published[path] = uri
        params: dict[str, Any] = {"uri": uri, "diagnostics": shown}
        if document is not None and document.version is not None:
            params["version"] = document.version
        self._connection.notify("textDocument/publishDiagnostics", params)

    def _of_hunk(self, hunk: ReviewHunk) -> dict[str, Any]:
        return {
            "range": self._hunks.range(hunk),
            "severity": INFORMATION if hunk.pending else WARNING,
            "source": OUR_SOURCE,
            "message": list_entry(hunk),
            "code": "hunk" if hunk.pending else hunk.state,
        }

    def _of_problem(self, problem: Problem) -> dict[str, Any]:
        return {
            "range": problem_range(problem, self._documents.encoding),
            "severity": problem.severity,
            "source": OUR_SOURCE,
            "message": problem_text(problem),
            "code": PROBLEM,
        }
