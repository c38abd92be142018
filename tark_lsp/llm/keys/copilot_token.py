"""Access to GitHub Copilot with a GitHub login: the login's token is exchanged for one that lasts half an hour.

There are two cases (wires.md, section 6), and the answer to the exchange says which one applies. Apps with such tokens
get one. For other apps the answer is 404, and the login's own token is the bearer token. A refusal (401, 403) is an
error: the login is then never sent anywhere else.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tark_lsp import __version__
from tark_lsp.errors import AuthenticationFailed, MissingKey, ModelError, ProtocolError
from tark_lsp.http import HttpRequest, Transport
from tark_lsp.llm.exchange import fetch_body
from tark_lsp.llm.keys.access import Access
from tark_lsp.llm.keys.credentials import (
    Key,
    StoredKeys,
    find_environment_key,
    find_stored_secret,
    login_hint,
    origin_of,
    redact_secret,
)
from tark_lsp.llm.keys.device_login import ANSWER_BYTES, TIMES, DeviceLogin
from tark_lsp.llm.keys.store import StoredSecret
from tark_lsp.llm.provider import Provider
from tark_lsp.llm.wire.json_values import json_or_text
from tark_lsp.llm.wire.provider_errors import provider_error

REFRESH_SECONDS = 1500.0
"""Used if the answer does not say when to refresh."""
GRACE_SECONDS = 60.0
"""How long a token stays valid after its refresh time, by the local clock: GitHub's `expires_at` uses GitHub's."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Session:
    """`secret`: the login it came from. `refresh_at`, `expires_at`: on the clock of `now`."""

    secret: str = field(repr=False)
    access: Access
    refresh_at: float = math.inf
    expires_at: float = math.inf


class CopilotAccess:
    """An `AccessSource`. A token in the environment is sent unchanged; otherwise the stored login is used.

    `now`: a clock in seconds.
    """

    def __init__(
        self,
        provider: Provider,
        login: DeviceLogin,
        environ: Mapping[str, str],
        keys: StoredKeys | None,
        transport: Transport,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._provider = provider
        self._login = login
        self._environ = environ
        self._keys = keys
        self._transport = transport
        self._now = now
        self._session: _Session | None = None
        self._refreshing = asyncio.Lock()

    async def get_access(self) -> Access:
        """Raises MissingKey, AuthenticationFailed if the login has ended, and the exchange's ModelError."""
        provider = self._provider
        key = find_environment_key(provider.key_env, self._environ, provider.base_url)
        if key is not None:
            return Access(provider.base_url, key)
        async with self._refreshing:  # a request that waits here finds the token that the previous request fetched
            stored = await self._stored()
            session = self._session
            if session is None or session.secret != stored.secret:
                session = await self._exchange(stored)
            elif self._now() >= session.refresh_at:
                session = await self._refresh(session, stored)
            self._session = session
            return session.access

    async def renew_access(self, refused: Access) -> bool:
        async with self._refreshing:
            if self._session is not None and self._session.access == refused:
                self._session = None
        return (await self.get_access()).key != refused.key

    async def _stored(self) -> StoredSecret:
        name = self._provider.name
        stored = await find_stored_secret(name, self._keys, origin_of(self._login.url))
        if stored is None:
            variables = "".join(f", or set {variable}" for variable in self._provider.key_env)
            raise MissingKey(f"not logged in to {name}", hint=f"{login_hint(name)}{variables}")
        if stored.expires is not None and stored.expires <= time.time():
            raise AuthenticationFailed(f"the login to {name} has expired", hint=login_hint(name))
        return stored

    async def _refresh(self, session: _Session, stored: StoredSecret) -> _Session:
        """Refreshes early, so that a site that is down does no harm while the old token is valid."""
        try:
            return await self._exchange(stored)
        except AuthenticationFailed:
            self._session = None
            raise
        except ModelError as error:
            if self._now() >= session.expires_at:
                raise
            log.info("the token for %s could not be refreshed yet: %s", self._provider.name, error)
            return session

    async def _exchange(self, stored: StoredSecret) -> _Session:
        name, source = self._provider.name, f"the login in {stored.place}"
        headers = {
            "authorization": f"token {stored.secret}",
            "accept": "application/json",
            "user-agent": f"tark-lsp/{__version__}",
        }
        request = HttpRequest("GET", self._login.subdomain_url("api", self._login.exchange_path), headers)
        status, body = await fetch_body(self._transport, request, TIMES, ANSWER_BYTES)
        match json_or_text(body):
            case {"token": str(token), **more} if status == 200 and token and token.isascii() and token.isprintable():
                base_url = self._trusted(_api(more.get("endpoints")) or self._provider.base_url)
                access = Access(base_url, Key(token, source, origin_of(base_url)))
                refresh_at = self._now() + _seconds(more.get("refresh_in"))
                return _Session(stored.secret, access, refresh_at, refresh_at + GRACE_SECONDS)
            case _ if status == 404:
                base_url = self._trusted(self._provider.base_url)
                return _Session(stored.secret, Access(base_url, Key(stored.secret, source, origin_of(base_url))))
            case _ if status == 200:
                raise ProtocolError(f"{self._login.url} did not return a token for {name}")
            case refusal:
                error = provider_error(_without_details(refusal), status)
        error.message = redact_secret(error.message, stored.secret)
        if isinstance(error, AuthenticationFailed):
            error.hint = (
                login_hint(name) if status == 401 else f"check that the account has Copilot, or {login_hint(name)}"
            )
        raise error

    def _trusted(self, url: str) -> str:
        if not self._login.is_trusted(url):
            raise ProtocolError(
                f"the login to {self._provider.name} is not valid for {origin_of(url)}, so nothing was sent there",
                hint=f"check providers.{self._provider.name}.baseUrl and loginUrl",
            )
        return url.rstrip("/")


def _api(endpoints: object) -> str:
    match endpoints:
        case {"api": str(url)}:
            return url
    return ""


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0 < value < 1e9 else REFRESH_SECONDS


def _without_details(body: object) -> object:
    """GitHub's message for the user, if there is one: it says why an account has no Copilot."""
    match body:
        case {"error_details": {"message": str(message)}}:
            return {"message": message}
    return body
