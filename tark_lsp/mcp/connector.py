"""Connector: opens the connection to one server and starts its process, if it has one. Closes both.

It does not check whether the user approved the server: McpServer does. It cannot, because `approving.py` also opens
connections with it, to show the tools before the approval.
"""

import contextlib
import logging
from collections.abc import Callable

from tark_lsp.errors import McpError
from tark_lsp.mcp.client import Client
from tark_lsp.mcp.connection import Connection
from tark_lsp.mcp.eras import Era, ServerFacts
from tark_lsp.mcp.launching import Surroundings, make_transport
from tark_lsp.mcp.opening import OPEN_SECONDS, open_connection
from tark_lsp.mcp.pins import Pin
from tark_lsp.mcp.server_config import Resolved, ServerConfig
from tark_lsp.mcp.server_log import ServerLog
from tark_lsp.mcp.transport import ProgramEnded

log = logging.getLogger(__name__)


class Connector:
    def __init__(
        self,
        config: ServerConfig,
        around: Surroundings,
        server_log: ServerLog,
        expired: Callable[[], None] = lambda: None,
    ) -> None:
        """`expired` is called when the list of tools, if it was read before, is out of date."""
        self._config = config
        self._around = around
        self._log = server_log
        self._expired = expired
        self._stack = contextlib.AsyncExitStack()
        self._client: Client | None = None
        self.unconfined = ""
        """Why the server runs without a sandbox; empty if it runs in one."""

    @property
    def is_open(self) -> bool:
        return self._client is not None and self._client.connection.is_open

    @property
    def client(self) -> Client:
        """Raises McpError if it is not connected."""
        if self._client is None:
            raise McpError("it is not connected")
        return self._client

    async def open(self, resolved: Resolved, pin: Pin | None, *, seconds: float = OPEN_SECONDS) -> ServerFacts:
        """`pin`: what the user approved; None while they are asked. Raises McpError."""
        known = None if pin is None else pin.era
        await self.aclose()
        try:
            return await self._open(resolved, pin, known, seconds)
        except ProgramEnded:
            if known is Era.LEGACY:
                raise
        # Some legacy servers exit when they get another message before `initialize`.
        await self.aclose()
        return await self._open(resolved, pin, Era.LEGACY, seconds)

    async def _open(self, resolved: Resolved, pin: Pin | None, known: Era | None, seconds: float) -> ServerFacts:
        transport, self.unconfined = await make_transport(
            self._config, resolved, self._around, self._stack, self._log, pin
        )
        self._log.add(f"starting: {resolved.shown}" + (f" (no sandbox: {self.unconfined})" if self.unconfined else ""))
        self._expired()

        def tools_changed() -> None:
            self._expired()
            self._log.add("it says that its list of tools changed")

        connection = Connection(transport, tools_changed)
        self._stack.push_async_callback(connection.aclose)
        self._client = Client(connection, self._config.settings.timeout_seconds)
        return await open_connection(connection, known, seconds=seconds)

    async def aclose(self) -> None:
        stack, self._stack, self._client = self._stack, contextlib.AsyncExitStack(), None
        try:
            await stack.aclose()
        except Exception:  # an error while a server stops must not fail the turn or the shutdown
            log.exception("the MCP server %s could not be ended", self._config.name)
