"""`tark-lsp mcp login` and `logout`. A login shows the whole address of the page, asks, opens it, and waits."""

import asyncio
import webbrowser
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tark_lsp.cli.hidden_input import ask_hidden
from tark_lsp.cli.offer_questions import OfferQuestions, require_terminal
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import whole_line
from tark_lsp.errors import McpError, RequestError, SettingsError
from tark_lsp.mcp.connection import Connection
from tark_lsp.mcp.extra import load_flow
from tark_lsp.mcp.launching import Surroundings, can_log_in, endpoint_of, is_private
from tark_lsp.mcp.login import LoginTarget
from tark_lsp.mcp.opening import open_connection
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.server_config import Resolved, ServerConfig, resolve
from tark_lsp.mcp.streamable_http import StreamableHttp
from tark_lsp.mcp.transport import HttpRefusal

if TYPE_CHECKING:
    from tark_lsp.mcp.oauth.flow import LoginPage

NO_KEYRING = "this system has no keyring, or it is turned off, so there is no place for a login"
SECRETS_ELSEWHERE = (
    "set up a keyring (docs/keys.md), or give the server a token of yours with headers = {Authorization = ...}"
)


class Declined(McpError):
    """The user declined."""


class LoggingIn:
    def __init__(self, screen: Screen, folder: Path, pins: PinStore, around: Surroundings) -> None:
        self._screen = screen
        self._folder = folder
        self._pins = pins
        self._around = around
        self._questions = OfferQuestions(screen, folder)

    async def log_in(self, config: ServerConfig, client_id: str, *, with_secret: bool) -> int:
        """`client_id`: the id of a client that the user registered, or empty. Raises TarkError."""
        resolved = self._require_possible(config)
        await load_flow()
        if not await self._around.tokens.has_keyring():
            raise McpError(NO_KEYRING, hint=SECRETS_ELSEWHERE)
        self._screen.print_line(f"{config.name}: {whole_line(resolved.shown)}", "bold")
        if config.is_offer and not await self._questions.is_trusted("server"):
            return self._cancelled()
        pin = self._pins.find(config.name, config.scope)
        if (pin is None or pin.command != resolved.digest) and not await self._questions.agreed("Connect to it?"):
            return self._cancelled()
        try:
            secret = _read_secret() if with_secret else ""
        except (EOFError, KeyboardInterrupt):
            return self._cancelled()
        challenge = await self._challenge(config, resolved)
        try:
            return await self._flow(config, resolved, challenge, client_id, secret)
        except Declined:
            return self._cancelled()

    def _require_possible(self, config: ServerConfig) -> Resolved:
        require_terminal()
        resolved = resolve(config, [self._folder])
        if not resolved.url:
            raise RequestError(f"{config.name} is a program, which needs no login", hint="it can have variables in env")
        if not can_log_in(config, resolved):
            raise RequestError(
                f"there is no login for {config.name}: it has a header of yours for that, or its URL is not encrypted",
                hint="remove the header Authorization from your config.toml, or use https",
            )
        return resolved

    async def _challenge(self, config: ServerConfig, resolved: Resolved) -> str:
        """The challenge in the server's answer to a request without a token; empty without a 401. Raises McpError."""
        transport = StreamableHttp(endpoint_of(config, resolved, self._around, login=False))
        connection = Connection(transport)
        try:
            await open_connection(connection)
        except HttpRefusal as error:
            if error.status != 401:
                raise
            return error.challenge
        finally:
            await connection.aclose()
        self._screen.print_line("it answers without a login; perhaps some of its tools need one", "yellow")
        return ""

    async def _flow(self, config: ServerConfig, resolved: Resolved, challenge: str, client_id: str, secret: str) -> int:
        from tark_lsp.mcp.oauth.auth_http import AuthHttp
        from tark_lsp.mcp.oauth.clients import Client
        from tark_lsp.mcp.oauth.flow import log_in

        store, target = self._around.tokens, LoginTarget(config.name, config.scope, resolved.url)
        known = await store.read(target.entry)
        if known is not None and known.url != resolved.url:
            known = None
        client: Client | None = Client(client_id, secret) if client_id else None
        http = AuthHttp(self._around.is_public, private=is_private(config, resolved))
        try:
            login = await log_in(resolved.url, challenge, http, self._ask, client=client, known=known)
        finally:
            await http.aclose()
        if not await store.write(target.entry, login):
            raise McpError("the keyring did not take the login, so it is lost", hint=SECRETS_ELSEWHERE)
        rights = f", with the rights {whole_line(login.scope)}" if login.scope else ""
        self._screen.print_line(f"logged in: {config.name}{rights}; the tokens are in the keyring", "green")
        if self._pins.find(config.name, config.scope) is None:
            self._screen.print_line(f"next: tark-lsp mcp approve {config.name}")
        return DONE

    async def _ask(self, page: "LoginPage") -> None:
        show = self._screen.print_line
        show(f"authorization server: {whole_line(page.issuer)}")
        if page.scopes:
            show(f"rights that it is asked for: {whole_line(' '.join(page.scopes))}")
        show(f"the page, on {whole_line(urlsplit(page.url).netloc)}:")
        show(whole_line(page.url), exact=True)
        if not await self._questions.agreed("Open it in your browser?"):
            raise Declined("you declined")
        if not await asyncio.to_thread(open_page, page.url):
            show("no browser could be started: open the page yourself, on this machine", "yellow")
        show("waiting at most 5 minutes for you; Ctrl-C cancels", "dim")

    def _cancelled(self) -> int:
        self._screen.print_line("cancelled: nothing was stored", "yellow")
        return NOT_DONE

    async def log_out(self, config: ServerConfig) -> int:
        """Raises McpError."""
        deleted = await self._around.tokens.delete(LoginTarget(config.name, config.scope, "").entry)
        pin = self._pins.find(config.name, config.scope)
        if pin is not None and deleted:
            self._pins.write(replace(pin, needs_login=True))
        if not deleted:
            self._screen.print_line(f"nothing is stored for {config.name}", "yellow")
            return NOT_DONE
        self._screen.print_line(f"logged out: {config.name}; the tokens were deleted from the keyring", "green")
        self._screen.print_line("the server can accept them until they expire: end the access on its pages, too", "dim")
        return DONE


def open_page(url: str, opener: Callable[[str], bool] = webbrowser.open) -> bool:
    """Returns whether a browser started. The URL was checked before (mcp/oauth/auth_http.py)."""
    try:
        return opener(url)
    except (webbrowser.Error, OSError):
        return False


def _read_secret() -> str:
    """Raises EOFError, KeyboardInterrupt, SettingsError."""
    secret = ask_hidden("the secret of your client (it is not shown): ", hint="use another terminal").strip()
    if not secret:
        raise SettingsError("no secret was entered", hint="type it, or leave out --client-secret")
    return secret
