"""The connection to the editor: a pygls server, hardened. The rest of server/ sees only this small API of JSON dicts.

Of pygls it keeps the server, the registry of features and what follows from them (ServerCapabilitiesBuilder; a test
compares). Messages are read by `frames`, `streams` and `rpc` instead: the stock machinery is typed all through, and 18
of its ways had to be other ones. Each has a test named by its letter (`test_lsp_a_...`), so that an upgrade shows.
"""

import asyncio
import logging
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, overload

from cattrs import Converter
from pygls.lsp.server import LanguageServer

from tark_lsp import __version__
from tark_lsp.errors import RequestError
from tark_lsp.processes import is_alive
from tark_lsp.server.capabilities import find, initialize_result
from tark_lsp.server.connection.frames import FrameDecoder, FramingError, encode_frame
from tark_lsp.server.connection.rpc import INVALID_REQUEST, NOT_INITIALIZED, RequestFailed, Rpc
from tark_lsp.server.connection.streams import PipeReader, PipeWriter
from tark_lsp.server.editors import ClientInfo

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["Connection", "RequestFailed"]

logger = logging.getLogger(__name__)

P = TypeVar("P", bound="BaseModel")

STOP_SECONDS = 3.0
"""What `on_stop` callbacks may take in all: a client waits for `shutdown`, and many kill the server soon after."""
CANCEL_SECONDS = 0.5
FLUSH_SECONDS = 1.0
PARENT_SECONDS = 2.0
"""Between two looks at whether the client's process is alive."""


