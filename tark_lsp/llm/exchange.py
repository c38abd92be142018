"""One HTTP request and its response: the head, then the bytes that arrived since the last call, and stalls.

A separate task reads the response, for two reasons. Silence can be reported while a read is waiting (cancelling the
read would break the connection). And body parts that arrive together are returned as one, so that each wake-up makes
one pass through decoder and parser, however small the provider's pieces are.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

from tark_lsp.errors import ModelTimeout
from tark_lsp.http import HttpRequest, Transport
from tark_lsp.llm.events import Stall

MAX_BUFFERED_PARTS = 256
"""How many body parts are read ahead of the caller. One part has at most 64 KiB."""


FETCH_SECONDS = 60.0
"""The time limit for a whole small answer."""

LARGE_PART_BYTES = 16 * 1024


def take_parts(parts: list[bytes]) -> bytes:
    """Removes the parts from the list and joins them. A large part is returned alone: joining gains nothing."""
    if len(parts[0]) >= LARGE_PART_BYTES:
        return parts.pop(0)
    data = b"".join(parts)
    parts.clear()
    return data


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. `headers`: from sending to the head. `idle`, `thinking`: without any byte, comments included. `refusal`:
    for the body of an error.

    `notice`: silence is reported after this time, and again after every `notice_again`.
    """

    headers: float = 60.0
    idle: float = 120.0
    thinking: float = 300.0
    refusal: float = 10.0
    notice: float = 20.0
    notice_again: float = 10.0


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """`headers` have lower-case names."""

    status: int
    headers: Mapping[str, str]


class Exchange:
    """Use it in `async with`: leaving closes the connection, unless the body was read to its end."""

    def __init__(self, transport: Transport, request: HttpRequest, times: Timeouts) -> None:
        self._transport = transport
        self._request = request
        self._times = times
        self._loop = asyncio.get_running_loop()
        self._limit = times.headers
        self._heads: list[ResponseHead] = []
        self._parts: list[bytes] = []
        self._taken = asyncio.Event()
        self._stall: Stall | None = None
        self._timeout: ModelTimeout | None = None
        self._waiter: asyncio.Future[None] | None = None

    def set_silence_limit(self, seconds: float) -> None:
        """Sets how many seconds of silence end the exchange, from now on."""
        self._limit = seconds

    async def __aenter__(self) -> "Exchange":
        self._last = self._loop.time()
        self._task = self._loop.create_task(self._read())
        self._task.add_done_callback(lambda _: self._wake())
        self._watch = self._loop.call_later(min(self._times.notice, self._limit), self._check_silence)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watch.cancel()
        if not self._task.cancelling():  # a second cancel would interrupt the closing that the first started
            self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.exception()  # `next_item` raised it, or it came too late to matter

    async def next_item(self) -> ResponseHead | bytes | Stall | None:
        """None: the body has ended. Raises ModelTimeout, and what `Transport.send` and its chunks raise."""
        while True:
            if self._heads:
                return self._heads.pop()
            if self._parts:
                self._taken.set()
                return take_parts(self._parts)
            if self._timeout is not None:
                raise self._timeout
            if self._task.done():
                self._task.result()
                return None
            if self._stall is not None:
                stall, self._stall = self._stall, None
                return stall
            self._waiter = self._loop.create_future()
            await self._waiter

    async def read_rest(self, limit: int, seconds: float = FETCH_SECONDS) -> bytes:
        """Returns what arrives of the body within `seconds`: all of it, or its first `limit` bytes and what came with
        them.

        A server that sends slowly is never silent, so the limit on silence is not enough.
        """
        body = b""
        with suppress(TimeoutError):  # what has arrived is enough
            async with asyncio.timeout(seconds):
                while len(body) < limit and (item := await self.next_item()) is not None:
                    if isinstance(item, bytes):
                        body += item
        return body

    async def wait_for_end(self, within: float) -> bool:
        """Returns whether the body ends within that many seconds. Then the connection can be used again."""
        await asyncio.wait([self._task], timeout=within)
        return self._task.done()

    async def _read(self) -> None:
        response = await self._transport.send(self._request)
        try:
            self._heads.append(ResponseHead(response.status, response.headers))
            self._limit = self._times.idle
            self._note_arrival()
            parts = self._parts
            async for chunk in response.chunks:
                parts.append(chunk)
                if len(parts) == 1:  # else the caller is awake already
                    self._note_arrival()
                elif len(parts) >= MAX_BUFFERED_PARTS:
                    self._taken.clear()
                    await self._taken.wait()
        finally:
            await response.aclose()

    def _note_arrival(self) -> None:
        self._last = self._loop.time()
        self._stall = None
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _check_silence(self) -> None:
        """The timer callback. Each time it computes when something can next be due, so it runs rarely."""
        now = self._loop.time()
        if self._parts:  # not silence: the caller has not read what is there
            self._last = now
        silent = now - self._last
        if silent >= self._limit:
            self._timeout = ModelTimeout(f"the provider sent nothing for {silent:.0f} s")
            self._task.cancel()
            self._wake()
            return
        due = self._last + self._times.notice
        if silent >= self._times.notice:
            self._stall = Stall(round(silent, 1))
            self._wake()
            due = now + self._times.notice_again
        self._watch = self._loop.call_at(min(due, self._last + self._limit), self._check_silence)


async def fetch_body(
    transport: Transport, request: HttpRequest, times: Timeouts, limit: int, seconds: float = FETCH_SECONDS
) -> tuple[int, bytes]:
    """Returns status and body of a small answer. Raises what `Exchange.next_item` raises, and ModelTimeout
    if all of it takes longer than `seconds`.
    """
    try:
        async with asyncio.timeout(seconds), Exchange(transport, request, times) as exchange:
            while not isinstance(head := await exchange.next_item(), ResponseHead):
                pass  # a stall; the head comes before everything else
            return head.status, await exchange.read_rest(limit, seconds)
    except TimeoutError as error:
        raise ModelTimeout(f"the answer did not end within {seconds:.0f} s") from error
