"""`tark.mcp.*` and `tark.hooks.*`: the list of MCP servers and hooks. What they do is loaded with the first one."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from tark_lsp.server.commands import Command
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.mcp_list.news import OfferNews
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
        from tark_lsp.server.protocol import command_payloads  # with the first command

        yield Command("tark.mcp.list", command_payloads.Nothing, lambda request: self._servers.list(request))
        yield Command("tark.mcp.add", command_payloads.AddServer, lambda request: self._servers.add(request))
        yield Command("tark.mcp.show", command_payloads.ServerName, lambda request: self._servers.show(request))
        yield Command("tark.mcp.inspect", command_payloads.ShownServer, lambda request: self._servers.inspect(request))
        yield Command("tark.mcp.approve", command_payloads.ShownServer, lambda request: self._servers.approve(request))
        yield Command("tark.mcp.switch", command_payloads.SwitchServer, lambda request: self._servers.switch(request))
        yield Command("tark.mcp.restart", command_payloads.ServerName, lambda request: self._servers.restart(request))
        yield Command("tark.mcp.log", command_payloads.ServerName, lambda request: self._servers.log(request))
        yield Command("tark.mcp.remove", command_payloads.ServerName, lambda request: self._servers.remove(request))
        yield Command("tark.hooks.list", command_payloads.Nothing, lambda request: self._hooks.list(request))
        yield Command("tark.hooks.show", command_payloads.ServerName, lambda request: self._hooks.show(request))
        yield Command("tark.hooks.approve", command_payloads.ShownServer, lambda request: self._hooks.approve(request))
        yield Command("tark.hooks.remove", command_payloads.ServerName, lambda request: self._hooks.remove(request))
