"""The commands `tark.mcp.*` and `tark.hooks.*`. Their implementation is imported at the first one."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from tark_lsp.server.commands import Command
from tark_lsp.server.mcp_list.news import OfferNews
from tark_lsp.server.protocol import command_payloads as payloads

if TYPE_CHECKING:
    from tark_lsp.server.mcp_list.hook_actions import HookActions
    from tark_lsp.server.mcp_list.server_actions import ServerActions


class McpList:
    def __init__(self, news: OfferNews) -> None:
        self._news = news

    @cached_property
    def _servers(self) -> "ServerActions":
        from tark_lsp.server.mcp_list.server_actions import ServerActions

        return ServerActions(self._news.current, self._news.check_soon, self._news.note)

    @cached_property
    def _hooks(self) -> "HookActions":
        from tark_lsp.server.mcp_list.hook_actions import HookActions

        return HookActions(self._news.current, self._news.check_soon)

    def commands(self) -> Iterable[Command]:
        yield Command("tark.mcp.list", payloads.Nothing, lambda request: self._servers.list(request))
        yield Command("tark.mcp.add", payloads.AddServer, lambda request: self._servers.add(request))
        yield Command("tark.mcp.show", payloads.ServerName, lambda request: self._servers.show(request))
        yield Command("tark.mcp.inspect", payloads.ShownServer, lambda request: self._servers.inspect(request))
        yield Command("tark.mcp.approve", payloads.ShownServer, lambda request: self._servers.approve(request))
        yield Command("tark.mcp.switch", payloads.SwitchServer, lambda request: self._servers.switch(request))
        yield Command("tark.mcp.restart", payloads.ServerName, lambda request: self._servers.restart(request))
        yield Command("tark.mcp.log", payloads.ServerName, lambda request: self._servers.log(request))
        yield Command("tark.mcp.remove", payloads.ServerName, lambda request: self._servers.remove(request))
        yield Command("tark.hooks.list", payloads.Nothing, lambda request: self._hooks.list(request))
        yield Command("tark.hooks.show", payloads.ServerName, lambda request: self._hooks.show(request))
        yield Command("tark.hooks.approve", payloads.ShownServer, lambda request: self._hooks.approve(request))
        yield Command("tark.hooks.remove", payloads.ServerName, lambda request: self._hooks.remove(request))
