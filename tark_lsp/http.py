"""The one shared HTTP client behind a seam of our own, so that a script can stand where the network is.

Only this file imports httpx, and only when the first request goes out: importing it and making its TLS context take
0.2 s, which happen in a thread. Redirects are never followed (httpx would carry `x-api-key` to the new host), proxies
and certificates come from the environment as everywhere, and keys are kept out of the log.
"""

import asyncio
import logging
import re
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from tark_lsp.errors import ConnectionFailed, ModelError, ProtocolError, SettingsError, StreamCut

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0
KEEP_ALIVE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)


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


class HttpTransport:
    """The network. Made without httpx; used from one event loop."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None
        self._making = asyncio.Lock()
        self._redaction = Redaction()

    async def send(self, request: HttpRequest) -> HttpResponse:
        client = await self._ready()
        import httpx

        host = urlsplit(request.url).netloc
        try:
            built = client.build_request(request.method, request.url, headers=request.headers, content=request.body)
            response = await client.send(built, stream=True)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, UnicodeEncodeError) as error:
            raise SettingsError(f"{request.url} cannot be asked: {error}", hint="check the base URL and key") from error
        except httpx.ConnectTimeout as error:
            raise ConnectionFailed(f"no connection to {host} within {CONNECT_SECONDS:.0f} s") from error
        except httpx.TransportError as error:
            raise _connection_failed(error, host) from error
        assert isinstance(response.stream, httpx.AsyncByteStream)
        encoded = "content-encoding" in response.headers
        return HttpResponse(
            status=response.status_code,
            headers=dict(response.headers),
            chunks=_chunks(response.aiter_bytes() if encoded else response.stream, host),
            aclose=response.aclose,
        )

    async def aclose(self) -> None:
        self._redaction.uninstall()
        if self._client is not None:
            await self._client.aclose()

    async def _ready(self) -> "httpx.AsyncClient":
        async with self._making:
            if self._client is None:
                self._client = await asyncio.to_thread(_make_client)
                self._redaction.install()
            return self._client


def _make_client() -> "httpx.AsyncClient":
    import httpx

    try:
        return httpx.AsyncClient(
            verify=httpx.create_ssl_context(),  # honours SSL_CERT_FILE and SSL_CERT_DIR
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),  # whoever reads knows how long to wait
            limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE_SECONDS),
            follow_redirects=False,
            headers={"accept-encoding": "identity"},  # compression holds small pieces back
            mounts={f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")},  # never through a proxy
        )
    except (ImportError, ValueError, OSError) as error:
        hint = "check HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR"
        raise SettingsError(f"the network cannot be set up as the environment says: {error}", hint=hint) from error


def _connection_failed(error: Exception, host: str) -> ModelError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            failed = ConnectionFailed(
                f"no safe connection to {host}: {cause}",
                hint="check the clock and the base URL; behind a proxy with a certificate of its own set SSL_CERT_FILE",
            )
            failed.retryable = False
            return failed
        cause = cause.__cause__ or cause.__context__
    return ConnectionFailed(f"no connection to {host}: {error or type(error).__name__}")


async def _chunks(source: AsyncIterable[bytes], host: str) -> AsyncIterator[bytes]:
    import httpx

    try:
        async for chunk in source:
            yield chunk
    except httpx.DecodingError as error:
        raise ProtocolError(f"{host} sent a body that does not unpack: {error}") from error
    except (httpx.TransportError, httpx.StreamError) as error:
        reason = str(error) or type(error).__name__
        raise StreamCut(f"the connection to {host} broke in the middle of the answer: {reason}") from error


class Redaction(logging.Filter):
    """Blots keys out of what httpx and httpcore log: at DEBUG httpcore writes all headers."""

    LOGGERS = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy")
    SECRET = re.compile(
        r"""((?:authorization|x-api-key|x-goog-api-key|api-key|cookie)'?,\s*b?')[^']*|([?&](?:key|api_key)=)[^&\s'"]*""",
        re.IGNORECASE,
    )

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        clean = self.SECRET.sub(lambda match: f"{match.group(1) or match.group(2)}***", message)
        if clean != message:
            record.msg, record.args = clean, ()
        return True

    def install(self) -> None:
        for name in self.LOGGERS:
            logging.getLogger(name).addFilter(self)

    def uninstall(self) -> None:
        for name in self.LOGGERS:
            logging.getLogger(name).removeFilter(self)
