"""The one shared HTTP client behind a seam of our own, so that a script can stand where the network is.

Only this file imports httpx, and only when the first request goes out: importing it and making its TLS context take
0.2 s, which happen in a thread. Redirects are never followed (httpx would carry `x-api-key` to the new host), proxies
and certificates come from the environment as everywhere (docs/keys.md), and keys are kept out of the log.
"""

import asyncio
import os
import re
import ssl
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from tark_lsp.errors import ConnectionFailed, ModelError, ProtocolError, SettingsError, StreamCut

if TYPE_CHECKING:
    import httpx

    from tark_lsp.redaction import Redaction

CONNECT_SECONDS = 5.0
KEEP_ALIVE_SECONDS = 60.0
UNPACKED_BYTES = 64 * 1024
LOOPBACK = ("localhost", "127.0.0.1", "::1")
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
PROXY_FORM = "http://USER:PASSWORD@HOST:PORT"
PROXY_AUTHENTICATION = 407
CLIENT_CERTIFICATE, CLIENT_KEY = "TARK_CLIENT_CERT", "TARK_CLIENT_KEY"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """`address`: where to connect, whatever the name in the URL leads to by now; certificates are still that name's."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    address: str = ""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """`headers` have lower-case names. `chunks` raises StreamCut when the connection breaks.

    `aclose` must be called: it closes the socket, unless the body was read to its end.
    """

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]
    aclose: Callable[[], Awaitable[None]]


class Transport(Protocol):
    async def send(self, request: HttpRequest) -> HttpResponse:
        """Returns at the headers. Raises ConnectionFailed, and SettingsError for a URL or a header that is none."""
        ...

    async def aclose(self) -> None: ...


def is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in LOOPBACK


class HttpTransport:
    """The network. Made without httpx; used from one event loop. `personal` False: nothing of the person's goes to
    strangers, no client certificate and no cookies, by no proxy, and no connection is kept."""

    def __init__(self, *, personal: bool = True) -> None:
        self._personal = personal
        self._client: httpx.AsyncClient | None = None
        self._making = asyncio.Lock()
        self._redaction: Redaction | None = None

    async def send(self, request: HttpRequest) -> HttpResponse:
        client = await self._ready()
        import httpx

        host = urlsplit(request.url).netloc.rpartition("@")[2]
        try:
            built = client.build_request(request.method, request.url, headers=request.headers, content=request.body)
            if request.address:  # the Host header is made by now, and stays
                built.extensions["sni_hostname"] = built.url.host
                built.url = built.url.copy_with(host=request.address)
            response = await client.send(built, stream=True)
        except (UnicodeEncodeError, httpx.LocalProtocolError):  # their words hold the header's value, maybe a key
            raise _cannot_ask(request.url, "a header holds characters that none can have") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise _cannot_ask(request.url, str(error)) from error
        except httpx.ConnectTimeout as error:
            raise ConnectionFailed(
                f"no connection to {host} within {CONNECT_SECONDS:.0f} s", hint=_hint(host)
            ) from error
        except httpx.ProxyError as error:
            raise _proxy_refused(str(error), host) from error
        except (httpx.TransportError, ssl.SSLError) as error:  # httpcore lets an alert while reading through as it is
            failed = _connection_failed(error, host)
            if isinstance(error, httpx.ReadError | httpx.WriteError) and request.url.startswith("https:"):
                # A server that wants a client certificate may hang up before its reason has come.
                failed.hint = failed.hint or f"try again; if it wants a client certificate, set {CLIENT_CERTIFICATE}"
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
            chunks=chunks if coding == "identity" else _unpacked(chunks, coding, host),
            aclose=response.aclose,
        )

    async def aclose(self) -> None:
        if self._redaction is not None:
            self._redaction.uninstall()
        if self._client is not None:
            await self._client.aclose()

    async def _ready(self) -> "httpx.AsyncClient":
        async with self._making:
            if self._client is None:
                self._client = await asyncio.to_thread(_make_client if self._personal else _make_plain_client)
                from tark_lsp.redaction import Redaction

                self._redaction = Redaction()
                self._redaction.install()
            return self._client


def _make_plain_client() -> "httpx.AsyncClient":
    """Connections are not kept: one to an address would serve any name that leads there, checked or not."""
    from http import cookiejar

    import httpx

    return httpx.AsyncClient(
        verify=_tls(client_certificate=False),
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
            verify=_tls(),
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),  # whoever reads knows how long to wait
            limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE_SECONDS),
            follow_redirects=False,
            headers={"accept-encoding": "identity"},  # compression holds small pieces back
            mounts={f"all://{f'[{host}]' if ':' in host else host}": None for host in LOOPBACK},  # never by a proxy
        )
    except (ImportError, ValueError, httpx.InvalidURL):
        # None of httpx's own words: they may hold a part of the proxy's password.
        named = " and ".join(_proxies(*PROXIES, "NO_PROXY"))
        raise SettingsError(f"{named} cannot be used", hint=f"a proxy is written as {PROXY_FORM}") from None


def _tls(*, client_certificate: bool = True) -> ssl.SSLContext:
    """Raises SettingsError that names the variable and the file."""
    import httpx

    if trusted := os.environ.get("SSL_CERT_FILE"):
        _readable("SSL_CERT_FILE", trusted)
    elif (folder := os.environ.get("SSL_CERT_DIR")) and not Path(folder).is_dir():
        raise SettingsError(f"SSL_CERT_DIR is {folder}, which is no folder", hint="set it to one, or unset it")
    try:
        context = httpx.create_ssl_context()  # honours SSL_CERT_FILE and SSL_CERT_DIR
    except ssl.SSLError as error:
        raise SettingsError(
            f"SSL_CERT_FILE is {trusted}, which holds no certificates: {error.reason or error}",
            hint="set it to a file of PEM certificates",
        ) from error
    if not client_certificate:
        return context
    certificate, key = os.environ.get(CLIENT_CERTIFICATE), os.environ.get(CLIENT_KEY)
    if certificate:
        _load_client_certificate(context, certificate, key or None)
    elif key:
        raise SettingsError(f"{CLIENT_KEY} is set without {CLIENT_CERTIFICATE}", hint=f"set {CLIENT_CERTIFICATE}, too")
    return context


def _load_client_certificate(context: ssl.SSLContext, certificate: str, key: str | None) -> None:
    _readable(CLIENT_CERTIFICATE, certificate)
    if key:
        _readable(CLIENT_KEY, key)

    def password() -> str:  # without it OpenSSL would ask at the terminal
        raise SettingsError(
            f"the client key in {key or certificate} has a password",
            hint="take it off, with `openssl pkey -in KEY -out NEW`, and keep the new file to yourself",
        )

    try:
        context.load_cert_chain(certificate, key, password)
    except ssl.SSLError as error:
        where = f"{CLIENT_CERTIFICATE} and {CLIENT_KEY} are" if key else f"{CLIENT_CERTIFICATE} is"
        raise SettingsError(
            f"{where} no PEM certificate and key that belong together: {error.reason or error}",
            hint=f"check {' and '.join(filter(None, (certificate, key)))}",
        ) from error


def _readable(variable: str, path: str) -> None:
    try:
        Path(path).open("rb").close()
    except OSError as error:
        hint = f"correct {variable}, or unset it"
        raise SettingsError(f"{variable} is {path}, which cannot be read: {error.strerror}", hint=hint) from error


def _cannot_ask(url: str, reason: str) -> SettingsError:
    shown = re.sub(r"//[^/@]*@", "//", url.partition("?")[0])
    return SettingsError(f"{shown} cannot be asked: {reason}", hint="check the base URL and key")


def _proxies(*names: str) -> list[str]:
    """Which of the variables are set, in either spelling."""
    return [each for name in names or PROXIES for each in (name, name.lower()) if os.environ.get(each)]


def _hint(host: str) -> str:
    """Of a connection that failed: a proxy may be why, and nothing else says so."""
    proxies = [] if is_loopback(f"//{host}") else _proxies()
    return f"check the network, and the proxy in {' and '.join(proxies)}" if proxies else ""


def _proxy_refused(answer: str, host: str) -> ConnectionFailed:
    """`answer` begins with the proxy's status."""
    named = " or ".join(_proxies())
    failed = ConnectionFailed(f"the proxy in {named} does not connect to {host}: {answer}")
    if answer.startswith(str(PROXY_AUTHENTICATION)):
        failed.hint = f"give {named} the proxy's user name and password: {PROXY_FORM}"
    else:
        failed.hint = f"check {named}, or name the host in NO_PROXY"
    failed.retryable = answer.startswith("5")
    return failed


