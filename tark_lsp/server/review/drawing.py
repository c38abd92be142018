"""Keeps what editors draw of ours up to date: `hunks` updates, diagnostics of hunks, lens refreshes.

Decisions are told at once; what only moves while the person types is told when they pause for 100 ms.
"""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.review.hunks import ReviewHunk
from tark_lsp.server.review.hunks_json import HunksJson
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.server.review.words import TO_DECIDE, in_list
from tark_lsp.server.turns.client_state import OUR_SOURCE

PAUSE_SECONDS = 0.1
JOIN_SECONDS = 0.02
WARNING, INFORMATION = 2, 3
"""Not Hint: VS Code's list of problems leaves hints out."""


class Drawing:
    def __init__(self, connection: Connection, documents: Documents) -> None:
        self._connection = connection
        self._documents = documents
        self._moved: set[Path] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._published: dict[Path, str] = {}
        """Files with diagnostics, and the URI they were published for."""

    def attach(self, reviews: Reviews, hunks: HunksJson, tell_turns: Callable[[Path], None]) -> None:
        self._reviews = reviews
        self._hunks = hunks
        self._tell_turns = tell_turns

    def changed(self, path: Path) -> None:
        """Hunks of the file came or were decided."""
        self._tell_turns(path)
        self._publish(path)
        self.refresh()

    def moved(self, path: Path) -> None:
        """Hunks of the file may stand elsewhere now. Marks are not left where they no longer belong meanwhile."""
        self._moved.add(path)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._tell_moved)

    def refresh(self) -> None:
        """Ask the client to ask for lenses again, where it can; several wishes at once are one request."""
        if self._refreshing is None and self._connection.client.has("workspace.codeLens.refreshSupport"):
            self._refreshing = asyncio.ensure_future(self._refresh())

    async def _refresh(self) -> None:
        await asyncio.sleep(JOIN_SECONDS)
        self._refreshing = None
        with contextlib.suppress(RequestFailed):  # the client drew what it wanted to; nothing of ours depends on it
            await self._connection.request("workspace/codeLens/refresh")

    def _tell_moved(self) -> None:
        self._timer = None
        moved, self._moved = self._moved, set()
        for path in moved:
            self._tell_turns(path)
            self._publish(path)

    def _publish(self, path: Path) -> None:
        """What is to be decided as diagnostics, so that every problems list is a review list; not where the client
        reviews. Those of closed files, too: a person opens them from that list."""
        if self._connection.client.understands("review"):
            return
        shown = [hunk for hunk in self._reviews.find(path) if hunk.state in TO_DECIDE]
        document, uri = self._documents.at(path), self._hunks.uri(path)
        published = self._published.pop(path, None)
        if published not in (None, uri):  # the editor spells it in its own way now that it is open, or no longer does
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
            "severity": INFORMATION if hunk.open else WARNING,
            "source": OUR_SOURCE,
            "message": in_list(hunk),
            "code": "hunk" if hunk.open else hunk.state,
        }
