"""Requests to authorization servers. Their URLs come from an MCP server: each is checked, and answers are limited.

A URL must be https, or http on this machine. It may have a private address only if the MCP server itself may have one.
Redirects are not followed.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tark_lsp.errors import McpError, TarkError
from tark_lsp.http import HttpRequest, HttpResponse, HttpTransport, is_loopback
from tark_lsp.http import Transport as Http
from tark_lsp.mcp.addresses import addresses_of
from tark_lsp.mcp.http_requests import is_private_host, read_body

REQUEST_SECONDS = 30.0
LARGEST_ANSWER = 256 * 1024
LONGEST_URL = 8_000
PLAIN = re.compile(r"[\x21-\x7e]+")
"""Printable ASCII: no blanks, controls, or letters of other scripts that look like ASCII."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


def require_safe_url(url: str, *, private: bool) -> None:
    """`private`: the URL may be on this machine or in a private network. Raises McpError."""
    if not PLAIN.fullmatch(url) or len(url) > LONGEST_URL:
        raise McpError("the login leads to a URL with hidden characters, or to one that is too long")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise McpError("the login leads to a URL that is not valid") from error
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(url)):
        raise McpError(f"the login leads to a URL that is not https: {url[:200]}")
    if not host or parts.username is not None or parts.password is not None:
        raise McpError("the login leads to a URL with a user name, or without a host")
    if is_private_host(url) and not private:
        raise McpError(
            f"the login leads to the private address {host}",
            hint="set privateHost = true for this server if that is right",
        )


class AuthHttp:
    """Used for one login or refresh. `is_public`: whether an address is on the public internet."""

    def __init__(self, is_public: Callable[[str], bool], *, private: bool, http: Http | None = None) -> None:
        self.private = private
        self._is_public = is_public
        self._http: Http = http or HttpTransport()

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Raises McpError."""
        require_safe_url(url, private=self.private)
        host = urlsplit(url).netloc
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                async with aclosing(await self._connect(HttpRequest(method, url, headers, body))) as response:
                    return Answer(response.status, response.headers, await read_body(response, LARGEST_ANSWER))
        except TimeoutError as error:
            raise McpError(f"{host} did not answer within {REQUEST_SECONDS:g} s", hint="try again later") from error
        except McpError:
            raise
        except TarkError as error:
            raise McpError(error.message, hint=error.hint) from error

    async def _connect(self, request: HttpRequest) -> HttpResponse:
        failed: TarkError | None = None
        for address in await addresses_of(request.url, self._is_public, private=self.private)() or ("",):
            try:
                return await self._http.send(HttpRequest(
                    request.method, request.url, request.headers, request.body, address
                ))  # fmt: skip
            except TarkError as error:  # for example, no route to this address; the next one may work
                failed = failed or error
        assert failed is not None
        raise failed

    async def aclose(self) -> None:
        await self._http.aclose()
