"""The prompts and resources of the MCP servers that run, for completion. Nothing is started, and no key waits long."""

import asyncio
import logging
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from tark_lsp.errors import McpError
from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.turns.mcp_tools import McpTools

if TYPE_CHECKING:  # loaded with the first server
    from tark_lsp.mcp.server import McpServer

log = logging.getLogger(__name__)

Kind: TypeAlias = Literal["prompts", "resources"]
Words: TypeAlias = Sequence[tuple[str, str]]
"""What can be typed, and what it is about."""
WAIT_SECONDS = 0.5
KEPT_SECONDS = 30.0
MOST = 200
"""Of one server."""
CAN_BE_TYPED = re.compile(r"[^\s\"`]+")


class McpListing:
    def __init__(self, mcp: McpTools, background: BackgroundTasks) -> None:
        self._mcp = mcp
        self._background = background
        self._known: dict[tuple[int, Kind], tuple[float, Words]] = {}

    async def words(self, kind: Kind) -> Words:
        """`SERVER:PROMPT` or `SERVER:URI` of each. A list that takes longer is there for a later key."""
        trusted = self._mcp.trusted()
        servers = [] if trusted is None else [server for server in trusted.approved() if server.state == "ready"]
        now = time.monotonic()
        old = [
            server
            for server in servers
            if self._known.get((id(server), kind), (-KEPT_SECONDS,))[0] + KEPT_SECONDS <= now
        ]
        if old:
            done = asyncio.Event()
            for server in old:
                self._known[id(server), kind] = now, self._of(server, kind)  # asked for once
            self._background.start(self._list(old, kind, done))
            try:
                await asyncio.wait_for(done.wait(), WAIT_SECONDS)
            except TimeoutError:
                log.info("the %s of MCP servers are not there after %g s", kind, WAIT_SECONDS)
        return [word for server in servers for word in self._of(server, kind)]

    def _of(self, server: "McpServer", kind: Kind) -> Words:
        return self._known.get((id(server), kind), (0.0, ()))[1]

    async def _list(self, servers: "Sequence[McpServer]", kind: Kind, done: asyncio.Event) -> None:
        try:
            await asyncio.gather(*(self._list_one(server, kind) for server in servers))
        finally:
            done.set()

    async def _list_one(self, server: "McpServer", kind: Kind) -> None:
        try:
            if kind == "prompts":
                found = [(prompt.name, prompt.description) for prompt in await server.client.prompts()]
            else:
                resources = await server.client.resources()
                found = [(one.uri, one.name or one.description) for one in resources]
        except McpError as error:
            log.info("the MCP server %s does not list its %s: %s", server.config.name, kind, error)
            return
        named = [(f"{server.config.name}:{word}", about) for word, about in found if CAN_BE_TYPED.fullmatch(word)]
        self._known[id(server), kind] = time.monotonic(), named[:MOST]
