"""McpServer: one server of this process, from its start to its end. It starts only as it was approved."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tark_lsp.errors import McpError, TarkError
from tark_lsp.mcp.connection import Connection
from tark_lsp.mcp.content import Content, content_of_call, content_of_resource, messages_of_prompt
from tark_lsp.mcp.elicitation import Elicit
from tark_lsp.mcp.eras import Era, ServerFacts
from tark_lsp.mcp.launching import Surroundings, make_transport
from tark_lsp.mcp.opening import open_connection
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Changes, Pin, compare, usable
from tark_lsp.mcp.schema_headers import argument_headers
from tark_lsp.mcp.server_config import Resolved, ServerConfig, resolve
from tark_lsp.mcp.server_tools import (
    ServerPrompt,
    ServerResource,
    ServerTool,
    read_prompts,
    read_resources,
    read_tools,
)

log = logging.getLogger(__name__)

WAIT_SECONDS = 10.0
"""How long a call waits for its server."""
LIST_SECONDS = 30.0
MOST_PAGES, MOST_ITEMS = 100, 2_000


class ServerState(StrEnum):
    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Call:
    """`arguments` for the `tool` as it was approved. `elicit`: None if the user cannot be asked."""

    tool: ServerTool
    arguments: Mapping[str, Any]
    report: Callable[[str], None] = lambda _: None
    elicit: Elicit | None = None


class McpServer:
    def __init__(self, config: ServerConfig, pins: PinStore, around: Surroundings) -> None:
        self.config = config
        self._pins = pins
        self._around = around
        self._stack = contextlib.AsyncExitStack()
        self._connection: Connection | None = None
        self._starting: asyncio.Task[None] | None = None
        self._stale = True
        """Whether the list of tools has to be read again before the next call."""
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
        if self._connection is not None and self._connection.is_open:
            return ServerState.READY
        return ServerState.STOPPED if self.error is None else ServerState.FAILED

    @property
    def is_confined(self) -> bool:
        """Whether it runs in the sandbox, without network. Before it runs, nobody knows."""
        settings = self.config.settings
        inside = settings.url is None and settings.sandbox and not settings.network and not self.unconfined
        return self.state is ServerState.READY and inside

    def approved(self) -> Pin:
        """Its pin, if it holds for the configuration. Raises McpError."""
        return self._holding(resolve(self.config, self._around.folders()))

    def _holding(self, resolved: Resolved) -> Pin:
        pin = self._pins.find(self.config.name, self.config.scope)
        hint = f"run `tark-lsp mcp approve {self.config.name}` in a terminal"
        if pin is None:
            raise McpError("you have not approved it", hint=hint)
        if pin.command != resolved.digest:
            raise McpError("its command or URL changed since you approved it", hint=hint)
        return pin

    def start(self) -> None:
        """In the background, unless it runs already."""
        if self.state not in (ServerState.STARTING, ServerState.READY):
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(_seen)

    async def ready(self) -> Connection:
        """Starts it if necessary, and waits. Raises McpError."""
        self.start()
        if self.state is ServerState.STARTING and self._starting is not None:
            try:
                await asyncio.wait_for(asyncio.shield(self._starting), WAIT_SECONDS)
            except TimeoutError as error:
                raise McpError(f"it is not ready after {WAIT_SECONDS:g} s", hint="try again later") from error
        if self._connection is None or self.error is not None:
            raise self.error or McpError("it is not ready")
        return self._connection

    async def _start(self) -> None:
        """Raises McpError, which is kept in `error`."""
        self.error = None
        try:
            resolved = resolve(self.config, self._around.folders())
            pin = self._holding(resolved)
            facts = await self.open(resolved, pin.era)
            if facts.era is not pin.era:
                self._pins.write(replace(pin, era=facts.era))
            await self._list_again()
        except TarkError as error:
            self.error = error if isinstance(error, McpError) else McpError(error.message, hint=error.hint)
            await self._close()
            raise self.error from error
        except BaseException:
            await self._close()
            raise

    async def open(self, resolved: Resolved, known: Era | None) -> ServerFacts:
        """Connect without looking at the pin. Raises McpError."""
        await self._close()
        try:
            return await self._open(resolved, known)
        except McpError:
            if known is Era.LEGACY or resolved.url:
                raise
        # Some legacy servers end when they get anything before `initialize`.
        await self._close()
        return await self._open(resolved, Era.LEGACY)

    async def _open(self, resolved: Resolved, known: Era | None) -> ServerFacts:
        transport, self.unconfined = await make_transport(self.config, resolved, self._around, self._stack)
        connection = Connection(transport, self._tools_changed)
        self._stack.push_async_callback(connection.aclose)
        self._connection, self._stale = connection, True
        return await open_connection(connection, known)

    def _tools_changed(self) -> None:
        self._stale = True

    async def _list_again(self) -> None:
        """Compare what the server offers now with what was approved. Raises McpError."""
        self._stale = False  # first, since it can change meanwhile
        tools = await self.list_tools()
        pin = self._pins.find(self.config.name, self.config.scope)
        self.changes = compare(() if pin is None else pin.tools, tools)

    async def list_tools(self) -> tuple[ServerTool, ...]:
        """What it offers now. Raises McpError."""
        connection = self._open_connection()
        if not connection.facts.can("tools"):
            return ()
        tools, problems = read_tools(await self._list(connection, "tools/list", "tools"))
        kept = usable(self.config.name, tools)
        clashing = [f"the tool {tool.name} has a name that another one gets, too" for tool in tools if tool not in kept]
        self.problems = (*problems, *clashing)
        return kept

    async def list_prompts(self) -> tuple[ServerPrompt, ...]:
        connection = await self.ready()
        if not connection.facts.can("prompts"):
            return ()
        return read_prompts(await self._list(connection, "prompts/list", "prompts"))

    async def list_resources(self) -> tuple[ServerResource, ...]:
        connection = await self.ready()
        if not connection.facts.can("resources"):
            return ()
        return read_resources(await self._list(connection, "resources/list", "resources"))

    async def get_prompt(self, name: str, arguments: Mapping[str, str]) -> list[tuple[str, str]]:
        """(role, text) of its messages. Raises McpError."""
        connection, seconds = await self.ready(), self.config.settings.timeout_seconds
        given = {"name": name, "arguments": dict(arguments)}
        return messages_of_prompt(await connection.call("prompts/get", given, seconds=seconds))

    async def read_resource(self, uri: str) -> Content:
        """Raises McpError."""
        connection, seconds = await self.ready(), self.config.settings.timeout_seconds
        return content_of_resource(await connection.call("resources/read", {"uri": uri}, seconds=seconds))

    async def call_tool(self, call: Call) -> Content:
        """Raises McpError, also if the tool is not as it was approved."""
        connection = await self.ready()
        if self._stale:
            await self._list_again()
        if call.tool.name in self.changes.off:
            raise McpError(
                f"its tool {call.tool.name} is not as you approved it, so it is off",
                hint=f"`tark-lsp mcp approve {self.config.name}` shows what changed",
            )
        try:
            headers = argument_headers(call.tool.schema, call.arguments)
        except ValueError as error:
            raise McpError(f"its tool {call.tool.name} cannot be used: {error}") from error
        result = await connection.call(
            "tools/call",
            {"name": call.tool.name, "arguments": dict(call.arguments)},
            seconds=self.config.settings.timeout_seconds,
            report=call.report,
            elicit=call.elicit,
            headers=headers if connection.facts.era is Era.MODERN else None,
        )
        return content_of_call(result)

    def pin_now(self, resolved: Resolved, tools: tuple[ServerTool, ...]) -> Pin:
        """A pin for what the user has just approved."""
        era = self._open_connection().facts.era
        return Pin(self.config.name, resolved.digest, tools, self.config.scope, era, time.time())

    @property
    def facts(self) -> ServerFacts:
        return self._open_connection().facts

    def _open_connection(self) -> Connection:
        if self._connection is None:
            raise McpError("it is not connected")
        return self._connection

    async def _list(self, connection: Connection, method: str, key: str) -> list[Any]:
        """All pages."""
        items: list[Any] = []
        cursor: object = None
        for _ in range(MOST_PAGES):
            page = await connection.call(method, {} if cursor is None else {"cursor": cursor}, seconds=LIST_SECONDS)
            found = page.get(key)
            items += found if isinstance(found, list) else []
            cursor, last = page.get("nextCursor"), cursor
            if len(items) > MOST_ITEMS:
                raise McpError(f"it lists more than {MOST_ITEMS:,} {key}")
            if not isinstance(cursor, str) or cursor == last:
                return items
        raise McpError(f"its list of {key} does not end")

    async def aclose(self) -> None:
        try:
            if self._starting is not None and not self._starting.done():
                self._starting.cancel()
                await asyncio.wait([self._starting])
        finally:
            await self._close()

    async def _close(self) -> None:
        stack, self._stack, self._connection = self._stack, contextlib.AsyncExitStack(), None
        try:
            await stack.aclose()
        except Exception:
            log.exception("the MCP server %s could not be ended", self.config.name)


def _seen(task: "asyncio.Task[None]") -> None:
    if not task.cancelled():
        task.exception()  # it is in `error`
