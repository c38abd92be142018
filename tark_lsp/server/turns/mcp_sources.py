"""The configured and offered MCP servers, and their surroundings. `tark_lsp.mcp` is imported only if there is one."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tark_lsp.folders import mcp_pins_folder
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.turns.sandboxes import Sandboxes
from tark_lsp.tools.addresses import is_public
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:  # loaded with the first server
    from tark_lsp.mcp.launching import Surroundings
    from tark_lsp.mcp.offers import Offers
    from tark_lsp.mcp.pin_store import PinStore
    from tark_lsp.mcp.server_config import ServerConfig
    from tark_lsp.mcp.token_store import TokenStore
    from tark_lsp.sandbox.sandbox import Sandbox

PROJECT_FILES = (".mcp.json", ".vscode/mcp.json")
"""The same as in mcp/offers.py, which is imported only if there are servers."""


class McpSources:
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
        self.is_trusted = is_trusted
        self._tokens: TokenStore | None = None

    @property
    def in_memory(self) -> bool:
        """Whether files are changed only in memory, so that no server may run."""
        return self._workspace.in_memory

    def has_any(self) -> bool:
        """Whether there is a server or an offer. Imports nothing."""
        return bool(self._configuration.settings.mcp.servers) or any(
            (folder / name).is_file() for folder in self._workspace.folders for name in PROJECT_FILES
        )

    def own(self) -> "list[ServerConfig]":
        """The servers in the user's settings."""
        from tark_lsp.mcp.server_config import ServerConfig

        return [ServerConfig(name, one) for name, one in self._configuration.settings.mcp.servers.items()]

    def offers(self) -> "Offers":
        """The offers in the folders of the workspace; empty if the user does not trust it."""
        from tark_lsp.mcp.offers import Offers, project_offers

        if not self.is_trusted() or self._workspace.in_memory:
            return Offers()
        return project_offers(self._workspace.folders, tuple(self._configuration.settings.mcp.servers))

    def pins(self) -> "PinStore":
        from tark_lsp.mcp.pin_store import PinStore

        return PinStore(mcp_pins_folder)

    def around(self) -> "Surroundings":
        """The surroundings in which servers run."""
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

    def configs(self, *, tells_offers: bool) -> "tuple[Sequence[ServerConfig], Sequence[str]]":
        """The user's own servers and the approved offers of a trusted project, and sentences about problems.
        `tells_offers`: also a sentence that names offers that are not approved."""
        offers, pins = self.offers(), self.pins()
        approved = [one for one in offers.servers if pins.find(one.name, one.scope) is not None]
        new = [one.name for one in offers.servers if one not in approved and one.settings.enabled]
        problems = [*offers.problems]
        if new and tells_offers:
            named = ", ".join(new)
            problems.append(f"this folder offers MCP servers ({named}): `tark-lsp mcp approve NAME` shows one")
        return [*self.own(), *approved], problems

    def _sandbox(self) -> "Sandbox | None":
        if self._configuration.settings.sandbox == "off":
            return None
        return self.sandboxes.sandbox_of(self._workspace.folders)
