"""Lists the prompts and resources of running MCP servers for completion. Starts nothing, and answers quickly."""

import asyncio
import logging
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from tark_lsp.errors import McpError
from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.turns.mcp_tools import McpTools

if TYPE_CHECKING:  # loaded with the first server
    from tark_lsp.mcp.server import McpServer

log = logging.getLogger(__name__)

Kind: TypeAlias = Literal["prompts", "resources"]
Words: TypeAlias = Sequence[tuple[str, str]]
"""Pairs of a word that can be typed, and its description."""
WAIT_SECONDS = 0.5
KEPT_SECONDS = 30.0
MOST = 200
"""The most words of one server."""
CAN_BE_TYPED = re.compile(r"[^\s\"`]+")


@dataclass(slots=True)
class Listed:
    """The list of one server. `began`: the time of its request (`time.monotonic`). Until `done`, `words` are those of
    the previous list."""

    began: float
    words: Words
    done: asyncio.Event = field(default_factory=asyncio.Event)


class McpListing:
    def __init__(self, mcp: McpTools, background: BackgroundTasks) -> None:
        self._mcp = mcp
        self._background = background
        self._known: dict[tuple[int, Kind], Listed] = {}

    async def words(self, kind: Kind) -> Words:
        """`SERVER:PROMPT` or `SERVER:URI` of each. If a server is slow, its list is ready for a later completion.

        A completion during a request waits for the same list. Otherwise it would show an empty list.
        """
        trusted = self._mcp.trusted()
        servers = [] if trusted is None else [server for server in trusted.approved() if server.state == "ready"]
        now = time.monotonic()
        lists = [self._listed(server, kind, now) for server in servers]
        for listed in lists:
            left = listed.began + WAIT_SECONDS - time.monotonic()
            if left > 0:
                with suppress(TimeoutError):
                    await asyncio.wait_for(listed.done.wait(), left)
        return [word for listed in lists for word in listed.words]

    def _listed(self, server: "McpServer", kind: Kind, now: float) -> Listed:
        """The last list, or a new one whose request starts now."""
        known = self._known.get((id(server), kind))
        if known is None or known.began + KEPT_SECONDS <= now:
            known = self._known[id(server), kind] = Listed(now, known.words if known else ())
            self._background.start(self._list(server, kind, known))
        return known

    async def _list(self, server: "McpServer", kind: Kind, listed: Listed) -> None:
        try:
            if kind == "prompts":
                found = [(prompt.name, prompt.description) for prompt in await server.client.prompts()]
            else:
                resources = await server.client.resources()
                found = [(one.uri, one.name or one.description) for one in resources]
            named = [(f"{server.config.name}:{word}", about) for word, about in found if CAN_BE_TYPED.fullmatch(word)]
            listed.words = named[:MOST]
        except McpError as error:
            log.info("the MCP server %s does not list its %s: %s", server.config.name, kind, error)
        finally:
            listed.done.set()
