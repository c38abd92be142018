"""Shows the building of the index as work-done progress, and each problem once as a message."""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

from tark_lsp.index.status import IndexState, IndexStatus
from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.connection.lsp import Connection, RequestFailed

BEGIN_SECONDS = 2.0
"""No progress is shown if the index is built in less time."""
REPORT_SECONDS = 1.0
"""The time between two reports."""


class IndexProgress:
    def __init__(self, connection: Connection, warn: Callable[[str], None], background: BackgroundTasks) -> None:
        self._connection = connection
        self._warn = warn
        self._background = background
        self._status = IndexStatus(IndexState.OFF)
        self._token = ""
        """The token of the progress that is shown; empty if none is."""
        self._timer: asyncio.TimerHandle | None = None
        self._said: set[str] = set()

    def show(self, status: IndexStatus) -> None:
        self._status = status
        if status.reason and status.state is not IndexState.OFF and status.reason not in self._said:
            self._said.add(status.reason)
            self._warn(f"Tark: code index: {status.reason}")
        if status.state is IndexState.BUILDING:
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(BEGIN_SECONDS, self._begin)
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._token:
            done = status.state is IndexState.READY
            self._notify({"kind": "end", "message": f"{status.indexed:,} files" if done else "the index is not built"})
            self._token = ""

    def _begin(self) -> None:
        if self._connection.client.has("window.workDoneProgress"):
            self._background.start(self._create(self._timer))

    async def _create(self, timer: asyncio.TimerHandle | None) -> None:
        """`timer`: identifies the build for which the progress is created."""
        token = f"tark-index-{secrets.token_hex(8)}"
        try:
            await self._connection.request("window/workDoneProgress/create", {"token": token})
        except RequestFailed:
            return  # the editor does not show progress
        if timer is self._timer:  # it is still the same build
            self._token = token
            self._notify({"kind": "begin", "title": "Tark: indexing", "cancellable": False, **_part(self._status)})
            self._report_later()

    def _report_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(REPORT_SECONDS, self._report)

    def _report(self) -> None:
        self._notify({"kind": "report", **_part(self._status)})
        self._report_later()

    def _notify(self, value: dict[str, Any]) -> None:
        self._connection.notify("$/progress", {"token": self._token, "value": value})


def _part(status: IndexStatus) -> dict[str, Any]:
    """How many files are done; empty before they are counted."""
    if not status.files:
        return {}
    share = min(100, status.indexed * 100 // status.files)
    return {"message": f"{status.indexed:,} of {status.files:,} files", "percentage": share}
