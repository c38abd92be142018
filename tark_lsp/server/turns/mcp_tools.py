"""The MCP servers of this process, for its turns. Nothing of them is imported before one is configured."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tark_lsp.folders import mcp_pins_folder
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.turns.sandboxes import Sandboxes
from tark_lsp.tools.addresses import is_public
from tark_lsp.tools.tool import Tool, ToolContext
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:  # loaded with the first server
    from tark_lsp.mcp.server import McpServer
    from tark_lsp.mcp.server_config import ServerConfig
    from tark_lsp.mcp.servers import McpServers
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
        self._made: dict[tuple[str, str, int], Tool[Any]] = {}
        self._problems: list[str] = []
        self._told: set[str] = set()

    def tools(self) -> Mapping[str, Tool[Any]]:
        """Those that the user approved, by name. No server has to run for that."""
        servers = self._configured()
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
        if (servers := self._trusted()) is None:
            return {}
        from tark_lsp.server.turns.mcp_texts import resource_readers

        return resource_readers(servers)

    async def filled_prompt(self, typed: str, ctx: ToolContext) -> str:
        """With the text of the server's prompt that it names, if the user trusts the workspace. Raises RequestError."""
        if not typed.lstrip().startswith("/") or (servers := self._trusted()) is None:
            return typed
        from tark_lsp.server.turns.mcp_texts import filled_prompt

        return await filled_prompt(servers, typed, ctx)

    def start(self) -> None:
        """Start those that are approved, in the background, if the user trusts the workspace."""
        if (servers := self._trusted()) is not None:
            servers.start()

    def running(self) -> "list[McpServer]":
        """Those that can be asked now, if the user trusts the workspace."""
        if self._servers is None or (servers := self._trusted()) is None:
            return []
        return [server for server in servers.approved() if server.state == "ready"]

    def notices(self) -> list[str]:
        """What the user was not told yet."""
        servers = self._configured()
        found = [] if servers is None else [*self._problems, *servers.notices()]
        new = [notice for notice in found if notice not in self._told]
        self._told.update(new)
        return new

    async def aclose(self) -> None:
        if self._servers is not None:
            await self._servers.aclose()

    def _trusted(self) -> "McpServers | None":
        """None without a server, or without trust in the workspace, which is looked up only if there is a server."""
        servers = self._configured()
        return servers if servers is not None and self._is_trusted() else None

    def _configured(self) -> "McpServers | None":
        """None if there is none. Where files are changed in memory only, nothing runs."""
        settings = self._configuration.settings
        folders = self._workspace.folders
        nothing = not settings.mcp.servers and not any(_offers(folder) for folder in folders)
        if self._workspace.in_memory or (nothing and self._servers is None):
            return None
        self._servers = self._servers or self._new_servers()
        self._servers.configure(self._configs())
        return self._servers

    def _new_servers(self) -> "McpServers":
        from tark_lsp.mcp.launching import Surroundings
        from tark_lsp.mcp.pin_store import PinStore
        from tark_lsp.mcp.servers import McpServers

        around = Surroundings(
            lambda: self._workspace.folders,
            os.environ,
            self._sandbox,
            lambda: self._configuration.settings.sandbox == "require",
            is_public,
        )
        return McpServers(PinStore(mcp_pins_folder), around)

    def _configs(self) -> "list[ServerConfig]":
        """The user's own; and the offers of a project that the user approved, if they trust it."""
        from tark_lsp.mcp.offers import project_offers
        from tark_lsp.mcp.pin_store import PinStore
        from tark_lsp.mcp.server_config import ServerConfig

        servers = self._configuration.settings.mcp.servers
        own = [ServerConfig(name, settings) for name, settings in servers.items()]
        self._problems = []
        if not self._is_trusted():
            return own
        offers, pins = project_offers(self._workspace.folders, tuple(servers)), PinStore(mcp_pins_folder)
        approved = [one for one in offers.servers if pins.find(one.name, one.scope) is not None]
        if new := [one.name for one in offers.servers if one not in approved and one.settings.enabled]:
            named = ", ".join(new)
            self._problems.append(f"this folder offers MCP servers ({named}): `tark-lsp mcp approve NAME` shows one")
        self._problems += offers.problems
        return [*own, *approved]

    def _sandbox(self) -> "Sandbox | None":
        if self._configuration.settings.sandbox == "off":
            return None
        return self.sandboxes.sandbox_of(self._workspace.folders)


def _offers(folder: Path) -> bool:
    return any((folder / name).is_file() for name in PROJECT_FILES)
