"""A small HTTP/1.1 server on loopback that plays answers and faults, and records what it was asked.

    async with Loopback([Reply(text="Hi"), Raw(status=429)]) as server:   # one answer for each request, in order
        ... server.url, server.requests ...
    with Loopback(scenario).in_thread() as server: ...                    # for synchronous tests and subprocesses

A `Reply` (tark_lsp/llm/scripted/scenario.py) is encoded as the wire that the request's path asks for; a whole
`Scenario` picks its replies by the last message. `Raw` is any other answer, byte for byte, with its faults.
"""

import asyncio
import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType, TracebackType
from typing import Any, TypeAlias

from tark_lsp.llm.scripted.answer import answer_frames, answer_headers, error_response, read_request
from tark_lsp.llm.scripted.scenario import Player, Reply, Scenario
from tests.patience import AT_ONCE

WIRE_OF_PATH = {
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
    "/messages": "anthropic-messages",
    ":streamGenerateContent?alt=sse": "gemini-content",
    "/api/chat": "ollama-chat",
}


@dataclass(frozen=True, slots=True)
class Raw:
    """Any answer. `parts` go out as HTTP chunks, each after `pause` seconds.

    `reset`: after the parts the connection is broken instead of the body ended; `stall`: it stays open, silent;
    `silent`: not even a status line; `dropped`: closed before it; `length`: a Content-Length in place of chunks, true
    or not.
    """

    parts: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({"content-type": "text/event-stream"}))
    pause: float = 0.0
    reset: bool = False
    stall: bool = False
    silent: bool = False
    dropped: bool = False
    length: int | None = None


Answer: TypeAlias = Reply | Raw


@dataclass(slots=True)
class Request:
    """`closed` is set when the client has closed the connection before the answer was over."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def wire(self) -> str:
        """By the path. Raises StopIteration for one that no wire has."""
        return next(wire for path, wire in WIRE_OF_PATH.items() if self.path.endswith(path))


async def close_server(server: asyncio.Server) -> None:
    """Close it, and lose no socket.

    A connection that was just accepted needs one more round of the loop: asyncio before Python 3.13 loses its socket if
    the server is closed sooner, and the ResourceWarning fails whichever test runs when the garbage is collected.
    """
    loop = asyncio.get_running_loop()
    for listening in server.sockets:
        loop.remove_reader(listening.fileno())
    for _ in range(3):
        await asyncio.sleep(0)
    server.close()


async def end_server(server: asyncio.Server, tasks: Iterable["asyncio.Task[None]"]) -> None:
    """Close it, and end the tasks of its connections."""
    await close_server(server)
    running = list(tasks)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


class Loopback:
    """`answers`: one for each request, the last again and again; or a Scenario.

    GET is answered with a listing of `models`, or with `listing`; Ollama's question about one model with `shown`. That
    one is kept out of `requests`.
    """

    def __init__(
        self,
        answers: Sequence[Answer] | Scenario,
        models: Sequence[str] = (),
        listing: Raw | None = None,
        shown: Raw | None = None,
    ) -> None:
        self._player = Player(answers) if isinstance(answers, Scenario) else None
        self._answers = [] if isinstance(answers, Scenario) else list(answers)
        listed = json.dumps({"data": [{"id": model} for model in models]}).encode()
        self._listing = listing or Raw([listed], headers={"content-type": "application/json"})
        self._shown = shown or Raw([b'{"error":"model not found"}'], 404, {"content-type": "application/json"})
        self._calls = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked = asyncio.Condition()
        self.requests: list[Request] = []
        self.connections = 0
        self.url = ""

    async def __aenter__(self) -> "Loopback":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        await end_server(self._server, self._tasks)

    def then(self, *answers: Answer) -> None:
        """What is answered from now on: one after another, the last again and again."""
        self._answers = list(answers)

    async def asked(self, count: int, seconds: float = AT_ONCE) -> None:
        """Until so many requests have come. Raises TimeoutError."""
        async with asyncio.timeout(seconds), self._asked:
            await self._asked.wait_for(lambda: len(self.requests) >= count)

    async def left(self, kept: int = 0, seconds: float = AT_ONCE) -> None:
        """Until all connections but `kept` are closed. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while len(self._tasks) > kept:
                await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)

    @contextmanager
    def in_thread(self) -> Iterator["Loopback"]:
        """The same server on an event loop of its own."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="loopback", daemon=True)
        thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self.__aenter__(), loop).result(AT_ONCE)
            try:
                yield self
            finally:
                asyncio.run_coroutine_threadsafe(self.__aexit__(None, None, None), loop).result(AT_ONCE)
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(AT_ONCE)
            loop.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (request := await _read_request(reader)) is not None:
                if request.path.endswith("/api/show"):
                    if await _send(self._shown, writer):
                        continue
                    break
                self.requests.append(request)
                async with self._asked:
                    self._asked.notify_all()
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()
            self._tasks.discard(task)

    async def _answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection can go on."""
        if request.method == "GET":
            return await _send(self._listing, writer)
        answer = self._next(request)
        raw = answer if isinstance(answer, Raw) else self._encode(answer, request)
        watch = asyncio.create_task(_watch(request, reader))
        try:
            return await _send(raw, writer)
        except ConnectionError:
            request.closed.set()
            return False
        finally:
            if not (raw.stall or raw.silent):
                watch.cancel()
            await asyncio.wait([watch])

    def _next(self, request: Request) -> Answer:
        if self._player is not None:
            return self._player.choose_reply(read_request(request.body, request.wire))
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def _encode(self, reply: Reply, request: Request) -> Raw:
        if reply.error is not None:
            headers, body = error_response(reply.error, request.wire)
            return Raw([body], reply.error.status, headers)
        frames = list(answer_frames(reply, request.wire, request.body, self._calls + 1))
        self._calls += len(reply.calls)
        return Raw(frames, headers=answer_headers(request.wire), pause=reply.delay_ms / 1000)


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    line = (await reader.readline()).decode("latin-1").split()
    if len(line) != 3:
        return None
    headers: dict[str, str] = {}
    while (header := (await reader.readline()).decode("latin-1").strip()) != "":
        name, _, value = header.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(line[0], line[1], headers, body)


async def _watch(request: Request, reader: asyncio.StreamReader) -> None:
    """A client sends nothing while it is answered, so the end of its side means that it closed."""
    try:
        if not await reader.read(1):
            request.closed.set()
    except ConnectionError:
        request.closed.set()


async def _send(raw: Raw, writer: asyncio.StreamWriter) -> bool:
    if raw.silent or raw.dropped:
        return False
    reason = HTTPStatus(raw.status).phrase if raw.status in set(HTTPStatus) else "Unknown"
    headers = dict(raw.headers)
    if raw.length is None:
        headers["transfer-encoding"] = "chunked"
    else:
        headers["content-length"] = str(raw.length)
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {raw.status} {reason}\r\n{head}\r\n".encode("latin-1"))
    for part in filter(None, raw.parts):  # an empty chunk would be the end
        if raw.pause:
            await asyncio.sleep(raw.pause)
        writer.write(part if raw.length is not None else b"%x\r\n%b\r\n" % (len(part), part))
        await writer.drain()
    if raw.stall:
        return False
    if raw.reset:
        writer.transport.abort()
        return False
    if raw.length is None:
        writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True
