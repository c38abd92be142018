"""OAuth's device flow (RFC 8628): the user types a code on a web page, and Tark polls until this is done.

`TokenPolling` reads the answers and does no I/O; `request_device_code` and `wait_for_token` send the requests.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from tark_lsp.errors import AuthenticationFailed, BadRequest, ModelError, ModelTimeout, ProtocolError, SettingsError
from tark_lsp.http import HttpRequest, Transport, is_loopback
from tark_lsp.llm.exchange import Timeouts, fetch_body
from tark_lsp.llm.keys.credentials import redact_secret
from tark_lsp.llm.wire.json_values import json_or_text
from tark_lsp.llm.wire.provider_errors import provider_error

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
DEFAULT_INTERVAL = 5.0
SLOW_DOWN = 5.0
"""Seconds: RFC 8628, sections 3.2 and 3.5."""
MIN_INTERVAL = 0.1
"""The interval to use for a server that says 0."""
MAX_EXPIRY = 3600.0
START_SECONDS = 30.0
"""The time limit for the whole answer to the first request: a logout waits for it."""
TIMES = Timeouts(headers=10.0, idle=10.0)
ANSWER_BYTES = 64 * 1024

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DeviceLogin:
    """How to log in to a provider that has logins instead of keys.

    `url`: the site of the user's account, without a slash at the end; the setting `loginUrl` changes it.
    `client_id`: the id of the OAuth app, from the setting `clientId`. There is no default, since the well-known ids
    belong to other people's products.
    `exchange_path`: a path of the site's API that exchanges the login's token for a short-lived one; "" if none.
    `models_subdomain`: the sub-domain that serves models if the user's site is not the public one.
    `api_hosts`: hosts that a token may be sent to, with their sub-domains, besides the site and its sub-domains.
    """

    url: str
    scope: str
    device_path: str
    token_path: str
    exchange_path: str = ""
    models_subdomain: str = ""
    api_hosts: tuple[str, ...] = ()
    client_id: str = ""

    def subdomain_url(self, name: str, path: str = "") -> str:
        """A URL on the site's sub-domain `name`. A loopback site has no sub-domains and serves everything itself."""
        site = urlsplit(self.url)
        return f"{self.url if is_loopback(self.url) else f'{site.scheme}://{name}.{site.netloc}'}{path}"

    def is_trusted(self, url: str) -> bool:
        """Whether a token may be sent to `url`: https, and on the site, a host of `api_hosts`, or a sub-domain of
        either. A loopback URL is trusted only by a loopback site.

        The provider's answers contain such URLs, and an answer alone is not a reason to send a secret anywhere.
        """
        try:
            wanted = urlsplit(url)
            host = wanted.hostname or ""
        except ValueError:
            return False
        if is_loopback(url):
            return is_loopback(self.url) and wanted.scheme in ("http", "https")
        families = (urlsplit(self.url).hostname, *self.api_hosts)
        ours = any(host == family or host.endswith(f".{family}") for family in families if family)
        return (
            ours and wanted.scheme == "https" and re.fullmatch(r"[\w.-]+(:\d+)?", wanted.netloc, re.ASCII) is not None
        )


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """`user_code` and `verification_uri` are for the user, the rest is for Tark. Times are in seconds."""

    device_code: str = field(repr=False)
    user_code: str = field(repr=False)
    verification_uri: str
    expires_in: float
    interval: float


@dataclass(frozen=True, slots=True)
class GrantedToken:
    """`expires_in`: seconds; None: until it is revoked."""

    token: str = field(repr=False)
    expires_in: float | None


class TokenPolling:
    """Reads the answers to polls. `interval` is the wait before the next poll."""

    def __init__(self, interval: float) -> None:
        self.interval = interval

    def read_answer(self, body: object, status: int) -> GrantedToken | None:
        """None: poll again. Raises AuthenticationFailed if the login has ended, BadRequest if it cannot succeed."""
        match body:
            case {"access_token": str(token), **more} if token and token.isascii() and token.isprintable():
                return GrantedToken(token, _seconds(more.get("expires_in")))
            case {"error": "authorization_pending"}:
                return None
            case {"error": "slow_down", **more}:
                wanted = _seconds(more.get("interval"))
                self.interval = self.interval + SLOW_DOWN if wanted is None else max(wanted, MIN_INTERVAL)
                return None
            case {"error": "expired_token" | "token_expired"}:
                raise code_expired()
            case {"error": "access_denied"}:
                raise AuthenticationFailed(
                    "the login was refused on the web page", hint="log in again if that was a mistake"
                )
            case {"error": str(code), **more}:
                raise _refused(code, more.get("error_description"))
        # Anything else is not the protocol: a proxy's web page, a 502, too many requests. The code is still valid.
        log.info("polling for a login: status %d; it continues", status)
        return None


