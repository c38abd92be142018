"""The transport over HTTP. Each message is a POST request, whose response is JSON or a stream of events.

Legacy servers can have a session, send messages on a stream that is opened with GET, and resume a stream that broke.
Redirects are not followed, so headers with keys go only to the configured URL.
"""

import asyncio
import logging
import re
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tark_lsp.errors import McpError, TarkError
from tark_lsp.http import HttpResponse
from tark_lsp.llm.wire.sse import SseDecoder
from tark_lsp.mcp.eras import Era, ServerFacts
from tark_lsp.mcp.http_requests import CHECK_URL, JSON, Endpoint, HttpRequests, SessionOver, read_body, type_of
from tark_lsp.mcp.json_rpc import Failure, Incoming, Reply, RequestId, Told, encode, parse_messages
from tark_lsp.mcp.transport import CLOSE_SECONDS, LARGEST_MESSAGE, MOST_UNASKED, Receiver, pauses

log = logging.getLogger(__name__)

EVENTS = "text/event-stream"
MIME_TYPE = re.compile(r"[a-z]{1,20}/[a-z0-9.+-]{1,40}")
CHANGED = Told("notifications/tools/list_changed", {})
MOST_RETRIES = 5
"""For a stream that broke or was closed by the server, without an event in between."""
SHORTEST_RETRY, RETRY_SECONDS, LONGEST_RETRY = 0.05, 1.0, 30.0


@dataclass(slots=True)
class _Stream:
    """The state of one stream of events."""

    last_id: str = ""
    retry_seconds: float = RETRY_SECONDS
    bytes: int = 0


