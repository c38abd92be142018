"""The language server: pygls's `LanguageServer` with Tark's protocol, served over the two pipes of stdio."""

import asyncio
import inspect
import logging
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from cattrs import Converter
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from tark_lsp import __version__
from tark_lsp.processes import is_alive
from tark_lsp.server.connection.frames import FrameDecoder, FramingError
from tark_lsp.server.connection.lifecycle import CANCEL_SECONDS
from tark_lsp.server.connection.protocol import TarkProtocol
from tark_lsp.server.connection.streams import PipeReader, PipeWriter
from tark_lsp.server.protocol.capabilities import find_value

logger = logging.getLogger(__name__)

F = TypeVar("F", bound=Callable[..., Any])

PARENT_SECONDS = 2.0
"""Time between two checks whether the client's process is alive."""


class TarkServer(LanguageServer):
    """Register handlers with `feature` and `command` before it serves. `start_io` and similar methods are not used.

    A handler's annotation is the type of its params: a pydantic model, which checks them, or a plain dict.
    """

    protocol: TarkProtocol

    def __init__(self) -> None:
        # A bare converter, because lsprotocol's types are not used, and creating their converter takes time.
        super().__init__("tark-lsp", __version__, protocol_cls=TarkProtocol, converter_factory=Converter)

    def feature(self, feature_name: str, options: Any | None = None) -> Callable[[F], F]:
        """Register the only handler of a method. Further listeners use `listen()` of what the handler calls.

        A request is handled by an `async def`. It runs as a task that `$/cancelRequest` and `shutdown` really cancel,
        and returns JSON. RequestError is answered with its `rpc_code` and message. Any other error is logged and
        answered with -32603. A notification is handled by a plain `def` before any later message. It starts a task for
        work that takes time. The same is true for `initialize`, which the built-in handler has already answered.

        Raises TypeError for a handler of the wrong kind, FeatureAlreadyRegisteredError for a second one.
        """
        register: Callable[[F], F] = super().feature(feature_name, options)

        def decorator(handler: F) -> F:
            _check_kind(feature_name, handler)
            return register(handler)

        return decorator

    async def serve(self, reader: PipeReader, stdout: int, *, received: bytes = b"", initialize: object = None) -> int:
        """Serve until the end, writing to a file descriptor. Returns the exit code: 0 after `shutdown`, else 1.

        `received`: data that was read before `reader`. `initialize`: the message, if it was already answered.
        """
        loop = asyncio.get_running_loop()
        ended = self.protocol.lifecycle.ended

        def lost() -> None:
            loop.call_soon_threadsafe(ended.set)

        writer = PipeWriter(stdout, lost)
        self.protocol.set_writer(writer)
        if sys.platform != "win32":
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, ended.set)
        if initialize is not None:
            self.protocol.start(find_value(initialize, "params"))
        tasks = [asyncio.ensure_future(self._until_end(work)) for work in (self._read(reader, received), self._watch())]
        await ended.wait()
        for task in tasks:
            task.cancel()
        await self.protocol.lifecycle.stop()
        await self.protocol.running.wait_for_answers(CANCEL_SECONDS)  # `shutdown` itself, if `exit` followed at once
        self.protocol.to_client.close()
        writer.close()
        return self.protocol.lifecycle.exit_code

    async def _read(self, reader: PipeReader, data: bytes) -> None:
        decoder = FrameDecoder()
        while not self.protocol.lifecycle.ended.is_set():
            for body in decoder.feed_bytes(data):
                self.protocol.receive(body)
                # A request starts before later messages are handled, and a flood of messages does not block the loop.
                await asyncio.sleep(0)
            data = await reader.read()
            if not data:
                return

    async def _watch(self) -> None:
        client = self.protocol.client
        # There is no event for the end of a process on every system.
        while client.process_id is None or is_alive(client.process_id):
            await asyncio.sleep(PARENT_SECONDS)
            client = self.protocol.client
        logger.warning("the client's process %d is gone", client.process_id)

    async def _until_end(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except FramingError as error:
            logger.error("the stream is closed: %s", error)
        except Exception:  # logged, and the connection is over
            logger.exception("the connection failed")
        finally:
            self.protocol.lifecycle.ended.set()


def _check_kind(method: str, handler: Callable[..., Any]) -> None:
    message_type = types.METHOD_TO_TYPES.get(method, (None,))[0]
    if message_type is None:
        return
    is_request = "id" in message_type.__annotations__ and method != types.INITIALIZE
    if inspect.iscoroutinefunction(handler) is is_request:
        return
    if is_request:
        raise TypeError(f"the handler of the request {method} must be an `async def`, which can be cancelled")
    raise TypeError(f"the handler of {method} must be a plain `def`, which keeps the order")
