"""CurrentList: all MCP servers and hooks of this process, including the offers of a trusted workspace."""

from collections.abc import Callable
from dataclasses import dataclass

from tark_lsp.errors import RequestError
from tark_lsp.folders import hook_pins_folder
from tark_lsp.hooks.hook import Hook
from tark_lsp.hooks.pinning import Offers, read_offers
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.mcp_list.rows import HookRow, ServerRow
from tark_lsp.server.turns.mcp_tools import McpTools
from tark_lsp.workspace.files import Workspace


@dataclass(frozen=True, slots=True)
class CurrentList:
    """`is_trusted`: whether the user trusts the folders of `workspace`."""

    configuration: Configuration
    workspace: Workspace
    mcp: McpTools
    is_trusted: Callable[[], bool]

    def servers(self) -> tuple[list[ServerRow], tuple[str, ...]]:
        """The servers, the user's own first, and a sentence for each offer that cannot be used."""
        running, offers, pins = self.mcp.servers(), self.mcp.sources.offers(), self.mcp.sources.pins()
        trusted, folders = self.is_trusted(), self.workspace.folders
        rows = [
            ServerRow(
                config, running.find(config.name) if running is not None else None, pins, folders, trusted=trusted
            )
            for config in (*self.mcp.sources.own(), *offers.servers)
        ]
        return rows, offers.problems

    def server(self, name: str) -> ServerRow:
        """Raises RequestError."""
        rows, _ = self.servers()
        if found := [row for row in rows if row.config.name == name]:
            return found[0]
        known = ", ".join(row.config.name for row in rows) or "none"
        raise RequestError(f"there is no MCP server {name!r}", hint=f"there are: {known}")

    def hooks(self) -> tuple[list[HookRow], tuple[str, ...]]:
        """The hooks, the user's own first, and a sentence for each offer that cannot be used."""
        own = [Hook(settings) for settings in self.configuration.settings.hooks]
        offers = read_offers(self.workspace.folders, [hook.name for hook in own]) if self.is_trusted() else Offers()
        pins = self.hook_pins()
        return [HookRow(hook, pins, self.workspace.folders) for hook in (*own, *offers.hooks)], offers.problems

    def hook(self, name: str) -> HookRow:
        """Raises RequestError."""
        rows, _ = self.hooks()
        if found := [row for row in rows if row.hook.name == name]:
            return found[0]
        known = ", ".join(row.hook.name for row in rows) or "none"
        raise RequestError(f"there is no hook {name!r}", hint=f"there are: {known}")

    def hook_pins(self) -> PinStore:
        return PinStore(hook_pins_folder)