def code_expired() -> AuthenticationFailed:
    return AuthenticationFailed("the code expired before it was used", hint="log in again")


async def request_device_code(login: DeviceLogin, name: str, transport: Transport) -> DeviceCode:
    """Requests a code. Raises SettingsError without a client id, and ModelError if the site gives no code."""
    if not login.client_id:
        raise SettingsError(
            f"logging in to {name} needs a client ID",
            hint=f"create an OAuth app on {login.url}, enable its device flow, and set providers.{name}.clientId",
        )
    fields = {"client_id": login.client_id, "scope": login.scope}
    try:
        async with asyncio.timeout(START_SECONDS):
            status, body = await _post(transport, f"{login.url}{login.device_path}", fields)
    except TimeoutError:
        raise ModelTimeout(f"{login.url} did not return a login code within {START_SECONDS:.0f} s") from None
    match body:
        case {
            "device_code": str(device_code),
            "user_code": str(user_code),
            "verification_uri": str(page),
            **more,
        } if device_code and user_code.isprintable() and 0 < len(user_code) <= 64:
            if not login.is_trusted(page):  # the user opens it in a browser
                raise ProtocolError(f"{login.url} names a login page on another site, so the login was stopped")
            expires = min(_seconds(more.get("expires_in")) or MAX_EXPIRY, MAX_EXPIRY)
            interval = _seconds(more.get("interval"))
            wait = DEFAULT_INTERVAL if interval is None else max(interval, MIN_INTERVAL)
            return DeviceCode(device_code, user_code, page, expires, wait)
        case {"error": str(code), **more}:
            error: ModelError = _refused(code, more.get("error_description"))
        case _ if status != 200:
            error = provider_error(body, status)
        case _:
            error = ProtocolError(f"{login.url} did not return a login code")
    error.hint = error.hint or f"check providers.{name}.clientId, and that its app allows the device flow"
    raise error


async def wait_for_token(
    login: DeviceLogin,
    code: DeviceCode,
    transport: Transport,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> GrantedToken:
    """Polls until the user has decided or the code has expired. It can be cancelled at any time.

    After a failed connection or an unexpected answer it polls again. Raises AuthenticationFailed, BadRequest.
    """
    try:
        async with asyncio.timeout(code.expires_in):
            return await _poll(login, code, transport, sleep)
    except TimeoutError:
        raise code_expired() from None
    except BadRequest as error:
        error.message = redact_secret(error.message, code.device_code)
        raise


async def _poll(
    login: DeviceLogin, code: DeviceCode, transport: Transport, sleep: Callable[[float], Awaitable[None]]
) -> GrantedToken:
    polling = TokenPolling(code.interval)
    left = code.expires_in
    fields = {"client_id": login.client_id, "device_code": code.device_code, "grant_type": GRANT}
    while left > 0:
        wait = min(polling.interval, left)
        await sleep(wait)
        left -= wait
        try:
            status, body = await _post(transport, f"{login.url}{login.token_path}", fields)
        except ModelError as error:
            log.info("polling for a login: %s; it continues", error)
            continue
        if (granted := polling.read_answer(body, status)) is not None:
            return granted
    raise code_expired()


async def _post(transport: Transport, url: str, fields: dict[str, str]) -> tuple[int, Any]:
    headers = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded"}
    request = HttpRequest("POST", url, headers, urlencode(fields).encode())
    status, body = await fetch_body(transport, request, TIMES, ANSWER_BYTES)
    return status, json_or_text(body)


def _refused(code: str, description: object) -> BadRequest:
    details = f": {description[:300]}" if isinstance(description, str) else ""
    return BadRequest(f"the login was refused ({code[:100]}){details}")


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e9 else None
