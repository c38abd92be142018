"""Single requests to a server over HTTP, with its endpoint, session and errors.

Redirects are not followed, so headers with keys go only to the configured URL.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from tark_lsp.errors import McpError, TarkError
from tark_lsp.http import HttpRequest, HttpResponse, HttpTransport
from tark_lsp.http import Transport as Http
from tark_lsp.mcp.eras import ServerFacts
from tark_lsp.mcp.json_rpc import Failure, RequestId, RpcError, parse_messages
from tark_lsp.mcp.transport import HttpRefusal

JSON = "application/json"
LARGEST_ERROR = 64 * 1024

CHECK_URL = "check that its URL is the one that its documentation names"
SERVER_FAILED = "try again later; the log of the server can show why"
HINTS: Mapping[int, str] = {
    **dict.fromkeys((401, 403), "check its headers in your config.toml"),
    **dict.fromkeys((404, 405, 410), CHECK_URL),
}
"""By HTTP status."""

Addresses = Callable[[], Awaitable[Sequence[str]]]
"""The addresses of the server that Tark may connect to. Empty: any address that the system finds. Raises McpError."""


class Tokens(Protocol):
    """The user's login at the server (login.py)."""

    async def header(self) -> str:
        """The header for the next request; empty until the server refuses one. Raises McpError."""
        ...

    async def header_after(self, sent: str, challenge: str = "") -> str:
        """Another header, after the server refused `sent`. Raises NeedsLogin or another McpError."""
        ...

    async def refusal(self, status: int, headers: Mapping[str, str]) -> HttpRefusal | None:
        """The error to raise for this answer; None if the answer is not about the login."""
        ...


async def _any_address() -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`headers` can contain keys. `login`: None if the user set `Authorization` themselves, or no login may be used."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    addresses: Addresses = _any_address
    login: Tokens | None = None


class SessionOver(McpError):
    """The server ended the session, so the connection must be opened again."""


class HttpRequests:
    def __init__(self, endpoint: Endpoint, http: Http | None = None) -> None:
        self._endpoint = endpoint
        self._http: Http = http or HttpTransport()
        self.session = ""
        """The session id of a legacy server; empty if there is none."""
        self.facts: ServerFacts | None = None

    async def require_success(self, response: HttpResponse, request_id: RequestId | None) -> None:
        """For an error status, raises RpcError if the body is a JSON-RPC error, else SessionOver or HttpRefusal."""
        status = response.status
        if status < 300:
            return
        if 300 <= status < 400:
            where = _absolute(self._endpoint.url, response.headers.get("location", ""))[:300]
            raise HttpRefusal(status, f"it redirects to {where}, which is not followed", hint="configure that URL")
        body = await read_body(response, LARGEST_ERROR)
        failure = failure_in(body) if type_of(response) == JSON else None
        if failure is not None and request_id is not None and status not in (401, 403):
            raise RpcError(Failure(request_id, failure.code, failure.message, failure.data))
        if status == 404 and self.session:
            self.session = ""
            raise SessionOver("its session is over", hint="make the call again")
        login = self._endpoint.login
        if login is not None and (refusal := await login.refusal(status, response.headers)) is not None:
            raise refusal
        hint = HINTS.get(status, SERVER_FAILED if status >= 500 else "")
        challenge = response.headers.get("www-authenticate", "")
        raise HttpRefusal(status, f"it answers with HTTP status {status}", hint=hint, challenge=challenge)

    def version(self) -> dict[str, str]:
        return {} if self.facts is None else {"mcp-protocol-version": self.facts.version}

    @asynccontextmanager
    async def request(self, method: str, headers: Mapping[str, str], body: bytes = b"") -> AsyncIterator[HttpResponse]:
        """Raises TarkError. With a login, a request that gets a 401 is sent once more, with another token."""
        login = self._endpoint.login
        token = await login.header() if login is not None else ""
        response = await self._send(method, headers, body, token)
        try:
            if response.status == 401 and login is not None:
                await response.aclose()
                token = await login.header_after(token, response.headers.get("www-authenticate", ""))
                response = await self._send(method, headers, body, token)
            yield response
        finally:
            await response.aclose()

    async def _send(self, method: str, headers: Mapping[str, str], body: bytes, token: str) -> HttpResponse:
        session = {"mcp-session-id": self.session} if self.session else {}
        sent = {**headers, **session, **self._endpoint.headers, **({"authorization": token} if token else {})}
        failed: TarkError | None = None
        for address in await self._endpoint.addresses() or ("",):
            try:
                return await self._http.send(HttpRequest(method, self._endpoint.url, sent, body, address))
            except TarkError as error:  # for example, no route to this address; the next one may work
                failed = failed or error
        assert failed is not None
        raise failed

    async def aclose(self) -> None:
        await self._http.aclose()


def _absolute(url: str, location: str) -> str:
    """The URL that a redirect leads to. `location` if it is not valid."""
    try:
        return urljoin(url, location)
    except ValueError:
        return location


def failure_in(body: bytes) -> Failure | None:
    try:
        found = parse_messages(body)
    except ValueError:
        return None
    return next((one for one in found if isinstance(one, Failure)), None)


def type_of(response: HttpResponse) -> str:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(response: HttpResponse, largest: int) -> bytes:
    body = bytearray()
    async for chunk in response.chunks:
        body += chunk
        if len(body) > largest:
            raise McpError(f"it sent more than {largest // 1024:,} KiB in one answer")
    return bytes(body)


def is_private_host(url: str) -> bool:
    """Whether the host in the URL is `localhost`, a name below it, or an IP address that is not global."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    import ipaddress  # not needed for servers that are programs

    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False
