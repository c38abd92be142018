"""The MCP servers of this process, for its turns. `tark_lsp.mcp` is imported only if there is one."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tark_lsp.listeners import Listeners
from tark_lsp.server.turns.mcp_sources import McpSources
from tark_lsp.tools.tool import Tool, ToolContext

if TYPE_CHECKING:  # loaded with the first server
    from tark_lsp.mcp.servers import McpServers


class McpTools:
    def __init__(self, sources: McpSources) -> None:
        self.sources = sources
        self._servers: McpServers | None = None
        self._made: dict[tuple[str, str, int], Tool[Any]] = {}
        self._problems: Sequence[str] = ()
        self._told: set[str] = set()
        self.tells_offers = True
        """Whether a turn's notices name the offers. False if the client shows them."""
        self.changed: Listeners[None] = Listeners()
        """Notified when the state of a server changes."""

    def tools(self) -> Mapping[str, Tool[Any]]:
        """The approved tools, by name. The servers need not run for that."""
        servers = self.servers()
        if servers is None:
            return {}
        from tark_lsp.tools.mcp_tool import mcp_tool

        made: dict[tuple[str, str, int], Tool[Any]] = {}
        for offered in servers.tools():
            key = (offered.name, offered.digest, id(offered.server))
            made[key] = self._made.get(key) or mcp_tool(offered)
        self._made = made
        return {tool.name: tool for tool in made.values()}

    def readers(self) -> Mapping[str, Tool[Any]]:
        """The readers for mentions of resources, if the user trusts the workspace."""
        if (servers := self.trusted()) is None:
            return {}
        from tark_lsp.server.turns.mcp_texts import resource_readers

        return resource_readers(servers)

    async def filled_prompt(self, typed: str, ctx: ToolContext) -> str:
        """`typed`, with the text of the server's prompt that it names, if the user trusts the workspace. Raises
        RequestError."""
        if not typed.lstrip().startswith("/") or (servers := self.trusted()) is None:
            return typed
        from tark_lsp.server.turns.mcp_texts import filled_prompt

        return await filled_prompt(servers, typed, ctx)

    def start(self) -> None:
        """Start the approved servers in the background, if the user trusts the workspace."""
        if (servers := self.trusted()) is not None:
            servers.start()

    def notices(self) -> list[str]:
        """The notices that the user has not got yet."""
        servers = self.servers()
        found = [] if servers is None else [*self._problems, *servers.notices()]
        new = [notice for notice in found if notice not in self._told]
        self._told.update(new)
        return new

    async def aclose(self) -> None:
        if self._servers is not None:
            await self._servers.aclose()

    def trusted(self) -> "McpServers | None":
        """The servers; None if there are none, or the user does not trust the workspace. Trust is checked only if there
        are servers."""
        servers = self.servers()
        return servers if servers is not None and self.sources.is_trusted() else None

    def servers(self) -> "McpServers | None":
        """The servers; None if there are none, or files are changed only in memory."""
        if self.sources.in_memory or (self._servers is None and not self.sources.has_any()):
            return None
        if self._servers is None:
            from tark_lsp.mcp.servers import McpServers

            self._servers = McpServers(self.sources.pins(), self.sources.around(), lambda: self.changed.emit(None))
        configs, self._problems = self.sources.configs(tells_offers=self.tells_offers)
        self._servers.configure(configs)
        return self._servers
