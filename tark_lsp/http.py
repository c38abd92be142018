"""The shared HTTP client, behind the `Transport` protocol, so that a script can replace the network.

Only this file imports httpx, and only for the first request: importing it and creating its TLS context takes 0.2 s, in
a thread. Redirects are never followed (httpx would send `x-api-key` to the new host). Proxies and certificates come
from the usual environment variables (docs/keys.md). Keys are kept out of the log.
"""

import asyncio
import os
import re
import ssl
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from tark_lsp.errors import ConnectionFailed, ModelError, ProtocolError, SettingsError, StreamCut
from tark_lsp.http_closing import close_orphans, closed_whole
from tark_lsp.http_connecting import connect_unless_late
from tark_lsp.http_tls import CLIENT_CERTIFICATE, make_tls_context

if TYPE_CHECKING:
    import httpx

    from tark_lsp.redaction import HttpLogRedaction

CONNECT_SECONDS = 5.0
KEPT_CONNECTIONS = 8
"""The maximum of idle connections. httpcore 1.0 gives the same idle connection to all requests that start together, and
all but one try again: with 200 idle connections, 200 requests took 20 s of CPU time.
"""
KEEP_ALIVE_SECONDS = 60.0
DECOMPRESSED_BYTES = 64 * 1024
LOOPBACK = ("localhost", "127.0.0.1", "::1")
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
PROXY_FORM = "http://USER:PASSWORD@HOST:PORT"
PROXY_AUTHENTICATION = 407


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """`address`: connect to it instead of resolving the URL's host. Certificates are still checked for the host."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    address: str = ""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """`headers` have lower-case names. `chunks` raises StreamCut if the connection breaks.

    Call `aclose`: it closes the socket, unless the body was read to its end.
    """

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]
    aclose: Callable[[], Awaitable[None]]


class Transport(Protocol):
    async def send(self, request: HttpRequest) -> HttpResponse:
        """Returns at the headers. Raises ConnectionFailed, and SettingsError for an invalid URL or header."""
        ...

    async def aclose(self) -> None: ...


def is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in LOOPBACK


class HttpTransport:
    """The network, used from one event loop. Creating it does not import httpx. `anonymous`: send no client certificate
    and no cookies, use no proxy, and keep no connection open.
    """

    def __init__(self, *, anonymous: bool = False) -> None:
        self._anonymous = anonymous
        self._client: httpx.AsyncClient | None = None
        self._creating = asyncio.Lock()
        self._redaction: HttpLogRedaction | None = None

    async def send(self, request: HttpRequest) -> HttpResponse:
        client = await self._ready()
        import httpx

        host = urlsplit(request.url).netloc.rpartition("@")[2]
        try:
            built = client.build_request(request.method, request.url, headers=request.headers, content=request.body)
            if request.address:  # the Host header is already set, and stays
                built.extensions["sni_hostname"] = built.url.host
                built.url = built.url.copy_with(host=request.address)
            response = await connect_unless_late(
                lambda: client.send(built, stream=True), httpx.ConnectTimeout, CONNECT_SECONDS
            )
        except asyncio.CancelledError:
            await close_orphans(client)
            raise
        except (UnicodeEncodeError, httpx.LocalProtocolError):  # their message contains the header's value, maybe a key
            raise _cannot_send(request.url, "a header contains characters that are not allowed") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise _cannot_send(request.url, str(error)) from error
        except httpx.ConnectTimeout as error:
            message = f"no connection to {host} within {CONNECT_SECONDS:.0f} s"
            raise ConnectionFailed(message, hint=_hint(host)) from error
        except httpx.ProxyError as error:
            raise _proxy_refused(str(error), host) from error
        except (
            httpx.TransportError,
            ssl.SSLError,
        ) as error:  # httpcore does not wrap alerts
            failed = _connection_failed(error, host)
            if isinstance(error, httpx.ReadError | httpx.WriteError) and request.url.startswith("https:"):
                # A server that requires a client certificate can close the connection before it says so.
                failed.hint = failed.hint or f"try again; if it requires a client certificate, set {CLIENT_CERTIFICATE}"
            raise failed from error
        if response.status_code == PROXY_AUTHENTICATION:
            await response.aclose()
            raise _proxy_refused(f"{response.status_code} {response.reason_phrase}", host)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        coding = response.headers.get("content-encoding", "identity").strip().lower()
        chunks = _chunks(response.stream, host)
        return HttpResponse(
            status=response.status_code,
            headers=dict(response.headers),
            chunks=chunks if coding == "identity" else _decompressed(chunks, coding, host),
            aclose=closed_whole(response.aclose),
        )

    async def aclose(self) -> None:
        if self._redaction is not None:
            self._redaction.uninstall()
        if self._client is not None:
            await self._client.aclose()

    async def _ready(self) -> "httpx.AsyncClient":
        async with self._creating:
            if self._client is None:
                self._client = await asyncio.to_thread(_make_anonymous_client if self._anonymous else _make_client)
                from tark_lsp.redaction import HttpLogRedaction

                self._redaction = HttpLogRedaction()
                self._redaction.install()
            return self._client


def _make_anonymous_client() -> "httpx.AsyncClient":
    """Keeps no connections: one to an address would be reused for any name that resolves to it, even if unchecked."""
    from http import cookiejar

    import httpx

    return httpx.AsyncClient(
        verify=make_tls_context(httpx.create_ssl_context, client_certificate=False),
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
        limits=httpx.Limits(max_keepalive_connections=0),
        trust_env=False,
        cookies=cookiejar.CookieJar(cookiejar.DefaultCookiePolicy(allowed_domains=())),
        headers={"accept-encoding": "identity"},
    )


def _make_client() -> "httpx.AsyncClient":
    import httpx

    try:
        return httpx.AsyncClient(
            verify=make_tls_context(httpx.create_ssl_context),
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),  # the reader decides how long to wait
            limits=httpx.Limits(max_keepalive_connections=KEPT_CONNECTIONS, keepalive_expiry=KEEP_ALIVE_SECONDS),
            follow_redirects=False,
            headers={"accept-encoding": "identity"},  # compression delays small pieces
            mounts={f"all://{f'[{host}]' if ':' in host else host}": None for host in LOOPBACK},  # never a proxy
        )
    except (ImportError, ValueError, httpx.InvalidURL):
        # httpx's message is not repeated: it can contain part of the proxy's password.
        named = " and ".join(_proxies(*PROXIES, "NO_PROXY"))
        raise SettingsError(f"{named} cannot be used", hint=f"write a proxy as {PROXY_FORM}") from None


def _cannot_send(url: str, reason: str) -> SettingsError:
    shown = re.sub(r"//[^/@]*@", "//", url.partition("?")[0])
    return SettingsError(f"a request to {shown} is not possible: {reason}", hint="check the base URL and the key")


def _proxies(*names: str) -> list[str]:
    """The variables that are set, in upper or lower case."""
    return [variable for name in names or PROXIES for variable in (name, name.lower()) if os.environ.get(variable)]


def _hint(host: str) -> str:
    """The hint for a failed connection: a proxy can be the cause, and no other message says so."""
    proxies = [] if is_loopback(f"//{host}") else _proxies()
    return f"check the network, and the proxy in {' and '.join(proxies)}" if proxies else ""


def _proxy_refused(answer: str, host: str) -> ConnectionFailed:
    """`answer` starts with the proxy's status."""
    named = " or ".join(_proxies())
    failed = ConnectionFailed(f"the proxy in {named} does not connect to {host}: {answer}")
    if answer.startswith(str(PROXY_AUTHENTICATION)):
        failed.hint = f"add the proxy's user name and password to {named}: {PROXY_FORM}"
    else:
        failed.hint = f"check {named}, or add the host to NO_PROXY"
    failed.retryable = answer.startswith("5")
    return failed


