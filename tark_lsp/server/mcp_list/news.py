"""Notifies the client when the state of a server changes, and, once per digest, of servers and hooks that need the
user's approval."""

import asyncio
import logging
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tark_lsp.folders import told_offers_folder
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.protocol import incoming
from tark_lsp.server.protocol.capabilities import find_value
from tark_lsp.server.turns.hook_commands import OFFERS
from tark_lsp.server.turns.mcp_sources import PROJECT_FILES
from tark_lsp.server.turns.mcp_tools import McpTools
from tark_lsp.workspace.documents import DocumentEvent, Saved
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:  # loaded with the first server or hook
    from tark_lsp.server.mcp_list.current import CurrentList

log = logging.getLogger(__name__)

PAUSE_SECONDS = 0.2
"""The delay after a change, so that several changes become one notification."""
HOOKS_FILE = "/".join(OFFERS)


class OfferNews:
    """Sends nothing to a client that does not understand `mcp`. There, notices in the turns report the same."""

    def __init__(
        self, connection: Connection, workspace: Workspace, mcp: McpTools, current: "Callable[[], CurrentList]"
    ) -> None:
        """`current` is called only if there is a server or an offer."""
        self._connection = connection
        self._workspace = workspace
        self._mcp = mcp
        self._make_current = current
        self._understood = connection.client.understands("mcp") and not workspace.in_memory
        self._timer: asyncio.TimerHandle | None = None
        self._told: set[str] = set()
        """The digests that this process reported, including those that could not be noted on the disk."""

    @cached_property
    def current(self) -> "CurrentList":
        """All servers and hooks, including offers."""
        return self._make_current()

    def check_soon(self) -> None:
        if self._timer is None and self._understood:
            self._timer = asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._check)

    def on_document_event(self, event: DocumentEvent) -> None:
        if isinstance(event, Saved) and event.document.path is not None:
            self.written(event.document.path)

    def written(self, path: Path) -> None:
        """Checks soon if `path` is a file of offers."""
        names = (*PROJECT_FILES, HOOKS_FILE)
        if any(path == folder / name for folder in self._workspace.folders for name in names):
            self.check_soon()

    def watched_changed(self, params: dict[str, Any]) -> None:
        """Handles `workspace/didChangeWatchedFiles`. Malformed changes are skipped."""
        changes = params.get("changes")
        uris = [find_value(change, "uri") for change in changes] if isinstance(changes, list) else []
        if any(isinstance(uri, str) and uri.endswith((*PROJECT_FILES, HOOKS_FILE)) for uri in uris):
            self.check_soon()

    def stop(self) -> None:
        self._understood = False
        if self._timer is not None:
            self._timer.cancel()

    def _check(self) -> None:
        self._timer = None
        offers_hooks = any((folder / HOOKS_FILE).is_file() for folder in self._workspace.folders)
        if not (offers_hooks or self._mcp.sources.has_any()):
            return
        servers, _ = self.current.servers()
        hooks, _ = self.current.hooks()
        waiting = [("server", row.config.name, row.state, row.news) for row in servers]
        waiting += [("hook", row.hook.name, row.state, row.news) for row in hooks]
        new = [
            {"kind": kind, "name": name, "changed": state == "changed"}
            for kind, name, state, news in waiting
            if news and self.note(news)
        ]
        self._connection.notify(incoming.MCP, {"unanswered": new})

    def note(self, news: str) -> bool:
        """Notes that the user knows this now. Returns whether no process had told them before."""
        if news in self._told:
            return False
        self._told.add(news)
        try:
            folder = told_offers_folder()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / news[:32]).touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            return False
        except OSError as error:
            log.warning("it cannot be noted that the user was told of an offer: %s", error)
        return True