def _connection_failed(error: Exception, host: str) -> ModelError:
    reason = str(error)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return _not_safe(cause, host)
        reason = reason or str(cause)
        cause = cause.__cause__ or cause.__context__
    return ConnectionFailed(f"no connection to {host}: {reason or type(error).__name__}", hint=_hint(host))


def _not_safe(error: ssl.SSLError, host: str) -> ModelError:
    failed = ConnectionFailed(f"no safe connection to {host}: {error}")
    if "ALERT" in (error.reason or ""):  # the other side refused us
        failed.hint = f"it may want a client certificate: set {CLIENT_CERTIFICATE} to one that it takes"
    else:
        failed.hint = "check the clock and the base URL; behind a proxy with a certificate of its own set SSL_CERT_FILE"
    failed.retryable = False
    return failed


async def _unpacked(chunks: AsyncIterable[bytes], coding: str, host: str) -> AsyncIterator[bytes]:
    """What some servers compress unasked, in pieces of bounded size: a few bytes may unpack to gigabytes."""
    if coding not in ("gzip", "deflate"):
        raise ProtocolError(f"{host} sent a body packed as {coding[:40]}, which was not asked for")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: either of the two
    try:
        async for chunk in chunks:
            data = unpacker.decompress(chunk, UNPACKED_BYTES)
            while data:
                yield data
                data = unpacker.decompress(unpacker.unconsumed_tail, UNPACKED_BYTES)
    except zlib.error as error:
        raise ProtocolError(f"{host} sent a body that does not unpack: {error}") from error


async def _chunks(source: AsyncIterable[bytes], host: str) -> AsyncIterator[bytes]:
    import httpx

    try:
        async for chunk in source:
            yield chunk
    except (httpx.TransportError, httpx.StreamError, ssl.SSLError) as error:
        reason = str(error) or type(error).__name__
        raise StreamCut(f"the connection to {host} broke in the middle of the answer: {reason}") from error
