"""McpServers: all configured servers of this process. Each server runs once, for all sessions."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tark_lsp.errors import McpError
from tark_lsp.mcp.launching import Surroundings
from tark_lsp.mcp.names import tool_name
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Pin
from tark_lsp.mcp.server import McpServer, ServerState
from tark_lsp.mcp.server_config import ServerConfig
from tark_lsp.mcp.server_tools import ServerTool

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """An approved tool. `name` is its name for models and rules. A permission for a call is bound to `digest`."""

    name: str
    server: McpServer
    tool: ServerTool
    digest: str


class McpServers:
    def __init__(self, pins: PinStore, around: Surroundings, changed: Callable[[], None] = lambda: None) -> None:
        """`changed` is called when the state of a server changes."""
        self._changed = changed
        self._pins = pins
        self._around = around
        self._servers: dict[str, McpServer] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._offered: dict[str, tuple[Pin, McpServer, Sequence[OfferedTool]]] = {}

    def configure(self, configs: Sequence[ServerConfig]) -> None:
        """Stops servers whose configuration changed or was removed. Starts nothing."""
        wanted = {config.name: config for config in configs if config.settings.enabled}
        for name, server in list(self._servers.items()):
            if wanted.get(name) != server.config:
                del self._servers[name]
                if server.state is not ServerState.STOPPED:
                    task = asyncio.create_task(server.aclose())
                    self._ending.add(task)
                    task.add_done_callback(self._ending.discard)
        for name, config in wanted.items():
            if name not in self._servers:
                self._servers[name] = McpServer(config, self._pins, self._around, self._changed)

    def servers(self) -> list[McpServer]:
        return [self._servers[name] for name in sorted(self._servers)]

    def find(self, name: str) -> McpServer | None:
        return self._servers.get(name)

    def approved(self) -> list[McpServer]:
        """The servers whose pin matches and that are switched on."""
        found = []
        for server in self.servers():
            try:
                server.approved()
            except McpError as error:
                log.info("the MCP server %s is not used: %s", server.config.name, error)
            else:
                found.append(server)
        return found

    def start(self) -> None:
        """Starts the approved servers in the background."""
        for server in self.approved():
            server.start()

    def tools(self) -> list[OfferedTool]:
        """The tools that can be used, from the pins, so that they are known before any server starts."""
        found = []
        for server in self.servers():
            try:
                pin = server.approved()
            except McpError:
                continue
            off = server.tools.changes.off | {*pin.off}
            found += [offered for offered in self._offered_by(server, pin) if offered.tool.name not in off]
        return sorted(found, key=lambda offered: offered.name)

    def _offered_by(self, server: McpServer, pin: Pin) -> Sequence[OfferedTool]:
        """The tools of the pin that the configuration allows. Cached for each pin, because each turn needs them."""
        name = server.config.name
        known = self._offered.get(name)
        if known is None or known[0] is not pin or known[1] is not server:
            tools = [tool for tool in pin.tools if server.config.offers(tool.name)]
            made = [OfferedTool(tool_name(name, tool.name), server, tool, pin.digest_for(tool)) for tool in tools]
            known = self._offered[name] = (pin, server, made)
        return known[2]

    def notices(self) -> list[str]:
        """A sentence for each server that is not approved, does not work, or changed."""
        told = []
        for server in self.servers():
            name = f"the MCP server {server.config.name}"
            try:
                server.approved()
            except McpError as error:
                pin = server.approval.pin
                if pin is None or not pin.disabled:
                    told.append(f"{name} is off: {error}")
                continue
            if server.error is not None:
                told.append(f"{name} does not work: {server.error}")
            elif server.tools.changes:
                off = ", ".join(sorted(server.tools.changes.off)[:5])
                shows = f"your editor's list of MCP servers, or `tark-lsp mcp approve {server.config.name}`, shows"
                hint = f"{shows} the difference"
                told.append(f"{name} changed since you approved it, so these tools are off: {off} ({hint})")
        return told

    def start_one(self, name: str) -> None:
        """Starts the server in the background, unless it already runs. It fails to start if it is not approved."""
        if (server := self._servers.get(name)) is not None:
            server.start()

    async def end(self, name: str) -> None:
        """Stops the server. It can be started again."""
        if (server := self._servers.get(name)) is not None:
            await server.aclose()

    async def aclose(self) -> None:
        servers, self._servers = self.servers(), {}
        await asyncio.gather(*(server.aclose() for server in servers), *self._ending)
