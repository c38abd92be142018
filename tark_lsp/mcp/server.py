"""McpServer: one server of this process, from its start to its end. It starts only as it was approved."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

from tark_lsp.errors import McpError, TarkError
from tark_lsp.mcp.challenges import NeedsLogin
from tark_lsp.mcp.client import Call, Client
from tark_lsp.mcp.connection import Connection
from tark_lsp.mcp.content import Content
from tark_lsp.mcp.eras import Era, ServerFacts
from tark_lsp.mcp.launching import Surroundings, make_transport
from tark_lsp.mcp.opening import OPEN_SECONDS, open_connection
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Changes, Pin, compare, usable
from tark_lsp.mcp.resolving import Resolver
from tark_lsp.mcp.server_config import Resolved, ServerConfig, resolve
from tark_lsp.mcp.server_log import ServerLog
from tark_lsp.mcp.server_tools import ServerTool
from tark_lsp.mcp.transport import ProgramEnded

log = logging.getLogger(__name__)

WAIT_SECONDS = 10.0
"""How long a call waits for its server."""
MOST_LISTS = 3
"""How often its list of tools is read before one call."""


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
        """`changed` is called when its state is another one."""
        self.config = config
        self._changed = changed
        self.log = ServerLog(self._ended)
        self._pins = pins
        self._around = around
        self._resolver = Resolver(config)
        self._stack = contextlib.AsyncExitStack()
        self._client: Client | None = None
        self._starting: asyncio.Task[None] | None = None
        self._stale = True
        """Whether the list of tools has to be read again before the next call."""
        self._listing = asyncio.Lock()
        self._listed: tuple[ServerTool, ...] | None = None
        self._compared: Pin | None = None
        self.changes = Changes()
        self.problems: tuple[str, ...] = ()
        """Tools that cannot be used, a sentence for each."""
        self.error: McpError | None = None
        self.unconfined = ""
        """Why it runs without a sandbox."""

    @property
    def state(self) -> ServerState:
        if self._starting is not None and not self._starting.done():
            return ServerState.STARTING
        if self._client is not None and self._client.connection.is_open:
            return ServerState.READY
        if isinstance(self.error, NeedsLogin):
            return ServerState.NEEDS_LOGIN
        return ServerState.STOPPED if self.error is None else ServerState.FAILED

    @property
    def is_confined(self) -> bool:
        """Whether it runs in the sandbox, without network. Before it runs, nobody knows."""
        settings = self.config.settings
        inside = settings.url is None and settings.sandbox and not settings.network and not self.unconfined
        return self.state is ServerState.READY and inside

    @property
    def pin(self) -> Pin | None:
        """What the user approved, whether it still holds or not."""
        return self._pins.find(self.config.name, self.config.scope)

    def approved(self) -> Pin:
        """Its pin, if it holds for the configuration. Raises McpError."""
        pin = self._holding(self._resolver.resolve(self._around.folders()))
        if self._listed is not None and pin is not self._compared:  # approved again while it runs
            self._compare(pin)
        return pin

    def _holding(self, resolved: Resolved) -> Pin:
        pin = self.pin
        hint = f"approve it in your editor's list of MCP servers, or with `tark-lsp mcp approve {self.config.name}`"
        if pin is None:
            raise McpError("you have not approved it", hint=hint)
        if pin.command != resolved.digest:
            raise McpError("its command, a file that it names, or its URL changed since you approved it", hint=hint)
        if pin.disabled:
            raise McpError("you switched it off", hint="switch it on in the list of MCP servers")
        return pin

    def start(self) -> None:
        """In the background, unless it runs already."""
        if self.state not in (ServerState.STARTING, ServerState.READY):
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(self._started)
            self._changed()

    async def ready(self) -> Client:
        """Starts it if necessary, and waits. Raises McpError, also if it runs and its approval was taken back."""
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
        return self.client

    async def _start(self) -> None:
        """Raises McpError, which is kept in `error`."""
        self.error = None
        try:
            resolved = resolve(self.config, self._around.folders())
            pin = self._holding(resolved)
            facts = await self.open(resolved, pin.era)
            pin = self._holding(resolved)  # it can be taken back while the server starts
            if facts.era is not pin.era:
                self._pins.write(replace(pin, era=facts.era))
            await self._list_again(rounds=1)
            self.error = None  # of a first attempt
            self.log.add(f"running: {facts.name or 'it has no name'}, protocol {facts.version}")
        except TarkError as error:
            self.error = error if isinstance(error, McpError) else McpError(error.message, hint=error.hint)
            self.log.add(f"not started: {self.error}")
            await self._close()
            if isinstance(error, NeedsLogin) and not pin.needs_login:
                self._pins.write(replace(pin, needs_login=True))
            raise self.error from error
        except BaseException:  # cancelled, too: no process is left behind
            await self._close()
            raise

    async def open(self, resolved: Resolved, known: Era | None, *, seconds: float = OPEN_SECONDS) -> ServerFacts:
        """Connect without looking at the pin. Raises McpError."""
        await self._close()
        try:
            return await self._open(resolved, known, seconds)
        except ProgramEnded:
            if known is Era.LEGACY:
                raise
        # Some legacy servers end when they get anything before `initialize`.
        await self._close()
        return await self._open(resolved, Era.LEGACY, seconds)

    async def _open(self, resolved: Resolved, known: Era | None, seconds: float) -> ServerFacts:
        transport, self.unconfined = await make_transport(self.config, resolved, self._around, self._stack, self.log)
        self.log.add(f"starting: {resolved.shown}" + (f" (no sandbox: {self.unconfined})" if self.unconfined else ""))
        self._stale = True

        def tools_changed() -> None:
            self._stale = True
            self.log.add("it says that its list of tools changed")

        connection = Connection(transport, tools_changed)
        self._stack.push_async_callback(connection.aclose)
        self._client = Client(connection, self.config.settings.timeout_seconds)
        return await open_connection(connection, known, seconds=seconds)

    async def _list_again(self, rounds: int = MOST_LISTS) -> None:
        """Compare what the server offers now with what was approved, until it says no more that it changed. A failure
        is no comparison: the next call tries again. Raises McpError."""
        async with self._listing:
            for _ in range(rounds):
                if not self._stale:
                    return
                self._stale = False  # first, since it can change meanwhile
                try:
                    self._listed = await self.list_tools()
                except BaseException:
                    self._stale = True
                    raise
                self._compare(self.pin)
                self._changed()
            if self._stale and rounds > 1:
                raise McpError("its list of tools changes each time it is read")

    def _compare(self, pin: Pin | None) -> None:
        self.changes = compare(() if pin is None else pin.tools, self._listed or ())
        self._compared = pin

    async def list_tools(self) -> tuple[ServerTool, ...]:
        """What it offers now. Raises McpError."""
        tools, problems = await self.client.tools()
        kept = usable(self.config.name, tools)
        clashing = [f"the tool {tool.name} has a name that another one gets, too" for tool in tools if tool not in kept]
        self.problems = (*problems, *clashing)
        return kept

    async def call_tool(self, call: Call) -> Content:
        """Raises McpError, also if the tool is not as it was approved."""
        client = await self.ready()
        await self._list_again()
        known = self.approved().find(call.tool.name)
        if call.tool.name in self.changes.off or known is None or known.digest != call.tool.digest:
            raise McpError(
                f"its tool {call.tool.name} is not as you approved it, so it is off",
                hint=f"your editor's list of MCP servers, or `tark-lsp mcp approve {self.config.name}`, shows it",
            )
        if self.pin is not None and call.tool.name in self.pin.off:
            raise McpError(f"you switched its tool {call.tool.name} off", hint="use another tool")
        try:
            return await client.call(call)
        except NeedsLogin as error:
            self.error = error
            await self._close()
            self._changed()
            raise

    @property
    def client(self) -> Client:
        """Raises McpError if it is not connected."""
        if self._client is None:
            raise McpError("it is not connected")
        return self._client

    async def aclose(self) -> None:
        try:
            if self._starting is not None and not self._starting.done():
                self._starting.cancel()
                await asyncio.wait([self._starting])
        finally:
            await self._close()
            self.changes, self._listed = Changes(), None  # the next start compares again

    def _started(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled():
            task.exception()  # it is in `error`
        self._changed()

    def _ended(self, error: McpError) -> None:
        """By itself."""
        self.error = error
        self._changed()

    async def _close(self) -> None:
        stack, self._stack, self._client = self._stack, contextlib.AsyncExitStack(), None
        try:
            await stack.aclose()
        except Exception:  # a server that ends badly must not fail the turn or the shutdown
            log.exception("the MCP server %s could not be ended", self.config.name)