class Connection(LanguageServer):
    """Register handlers before it serves; use no method of pygls's own.

    `client` is known from `initialize` on, a default before.
    """

    def __init__(self) -> None:
        # Making the converter of LSP's types costs more than all the rest here, and nothing is structured by them.
        super().__init__("tark-lsp", __version__, converter_factory=Converter)
        self.client = ClientInfo()
        self._rpc = Rpc(self._write, self._gate)
        self._writer: PipeWriter | None = None
        self._on_initialize: list[Callable[[], None]] = []
        self._on_stop: list[Callable[[], Awaitable[None]]] = []
        self._initialized = False
        self._shut_down = False
        self._stopping: asyncio.Future[None] | None = None
        self._ended = asyncio.Event()
        self.on_request("initialize", self._initialize)
        self.on_request("shutdown", self._shutdown)
        self.on_notification("exit", self._exit)

    @overload
    def on_request(self, method: str, handler: Callable[[P], Awaitable[object]], params: type[P]) -> None: ...
    @overload
    def on_request(self, method: str, handler: Callable[[dict[str, Any]], Awaitable[object]]) -> None: ...
    def on_request(
        self, method: str, handler: Callable[[Any], Awaitable[object]], params: "type[BaseModel] | None" = None
    ) -> None:
        """`handler` is an `async def` run as a task that `$/cancelRequest` and shutdown really cancel; it gives JSON.

        Bad params are answered -32602 naming the field, RequestError by its `rpc_code` and message; every other error
        is logged and answered -32603 in short.
        """
        self._rpc.on_request(method, handler, params)
        self._register(method)

    def on_notification(self, method: str, handler: Callable[[dict[str, Any]], None]) -> None:
        """`handler` is a plain `def` that gets the params as they came, {} for none, and starts tasks where it must.

        Each is handled before anything later from the client. A method may have several handlers; what one raises is
        logged.
        """
        self._rpc.on_notification(method, handler)
        self._register(method)

    def on_initialize(self, callback: Callable[[], None]) -> None:
        """Called when `client` is known, before any other message is handled."""
        self._on_initialize.append(callback)

    def on_stop(self, callback: Callable[[], Awaitable[None]]) -> None:
        """Awaited once, at shutdown or when the stream ends without: end turns and processes, within 3 seconds.

        Not called where `initialize` never came.
        """
        self._on_stop.append(callback)

    @property
    def backlogged(self) -> bool:
        """The client does not read what it was sent: join updates instead of sending more of them."""
        return self._writer is not None and self._writer.backlogged

    def notify(self, method: str, params: object = None) -> None:
        self._rpc.notify(method, params)

    async def request(self, method: str, params: object = None) -> Any:
        """The client's answer. Raises RequestFailed.

        Cancelling the task that awaits it (a time-out does) sends `$/cancelRequest`; a late answer is dropped.
        """
        return await self._rpc.request(method, params)

    async def serve(self, reader: PipeReader, stdout: int, *, received: bytes = b"", initialize: object = None) -> int:
        """Serve until the end, writing to a file descriptor. Gives the exit code: 0 after `shutdown`, else 1.

        `received` was read before `reader` was; `initialize` is the message if it was answered already.
        """
        loop = asyncio.get_running_loop()

        def lost() -> None:
            loop.call_soon_threadsafe(self._ended.set)

        self._writer = PipeWriter(stdout, lost)
        if sys.platform != "win32":
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self._ended.set)
        if initialize is not None:
            self._start(find(initialize, "params"))
        tasks = [asyncio.ensure_future(self._until_end(work)) for work in (self._read(reader, received), self._watch())]
        await self._ended.wait()
        for task in tasks:
            task.cancel()
        await self._stop()
        self._rpc.close()
        self._writer.close(FLUSH_SECONDS)
        return 0 if self._shut_down else 1

    async def _read(self, reader: PipeReader, data: bytes) -> None:
        decoder = FrameDecoder()
        while not self._ended.is_set():
            for body in decoder.feed(data):
                self._rpc.receive(body)
                # A request begins before what came after it is handled; and a flood leaves the loop to others.
                await asyncio.sleep(0)
            data = await reader.read()
            if not data:
                return

    async def _watch(self) -> None:
        # No event says on every system that a process has ended.
        while self.client.process_id is None or is_alive(self.client.process_id):  # noqa: ASYNC110
            await asyncio.sleep(PARENT_SECONDS)
        logger.warning("the client's process %d is gone", self.client.process_id)

    async def _until_end(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except FramingError as error:
            logger.error("the stream is closed: %s", error)
        except Exception:  # logged, and the connection is over
            logger.exception("the connection failed")
        finally:
            self._ended.set()

    def _start(self, params: object) -> None:
        self._initialized = True
        self.client = ClientInfo.read(params)
        for callback in self._on_initialize:
            try:
                callback()
            except Exception:  # logged: the editor gets its answer all the same
                logger.exception("a callback of initialize failed")

    async def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        self._start(params)
        return initialize_result(params)

    def _exit(self, _params: dict[str, Any]) -> None:
        self._ended.set()

    async def _shutdown(self, _params: dict[str, Any]) -> None:
        self._shut_down = True
        await self._stop()

    async def _stop(self) -> None:
        if self._stopping is None:
            self._stopping = asyncio.ensure_future(self._end_work(asyncio.current_task()))
        await asyncio.shield(self._stopping)

    async def _end_work(self, shutdown: asyncio.Task[Any] | None) -> None:
        """Turns are ended first, so that requests that wait for one get its end for an answer."""
        try:
            async with asyncio.timeout(STOP_SECONDS):
                for callback in self._on_stop if self._initialized else ():
                    try:
                        await callback()
                    except Exception:  # logged: the others are still to be ended
                        logger.exception("a callback of shutdown failed")
        except TimeoutError:
            logger.warning("gave up what did not end within %.0f s", STOP_SECONDS)
        await self._rpc.cancel_requests(but=shutdown, seconds=CANCEL_SECONDS)

    def _gate(self, method: str) -> RequestError | None:
        if method == "exit":
            return None
        if self._shut_down:
            return RequestError("the server is shut down", rpc_code=INVALID_REQUEST)
        if method == "initialize":
            return RequestError("initialized already", rpc_code=INVALID_REQUEST) if self._initialized else None
        return None if self._initialized else RequestError("not initialized", rpc_code=NOT_INITIALIZED)

    def _write(self, body: bytes) -> None:
        if self._writer is None:
            raise RuntimeError("the connection does not serve yet")
        self._writer.write(encode_frame(body))

    def _register(self, method: str) -> None:
        """In pygls's own registry too: what it would advertise is what is served."""
        if method not in self.protocol.fm.features:
            self.protocol.fm.feature(method)(lambda _params: None)
