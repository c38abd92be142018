"""ToolList: compares the tools that a running server lists with those that the user approved."""

import asyncio
from collections.abc import Callable

from tark_lsp.errors import McpError
from tark_lsp.mcp.approval import Approval
from tark_lsp.mcp.client import Client
from tark_lsp.mcp.connector import Connector
from tark_lsp.mcp.pins import Changes, Pin, compare, usable
from tark_lsp.mcp.server_tools import ServerTool

MOST_LISTS = 3
"""How many times the list is read before one call, if it keeps changing."""


async def offered_tools(server: str, client: Client) -> tuple[tuple[ServerTool, ...], tuple[str, ...]]:
    """The tools that the server offers now, and a sentence for each that cannot be used. Raises McpError."""
    tools, problems = await client.tools()
    kept = usable(server, tools)
    clashing = [f"the tool {tool.name} gets the same name as another tool" for tool in tools if tool not in kept]
    return kept, (*problems, *clashing)


class ToolList:
    def __init__(self, server: str, approval: Approval, changed: Callable[[], None]) -> None:
        """`server`: its name. `changed` is called after each comparison with a new list."""
        self._server = server
        self._approval = approval
        self._changed = changed
        self._stale = True
        """Whether the list must be read again before the next call."""
        self._reading = asyncio.Lock()
        self._listed: tuple[ServerTool, ...] | None = None
        self._compared: Pin | None = None
        self.changes = Changes()
        self.problems: tuple[str, ...] = ()
        """A sentence for each tool that cannot be used."""

    def expire(self) -> None:
        """Makes the next call read the list again."""
        self._stale = True

    def forget(self) -> None:
        """Forgets the list, because the server stops. Its next start compares again."""
        self.changes, self._listed = Changes(), None

    async def update(self, connector: Connector, rounds: int = MOST_LISTS) -> None:
        """Reads the list and compares it with the approved tools, again if it changes meanwhile. If that fails, the
        next call tries again. Raises McpError."""
        async with self._reading:
            for _ in range(rounds):
                if not self._stale:
                    return
                self._stale = False  # before the read, because the list can change during it
                try:
                    self._listed, self.problems = await offered_tools(self._server, connector.client)
                except BaseException:  # also if cancelled; raised again
                    self._stale = True
                    raise
                self._compare(self._approval.pin)
                self._changed()
            if self._stale and rounds > 1:
                raise McpError("its list of tools changes each time it is read")

    def compare_with(self, pin: Pin) -> None:
        """Compares the list again if the user approved another pin while the server runs."""
        if self._listed is not None and pin is not self._compared:
            self._compare(pin)

    def check(self, tool: ServerTool, pin: Pin) -> None:
        """Raises McpError if the tool is not as the user approved it, or if they switched it off."""
        known = pin.find(tool.name)
        if tool.name in self.changes.off or known is None or known.digest != tool.digest:
            shows = f"your editor's list of MCP servers, or `tark-lsp mcp approve {self._server}`, shows the difference"
            # The user sees only the message; the hint is for the model.
            raise McpError(
                f"its tool {tool.name} is not as you approved it, so it is off ({shows})", hint="use another tool"
            )
        if tool.name in pin.off:
            raise McpError(f"you switched its tool {tool.name} off", hint="use another tool")

    def _compare(self, pin: Pin | None) -> None:
        self.changes = compare(() if pin is None else pin.tools, self._listed or ())
        self._compared = pin
