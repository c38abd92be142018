"""The MCP servers of this process, for its turns. Nothing of them is imported before one is configured."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tark_lsp.folders import mcp_pins_folder
from tark_lsp.listeners import Listeners
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.turns.sandboxes import Sandboxes
from tark_lsp.tools.addresses import is_public
from tark_lsp.tools.tool import Tool, ToolContext
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:  # loaded with the first server
    from tark_lsp.mcp.launching import Surroundings
    from tark_lsp.mcp.offers import Offers
    from tark_lsp.mcp.pin_store import PinStore
    from tark_lsp.mcp.server_config import ServerConfig
    from tark_lsp.mcp.servers import McpServers
    from tark_lsp.mcp.token_store import TokenStore
    from tark_lsp.sandbox.sandbox import Sandbox

PROJECT_FILES = (".mcp.json", ".vscode/mcp.json")
"""As in mcp/offers.py, which is not imported to see that there are none."""


class McpTools:
    def __init__(
        self,
        configuration: Configuration,
        workspace: Workspace,
        sandboxes: Sandboxes,
        is_trusted: Callable[[], bool],
    ) -> None:
        """`is_trusted`: whether the user trusts the folders of `workspace`."""
        self._configuration = configuration
        self._workspace = workspace
        self.sandboxes = sandboxes
        self._is_trusted = is_trusted
        self._servers: McpServers | None = None
        self._tokens: TokenStore | None = None
        self._made: dict[tuple[str, str, int], Tool[Any]] = {}
        self._problems: list[str] = []
        self._told: set[str] = set()
        self.tells_offers = True
        """Whether a turn says which offers there are; not if the client shows them."""
        self.changed: Listeners[None] = Listeners()
        """Tells that the state of a server is another one."""

    def tools(self) -> Mapping[str, Tool[Any]]:
        """Those that the user approved, by name. No server has to run for that."""
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
        """For mentions of resources, if the user trusts the workspace."""
        if (servers := self.trusted()) is None:
            return {}
        from tark_lsp.server.turns.mcp_texts import resource_readers

        return resource_readers(servers)

    async def filled_prompt(self, typed: str, ctx: ToolContext) -> str:
        """With the text of the server's prompt that it names, if the user trusts the workspace. Raises RequestError."""
        if not typed.lstrip().startswith("/") or (servers := self.trusted()) is None:
            return typed
        from tark_lsp.server.turns.mcp_texts import filled_prompt

        return await filled_prompt(servers, typed, ctx)

    def start(self) -> None:
        """Start those that are approved, in the background, if the user trusts the workspace."""
        if (servers := self.trusted()) is not None:
            servers.start()

    def notices(self) -> list[str]:
        """What the user was not told yet."""
        servers = self.servers()
        found = [] if servers is None else [*self._problems, *servers.notices()]
        new = [notice for notice in found if notice not in self._told]
        self._told.update(new)
        return new

    async def aclose(self) -> None:
        if self._servers is not None:
            await self._servers.aclose()

    def trusted(self) -> "McpServers | None":
        """None without a server, or without trust in the workspace, which is looked up only if there is a server."""
        servers = self.servers()
        return servers if servers is not None and self._is_trusted() else None

    def own(self) -> "list[ServerConfig]":
        """The user's own servers."""
        from tark_lsp.mcp.server_config import ServerConfig

        return [ServerConfig(name, one) for name, one in self._configuration.settings.mcp.servers.items()]

    def offers(self) -> "Offers":
        """Of the folders of the workspace, if the user trusts it."""
        from tark_lsp.mcp.offers import Offers, project_offers

        if not self._is_trusted() or self._workspace.in_memory:
            return Offers()
        return project_offers(self._workspace.folders, tuple(self._configuration.settings.mcp.servers))

    def pins(self) -> "PinStore":
        from tark_lsp.mcp.pin_store import PinStore

        return PinStore(mcp_pins_folder)

    def around(self) -> "Surroundings":
        """Where servers run."""
        from tark_lsp.mcp.launching import Surroundings
        from tark_lsp.mcp.token_store import TokenStore

        self._tokens = self._tokens or TokenStore(lock_folder=mcp_pins_folder)
        return Surroundings(
            lambda: self._workspace.folders,
            os.environ,
            self._sandbox,
            lambda: self._configuration.settings.sandbox == "require",
            is_public,
            self._tokens,
        )

    def has_any(self) -> bool:
        """Whether there is a server or an offer. Nothing is imported for that."""
        return bool(self._configuration.settings.mcp.servers) or any(
            (folder / name).is_file() for folder in self._workspace.folders for name in PROJECT_FILES
        )

    def servers(self) -> "McpServers | None":
        """None if there is none. Where files are changed in memory only, nothing runs."""
        if self._workspace.in_memory or (self._servers is None and not self.has_any()):
            return None
        if self._servers is None:
            from tark_lsp.mcp.servers import McpServers

            self._servers = McpServers(self.pins(), self.around(), lambda: self.changed.emit(None))
        self._servers.configure(self._configs())
        return self._servers

    def _configs(self) -> "list[ServerConfig]":
        """The user's own; and the offers of a project that the user approved, if they trust it."""
        offers, pins = self.offers(), self.pins()
        approved = [one for one in offers.servers if pins.find(one.name, one.scope) is not None]
        new = [one.name for one in offers.servers if one not in approved and one.settings.enabled]
        self._problems = [*offers.problems]
        if new and self.tells_offers:
            named = ", ".join(new)
            self._problems.append(f"this folder offers MCP servers ({named}): `tark-lsp mcp approve NAME` shows one")
        return [*self.own(), *approved]

    def _sandbox(self) -> "Sandbox | None":
        if self._configuration.settings.sandbox == "off":
            return None
        return self.sandboxes.sandbox_of(self._workspace.folders)