class StreamableHttp:
    is_http = True

    def __init__(self, endpoint: Endpoint) -> None:
        self._http = HttpRequests(endpoint)
        self._receiver: Receiver | None = None
        self._tasks: dict[asyncio.Task[None], RequestId | None] = {}
        self._closed = False
        self._greeted: asyncio.Task[None] | None = None
        """Delivers the end of the legacy opening, which must arrive before any request."""

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
        self._http.facts = facts
        if facts.era is Era.LEGACY:
            self._begin(self._listen())

    def abandon(self, request_id: RequestId) -> None:
        """Closes the request's stream. A modern server then cancels the request."""
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
            if self._http.session:
                async with asyncio.timeout(CLOSE_SECONDS), self._http.request("DELETE", self._http.version()):
                    pass
        except (TarkError, TimeoutError) as error:
            log.debug("the session could not be ended: %s", error)
        finally:
            await self._http.aclose()

    async def _deliver(self, body: bytes, headers: Mapping[str, str], request_id: RequestId | None) -> None:
        """Sends one message, and passes the answers on to the receiver."""
        assert self._receiver is not None
        if request_id is not None and self._greeted is not None:
            await asyncio.wait([self._greeted])
        try:
            answered = await self._post(body, headers, request_id)
            problem = McpError("its answer ended before the result")
        except SessionOver as error:
            self._receiver.closed(error)
            return
        except TarkError as error:
            answered, problem = False, _as_mcp(error)
        if request_id is not None and not answered:
            self._receiver.request_failed(request_id, problem)

    async def _post(self, body: bytes, headers: Mapping[str, str], request_id: RequestId | None) -> bool:
        """Returns whether the request got its answer. Raises TarkError."""
        sent = {**headers, "content-type": JSON, "accept": f"{JSON}, {EVENTS}"}
        stream = _Stream()
        async with self._http.request("POST", sent, body) as response:
            if session := response.headers.get("mcp-session-id"):
                self._http.session = session[:1_000]
            if response.status == 202:
                return False
            await self._http.require_success(response, request_id)
            if type_of(response) != EVENTS:
                return request_id is not None and self._pass_on(await _read_messages(response), request_id)
            if await self._read_events(response, stream, request_id):
                return True
        return request_id is not None and await self._resume(stream, request_id)

    async def _resume(self, stream: _Stream, request_id: RequestId | None) -> bool:
        """Resumes the stream of a legacy server after the last event. Returns whether the request got its answer.
        Raises TarkError."""
        tries = 0
        while self._can_resume(stream) and tries < MOST_RETRIES:
            await asyncio.sleep(min(max(stream.retry_seconds, SHORTEST_RETRY), LONGEST_RETRY))
            before = stream.last_id
            headers = {"accept": EVENTS, **self._http.version(), **({"last-event-id": before} if before else {})}
            async with self._http.request("GET", headers) as response:
                await self._http.require_success(response, None)
                if await self._read_events(response, stream, request_id):
                    return True
            tries = 0 if stream.last_id != before else tries + 1
        return False

    def _can_resume(self, stream: _Stream) -> bool:
        return bool(stream.last_id) and (self._http.facts is None or self._http.facts.era is Era.LEGACY)

    async def _listen(self) -> None:
        """Reads the stream on which a legacy server sends messages by itself. A server need not have one.

        While the stream is broken, a report of changed tools can get lost, so they count as changed.
        """
        assert self._receiver is not None
        for tries, pause in enumerate(pauses()):
            try:
                if not await self._listen_once() and not tries:
                    return
            except SessionOver as error:
                self._receiver.closed(error)
                return
            except TarkError as error:
                log.debug("the stream of the server ended: %s", error)
            self._receiver.received(CHANGED)
            await asyncio.sleep(pause)
            self._receiver.received(CHANGED)

    async def _listen_once(self) -> bool:
        """Reads until the stream ends. False if the server has no such stream. Raises TarkError."""
        stream = _Stream()
        async with self._http.request("GET", {"accept": EVENTS, **self._http.version()}) as response:
            if response.status != 200 or type_of(response) != EVENTS:
                return False
            await self._read_events(response, stream, None)
        await self._resume(stream, None)
        return True

    async def _read_events(self, response: HttpResponse, stream: _Stream, request_id: RequestId | None) -> bool:
        """Passes on the messages of a stream. True as soon as the request has its answer. If the stream can be resumed,
        a broken one is handled like one that ended."""
        decoder = SseDecoder(LARGEST_MESSAGE)
        try:
            async for chunk in response.chunks:
                stream.bytes += len(chunk)
                if stream.bytes > MOST_UNASKED:
                    raise McpError(f"it sent {MOST_UNASKED // 2**20} MiB without an answer")
                for event in decoder.feed_bytes(chunk):
                    stream.last_id = event.id or stream.last_id
                    if event.data.strip() and self._pass_on(_messages_in(event.data), request_id):
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

    def _pass_on(self, messages: Sequence[Incoming], request_id: RequestId | None) -> bool:
        """Passes on the messages. Returns whether the answer to the request is one of them."""
        assert self._receiver is not None
        answered = False
        for message in messages:
            answered = answered or (isinstance(message, Reply | Failure) and message.id == request_id)
            self._receiver.received(message)
        return answered and request_id is not None


async def _read_messages(response: HttpResponse) -> Sequence[Incoming]:
    """The messages in the body. Raises McpError if it has none, for example because the URL is that of a web page."""
    body = await read_body(response, LARGEST_MESSAGE)
    if not body.strip():
        raise McpError("its answer is empty", hint=CHECK_URL)
    try:
        return parse_messages(body)
    except ValueError as error:
        kind = type_of(response)
        shown = f" ({kind})" if MIME_TYPE.fullmatch(kind) else ""  # any other text could be meant for the model
        raise McpError(f"its answer{shown} is not a message of MCP", hint=CHECK_URL) from error


def _messages_in(event: bytes) -> Sequence[Incoming]:
    """The messages of one event of a stream. A stream can go on after an event that is not a message."""
    try:
        return parse_messages(event)
    except ValueError as error:
        log.warning("an MCP server sent something that is not a message: %s", error)
        return ()


def _as_mcp(error: TarkError) -> McpError:
    return error if isinstance(error, McpError) else McpError(error.message, hint=error.hint)
