"""`tark.mcp.*` and `tark.hooks.*`: the list of MCP servers and hooks. What they do is loaded with the first one."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from tark_lsp.server.commands import Command
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.mcp_list.news import OfferNews
from tark_lsp.server.protocol import incoming
from tark_lsp.server.turns.mcp_tools import McpTools
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:
    from tark_lsp.server.mcp_list.current import CurrentList
    from tark_lsp.server.mcp_list.hook_actions import HookActions
    from tark_lsp.server.mcp_list.server_actions import ServerActions


class McpList:
    def __init__(
        self,
        connection: Connection,
        configuration: Configuration,
        workspace: Workspace,
        mcp: McpTools,
        is_trusted: Callable[[], bool],
    ) -> None:
        self._configuration = configuration
        self._workspace = workspace
        self._mcp = mcp
        self._is_trusted = is_trusted
        self.news = OfferNews(connection, workspace, mcp, lambda: self._current)

    @cached_property
    def _current(self) -> "CurrentList":
        from tark_lsp.server.mcp_list.current import CurrentList

        return CurrentList(self._configuration, self._workspace, self._mcp, self._is_trusted)

    @cached_property
    def _servers(self) -> "ServerActions":
        from tark_lsp.server.mcp_list.server_actions import ServerActions

        return ServerActions(self._current, self.news.check_soon, self.news.note)

    @cached_property
    def _hooks(self) -> "HookActions":
        from tark_lsp.server.mcp_list.hook_actions import HookActions

        return HookActions(self._current, self.news.check_soon)

    def commands(self) -> Iterable[Command]:
        yield Command("tark.mcp.list", incoming.Nothing, lambda request: self._servers.list(request))
        yield Command("tark.mcp.add", incoming.AddServer, lambda request: self._servers.add(request))
        yield Command("tark.mcp.show", incoming.ServerName, lambda request: self._servers.show(request))
        yield Command("tark.mcp.inspect", incoming.ShownServer, lambda request: self._servers.inspect(request))
        yield Command("tark.mcp.approve", incoming.ShownServer, lambda request: self._servers.approve(request))
        yield Command("tark.mcp.switch", incoming.SwitchServer, lambda request: self._servers.switch(request))
        yield Command("tark.mcp.restart", incoming.ServerName, lambda request: self._servers.restart(request))
        yield Command("tark.mcp.log", incoming.ServerName, lambda request: self._servers.log(request))
        yield Command("tark.mcp.remove", incoming.ServerName, lambda request: self._servers.remove(request))
        yield Command("tark.hooks.list", incoming.Nothing, lambda request: self._hooks.list(request))
        yield Command("tark.hooks.show", incoming.ServerName, lambda request: self._hooks.show(request))
        yield Command("tark.hooks.approve", incoming.ShownServer, lambda request: self._hooks.approve(request))
        yield Command("tark.hooks.remove", incoming.ServerName, lambda request: self._hooks.remove(request))
