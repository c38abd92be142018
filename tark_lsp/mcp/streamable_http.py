"""The transport over HTTP: each message is a POST, whose answer is JSON or a stream of events.

Legacy servers can have a session, send by themselves on a GET stream, and resume a stream that broke. Redirects are
not followed, and headers with keys go to exactly the configured URL.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tark_lsp.errors import McpError, TarkError
from tark_lsp.http import HttpRequest, HttpResponse, HttpTransport
from tark_lsp.http import Transport as Http
from tark_lsp.llm.wire.sse import SseDecoder
from tark_lsp.mcp.eras import Era, ServerFacts
from tark_lsp.mcp.json_rpc import Failure, Reply, RequestId, RpcError, encode, parse_messages
from tark_lsp.mcp.transport import CLOSE_SECONDS, LARGEST_MESSAGE, MOST_UNASKED, HttpRefusal, Receiver

log = logging.getLogger(__name__)

JSON, EVENTS = "application/json", "text/event-stream"
LARGEST_ERROR = 64 * 1024
MOST_RETRIES = 5
"""Of a stream that broke, or was closed by the server, without an event in between."""
RETRY_SECONDS, LONGEST_RETRY = 1.0, 30.0

Addresses = Callable[[], Awaitable[Sequence[str]]]
"""The addresses of the server that may be connected to; empty: those that the system finds. Raises McpError."""


async def _any_address() -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`headers` can have keys."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    addresses: Addresses = _any_address


@dataclass(slots=True)
class _Stream:
    """What is known of one stream of events."""

    last_id: str = ""
    retry_seconds: float = RETRY_SECONDS
    bytes: int = 0


class StreamableHttp:
    is_http = True

    def __init__(self, endpoint: Endpoint, http: Http | None = None) -> None:
        self._endpoint = endpoint
        self._http: Http = http or HttpTransport()
        self._receiver: Receiver | None = None
        self._session = ""
        self._facts: ServerFacts | None = None
        self._tasks: dict[asyncio.Task[None], RequestId | None] = {}
        self._closed = False
        self._greeted: asyncio.Task[None] | None = None
        """The end of the legacy opening, which has to arrive before any request."""

    async def start(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def send(self, message: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        if self._closed:
            raise McpError("the connection was closed")
        request_id = message["id"] if "method" in message and "id" in message else None
        task = self._begin(self._deliver(encode(message), headers, request_id), request_id)
        if message.get("method") == "notifications/initialized":
            self._greeted = task

    def _begin(self, work: Coroutine[Any, Any, None], request_id: RequestId | None = None) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks[task] = request_id
        task.add_done_callback(lambda done: self._tasks.pop(done, None))
        return task

    def opened(self, facts: ServerFacts) -> None:
        self._facts = facts
        if facts.era is Era.LEGACY:
            self._begin(self._listen())

    def abandon(self, request_id: RequestId) -> None:
        """Close its stream. To a modern server that says that the request is cancelled."""
        for task, of in list(self._tasks.items()):
            if of == request_id and of is not None:
                task.cancel()

    async def aclose(self) -> None:
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
            if self._session:
                async with asyncio.timeout(CLOSE_SECONDS), self._request("DELETE", {}):
                    pass
        except (TarkError, TimeoutError) as error:
            log.debug("the session could not be ended: %s", error)
        finally:
            await self._http.aclose()

    async def _deliver(self, body: bytes, headers: Mapping[str, str], request_id: RequestId | None) -> None:
        """Send one message, and pass on what comes back."""
        assert self._receiver is not None
        if request_id is not None and self._greeted is not None:
            await asyncio.wait([self._greeted])
        try:
            answered = await self._post(body, headers, request_id)
            problem = McpError("its answer ended before the result")
        except TarkError as error:
            answered, problem = False, _as_mcp(error)
        if request_id is not None and not answered:
            self._receiver.request_failed(request_id, problem)

    async def _post(self, body: bytes, headers: Mapping[str, str], request_id: RequestId | None) -> bool:
        """Whether the request got its answer. Raises TarkError."""
        sent = {**headers, "content-type": JSON, "accept": f"{JSON}, {EVENTS}"}
        stream = _Stream()
        async with self._request("POST", sent, body) as response:
            if session := response.headers.get("mcp-session-id"):
                self._session = session[:1_000]
            if response.status == 202:
                return False
            await self._require_success(response, request_id)
            if _type(response) != EVENTS:
                return request_id is not None and self._pass_on(await _read(response, LARGEST_MESSAGE), request_id)
            if await self._read_events(response, stream, request_id):
                return True
        return request_id is not None and await self._resume(stream, request_id)

    async def _resume(self, stream: _Stream, request_id: RequestId | None) -> bool:
        """Read on after the last event, as long as the server lets us (legacy). Raises TarkError."""
        tries = 0
        while self._can_resume(stream) and tries < MOST_RETRIES:
            await asyncio.sleep(min(stream.retry_seconds, LONGEST_RETRY))
            before = stream.last_id
            headers = {"accept": EVENTS, **self._version(), **({"last-event-id": before} if before else {})}
            async with self._request("GET", headers) as response:
                await self._require_success(response, None)
                if await self._read_events(response, stream, request_id):
                    return True
            tries = 0 if stream.last_id != before else tries + 1
        return False

    def _can_resume(self, stream: _Stream) -> bool:
        return bool(stream.last_id) and (self._facts is None or self._facts.era is Era.LEGACY)

    async def _listen(self) -> None:
        """The stream of a legacy server for what it sends by itself. It need not have one."""
        stream = _Stream()
        try:
            async with self._request("GET", {"accept": EVENTS, **self._version()}) as response:
                if response.status != 200 or _type(response) != EVENTS:
                    return
                await self._read_events(response, stream, None)
            await self._resume(stream, None)
        except TarkError as error:
            log.debug("the stream of the server ended: %s", error)

    async def _read_events(self, response: HttpResponse, stream: _Stream, request_id: RequestId | None) -> bool:
        """Pass on the messages of a stream. True at the answer to the request. A cut stream is like one that ended."""
        decoder = SseDecoder(LARGEST_MESSAGE)
        try:
            async for chunk in response.chunks:
                stream.bytes += len(chunk)
                if stream.bytes > MOST_UNASKED:
                    raise McpError(f"it sent {MOST_UNASKED // 2**20} MiB without an answer")
                for event in decoder.feed_bytes(chunk):
                    stream.last_id = event.id or stream.last_id
                    if event.data.strip() and self._pass_on(event.data, request_id):
                        return True
                if decoder.retry_ms is not None:
                    stream.retry_seconds = decoder.retry_ms / 1000
        except McpError:
            raise
        except TarkError as error:
            if not self._can_resume(stream):
                raise
            log.debug("a stream broke, and is resumed: %s", error)
        return False

    def _pass_on(self, data: bytes, request_id: RequestId | None) -> bool:
        """Whether the answer to the request is among these messages."""
        assert self._receiver is not None
        try:
            messages = parse_messages(data)
        except ValueError as error:
            log.warning("an MCP server sent what is no message: %s", error)
            return False
        answered = False
        for message in messages:
            answered = answered or (isinstance(message, Reply | Failure) and message.id == request_id)
            self._receiver.received(message)
        return answered and request_id is not None

    async def _require_success(self, response: HttpResponse, request_id: RequestId | None) -> None:
        """Raises RpcError if the body is an error of JSON-RPC, else HttpRefusal."""
        status = response.status
        if status < 300:
            return
        if 300 <= status < 400:
            where = response.headers.get("location", "")[:300]
            raise HttpRefusal(status, f"it redirects to {where}, which is not followed", hint="configure that URL")
        body = await _read(response, LARGEST_ERROR)
        failure = _failure(body) if _type(response) == JSON else None
        if failure is not None and request_id is not None and status not in (401, 403):
            raise RpcError(Failure(request_id, failure.code, failure.message, failure.data))
        if status == 404 and self._session:
            self._session = ""
            assert self._receiver is not None
            self._receiver.closed(McpError("its session is over", hint="make the call again"))
        hint = "check its headers in your config.toml" if status in (401, 403) else ""
        raise HttpRefusal(status, f"it answers with HTTP status {status}", hint=hint)

    def _version(self) -> dict[str, str]:
        return {} if self._facts is None else {"mcp-protocol-version": self._facts.version}

    @asynccontextmanager
    async def _request(self, method: str, headers: Mapping[str, str], body: bytes = b"") -> AsyncIterator[HttpResponse]:
        session = {"mcp-session-id": self._session} if self._session else {}
        sent = {**self._version_if_delete(method), **headers, **session, **self._endpoint.headers}
        failed: TarkError | None = None
        for address in await self._endpoint.addresses() or ("",):
            try:
                response = await self._http.send(HttpRequest(method, self._endpoint.url, sent, body, address))
                break
            except TarkError as error:  # for example no route to this address: the next one can work
                failed = failed or error
        else:
            assert failed is not None
            raise failed
        try:
            yield response
        finally:
            await response.aclose()

    def _version_if_delete(self, method: str) -> dict[str, str]:
        return self._version() if method == "DELETE" else {}


def _as_mcp(error: TarkError) -> McpError:
    return error if isinstance(error, McpError) else McpError(error.message, hint=error.hint)


def _failure(body: bytes) -> Failure | None:
    try:
        found = parse_messages(body)
    except ValueError:
        return None
    return next((one for one in found if isinstance(one, Failure)), None)


def _type(response: HttpResponse) -> str:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _read(response: HttpResponse, largest: int) -> bytes:
    body = bytearray()
    async for chunk in response.chunks:
        body += chunk
        if len(body) > largest:
            raise McpError(f"it sent more than {largest // 1024:,} KiB in one answer")
    return bytes(body)


def is_private_host(url: str) -> bool:
    """Whether the URL itself says loopback or a private network: an address that is not global, or `localhost`."""
    import ipaddress  # not needed for stdio

    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False
