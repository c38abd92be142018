"""McpServer: starts, uses and stops one server. It starts only if it is as the user approved it."""

import asyncio
from collections.abc import Callable
from enum import StrEnum

from tark_lsp.errors import McpError, TarkError
from tark_lsp.mcp.approval import Approval
from tark_lsp.mcp.challenges import NeedsLogin
from tark_lsp.mcp.client import Call, Client
from tark_lsp.mcp.connector import Connector
from tark_lsp.mcp.content import Content
from tark_lsp.mcp.launching import Surroundings
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Pin
from tark_lsp.mcp.server_config import ServerConfig, resolve
from tark_lsp.mcp.server_log import ServerLog
from tark_lsp.mcp.tool_list import ToolList

WAIT_SECONDS = 10.0
"""How long a call waits for its server to start."""


class ServerState(StrEnum):
    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    NEEDS_LOGIN = "needs login"


class McpServer:
    def __init__(
        self, config: ServerConfig, pins: PinStore, around: Surroundings, changed: Callable[[], None] = lambda: None
    ) -> None:
        """`changed` is called when the state changes."""
        self.config = config
        self._changed = changed
        self._around = around
        self.log = ServerLog(self._ended)
        self.approval = Approval(config, pins, around.folders)
        self.tools = ToolList(config.name, self.approval, changed)
        self._connector = Connector(config, around, self.log, self.tools.expire)
        self._starting: asyncio.Task[None] | None = None
        self.error: McpError | None = None

    @property
    def state(self) -> ServerState:
        if self._starting is not None and not self._starting.done():
            return ServerState.STARTING
        if self._connector.is_open:
            return ServerState.READY
        if isinstance(self.error, NeedsLogin):
            return ServerState.NEEDS_LOGIN
        return ServerState.STOPPED if self.error is None else ServerState.FAILED

    @property
    def unconfined(self) -> str:
        """Why the server runs without a sandbox; empty if it runs in one."""
        return self._connector.unconfined

    @property
    def is_confined(self) -> bool:
        """Whether the server runs in the sandbox, without network. Before it runs: whether it was approved for the
        sandbox, because then it does not start without one."""
        settings = self.config.settings
        if settings.url is not None or not settings.sandbox or settings.network:
            return False
        if self.state is ServerState.READY:
            return not self.unconfined
        pin = self.approval.pin
        return pin is not None and not pin.unconfined

    @property
    def client(self) -> Client:
        """Raises McpError if it is not connected."""
        return self._connector.client

    def approved(self) -> Pin:
        """The pin, if it matches the configuration and the server is switched on. Raises McpError."""
        pin = self.approval.holding()
        self.tools.compare_with(pin)
        return pin

    def start(self) -> None:
        """Starts the server in the background, unless it already runs."""
        if self.state not in (ServerState.STARTING, ServerState.READY):
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(self._started)
            self._changed()

    async def ready(self, *, confined: bool = False) -> Client:
        """Starts the server if necessary, and waits. Raises McpError, also if it runs but its approval was revoked.

        `confined`: what `is_confined` was when the call was allowed. If the user approved the server without a sandbox
        since then, McpError is raised.
        """
        if self.state is ServerState.READY:
            self.approved()
        self.start()
        if self.state is ServerState.STARTING and self._starting is not None:
            try:
                await asyncio.wait_for(asyncio.shield(self._starting), WAIT_SECONDS)
            except TimeoutError as error:
                raise McpError(f"it is not ready after {WAIT_SECONDS:g} s", hint="try again later") from error
        if self.error is not None:
            raise self.error
        client = self.client
        if confined and self.unconfined:
            raise McpError(
                f"the call was allowed for a server in the sandbox, but it runs without one: {self.unconfined}",
                hint="make the call again: then its permission is decided again",
            )
        return client

    async def call_tool(self, call: Call, *, confined: bool = False) -> Content:
        """Calls a tool. Raises McpError, also if the tool is not as it was approved. `confined`: see `ready`."""
        client = await self.ready(confined=confined)
        await self.tools.update(self._connector)
        self.tools.check(call.tool, self.approved())
        try:
            return await client.call(call)
        except NeedsLogin as error:
            self.error = error
            await self._connector.aclose()
            self._changed()
            raise

    async def aclose(self) -> None:
        try:
            if self._starting is not None and not self._starting.done():
                self._starting.cancel()
                await asyncio.wait([self._starting])
        finally:
            await self._connector.aclose()
            self.tools.forget()

    async def _start(self) -> None:
        """Raises McpError, which is also kept in `error`."""
        self.error = None
        try:
            resolved = resolve(self.config, self._around.folders())
            facts = await self._connector.open(resolved, self.approval.holding_for(resolved))
            self.approval.holding_for(resolved)  # the approval can be revoked while the server starts
            self.approval.note(resolved, era=facts.era)
            await self.tools.update(self._connector, rounds=1)
            self.error = None  # a first attempt can have set it
            self.log.add(f"running: {facts.name or 'it has no name'}, protocol {facts.version}")
        except TarkError as error:
            self.error = error if isinstance(error, McpError) else McpError(error.message, hint=error.hint)
            self.log.add(f"not started: {self.error}")
            await self._connector.aclose()
            if isinstance(error, NeedsLogin):
                self.approval.note(resolved, needs_login=True)
            raise self.error from error
        except BaseException:  # also if cancelled, so that no process is left behind
            await self._connector.aclose()
            raise

    def _started(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled():
            task.exception()  # it is in `error`
        self._changed()

    def _ended(self, error: McpError) -> None:
        """The server ended by itself."""
        self.error = error
        self._changed()