def _connection_failed(error: Exception, host: str) -> ModelError:
    reason = str(error)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return _tls_failed(cause, host)
        reason = reason or str(cause)
        cause = cause.__cause__ or cause.__context__
    return ConnectionFailed(f"no connection to {host}: {reason or type(error).__name__}", hint=_hint(host))


def _tls_failed(error: ssl.SSLError, host: str) -> ModelError:
    failed = ConnectionFailed(f"no secure connection to {host}: {error}")
    if "ALERT" in (error.reason or ""):  # the server rejected the connection
        failed.hint = f"it may require a client certificate: set {CLIENT_CERTIFICATE} to one that it accepts"
    else:
        failed.hint = "check the clock and the base URL; if a proxy has its own certificate, set SSL_CERT_FILE"
    failed.retryable = False
    return failed


async def _decompressed(chunks: AsyncIterable[bytes], coding: str, host: str) -> AsyncIterator[bytes]:
    """Decompresses bodies that some servers compress unasked, in small pieces: a few bytes can expand to gigabytes."""
    if coding not in ("gzip", "deflate"):
        raise ProtocolError(f"{host} sent a body in the encoding {coding[:40]}, which was not requested")
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: detects gzip or deflate
    try:
        async for chunk in chunks:
            data = decompressor.decompress(chunk, DECOMPRESSED_BYTES)
            while data:
                yield data
                data = decompressor.decompress(decompressor.unconsumed_tail, DECOMPRESSED_BYTES)
    except zlib.error as error:
        raise ProtocolError(f"{host} sent a body that cannot be decompressed: {error}") from error


async def _chunks(source: AsyncIterable[bytes], host: str) -> AsyncIterator[bytes]:
    import httpx

    try:
        async for chunk in source:
            yield chunk
    except (httpx.TransportError, httpx.StreamError, ssl.SSLError) as error:
        reason = str(error) or type(error).__name__
        raise StreamCut(f"the connection to {host} broke in the middle of the answer: {reason}") from error
