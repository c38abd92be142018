"""A user with a keyring and a server that wants a login: configured, approved, and used as in turns."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from tark_lsp.mcp.launching import endpoint_of, is_private
from tark_lsp.mcp.login import LoginTarget
from tark_lsp.mcp.oauth.auth_http import AuthHttp
from tark_lsp.mcp.oauth.flow import LoginPage, log_in
from tark_lsp.mcp.server import McpServer
from tark_lsp.mcp.server_config import ServerConfig, resolve
from tark_lsp.mcp.token_store import StoredLogin, TokenStore
from tests.mcp.memory_keyring import MemoryKeyring
from tests.mcp.oauth_server import Faults, OAuthServer, browse
from tests.mcp.servers import Desk


class OAuthDesk(Desk):
    """`pages`: what the user was asked to open."""

    def __init__(self, folder: Path, site: OAuthServer, **more: Any) -> None:
        self.keyring = MemoryKeyring()
        self._locks = folder / "locks"
        super().__init__(folder, tokens=self.new_tokens(), **more)
        self.site = site
        self.notes = self.config({"url": site.url}, "notes")
        self.target = LoginTarget("notes", "", site.url)
        self.pages: list[LoginPage] = []

    def new_tokens(self) -> TokenStore:
        """As each process has its own."""
        return TokenStore({}, self.keyring.ask, lambda: self._locks)

    async def agree(self, page: LoginPage) -> None:
        self.pages.append(page)
        await browse(page.url)

    async def log_in(
        self, ask: Callable[[LoginPage], Awaitable[None]] | None = None, *, private: bool = True, **more: Any
    ) -> StoredLogin:
        """What `tark-lsp mcp login notes` does after a yes, in another process."""
        store = TokenStore({}, self.keyring.ask)
        http = AuthHttp(self.around.is_public, private=private)
        known = await store.read(self.target.entry)
        try:
            login = await log_in(self.site.url, "", http, ask or self.agree, known=known, **more)
        finally:
            await http.aclose()
        await store.write(self.target.entry, login)
        return login

    async def stored(self) -> StoredLogin | None:
        return await TokenStore({}, self.keyring.ask).read(self.target.entry)

    def server_of(self, config: ServerConfig) -> McpServer:
        """One of the servers of the desk, which end with the test."""
        self.servers.configure([config])
        return self.servers.servers()[0]

    def is_private(self) -> bool:
        return is_private(self.notes, resolve(self.notes, [self.folder]))

    def has_login(self, config: ServerConfig) -> bool:
        return endpoint_of(config, resolve(config, [self.folder]), self.around).login is not None


@contextlib.asynccontextmanager
async def oauth_desk(folder: Path, faults: Faults | None = None, **more: Any) -> AsyncIterator[OAuthDesk]:
    async with OAuthServer(faults) as site:
        desk = OAuthDesk(folder, site, **more)
        try:
            yield desk
        finally:
            await desk.servers.aclose()
