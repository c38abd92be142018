"""The start: `initialize` is answered with the standard library alone, then the pygls server takes over.

Importing pygls and the rest takes a third of a second, `json` a few milliseconds. A thread reads what the client sends
meanwhile. So no import that the answer does not need stands at the top: no asyncio, logging, dataclasses or typing.
"""

import gc
import json
import os
import sys
from collections.abc import Callable

from tark_lsp.server.connection.frames import FrameDecoder, FramingError, encode_frame
from tark_lsp.server.protocol.capabilities import initialize_result

SWITCH_SECONDS = 0.001
"""How long the event loop waits for a thread that computes, each time that it reads or writes; 0.005 in Python."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from tark_lsp.server.connection.server import TarkServer


def main() -> "NoReturn":
    """Serve tark over stdio, and end the process."""

    def create() -> "TarkServer":
        from tark_lsp.server.features import create_server

        return create_server()

    try:
        serve_stdio(create)
    except KeyboardInterrupt:  # pressed in a terminal, where there is no client
        os._exit(1)


def serve_stdio(create_server: Callable[[], "TarkServer"]) -> "NoReturn":
    """Answer `initialize`, then serve with the server that `create_server` makes in the running event loop.

    Ends the process without waiting for threads: nothing that still runs can keep alive a server without a client.
    """
    stdin, stdout = take_stdio()
    message, rest = answer_initialize(stdin, stdout)

    # Imports leave little garbage, and looking for it takes a tenth of the start.
    gc.disable()

    import asyncio

    from tark_lsp.server.connection.streams import PipeReader

    loop = asyncio.new_event_loop()
    # It reads from now on: a client that sends a large document must not wait for imports.
    reader = PipeReader(stdin, loop)

    from tark_lsp.telemetry.logs import start_logging

    start_logging()

    from tark_lsp.server.connection.lazy_lsprotocol import import_lsprotocol

    import_lsprotocol()

    from tark_lsp.server.connection.plain_pydantic import skip_plugin_search

    skip_plugin_search()

    async def serve() -> int:
        server = create_server()
        # What was imported stays: looking through it again would take 50 ms while somebody types.
        gc.freeze()
        gc.enable()
        sys.setswitchinterval(SWITCH_SECONDS)
        return await server.serve(reader, stdout, received=rest, initialize=message)

    code = loop.run_until_complete(serve())
    sys.stderr.flush()
    os._exit(code)


def answer_initialize(stdin: int, stdout: int) -> "tuple[dict[str, Any] | None, bytes]":
    """Read the first message and answer it if it is a valid `initialize`.

    Returns that message, else None; and the bytes that the server still has to handle.
    """
    message, rest = parse_initialize(read_first(stdin))
    if message is not None:
        result = {"jsonrpc": "2.0", "id": message["id"], "result": initialize_result(message.get("params"))}
        try:  # noqa: SIM105  contextlib would be one more import before the answer
            os.write(stdout, encode_frame(json.dumps(result).encode()))
        except BrokenPipeError:
            pass  # The client is gone: the end of stdin ends the server.
    return message, rest


def take_stdio() -> tuple[int, int]:
    """Duplicates of stdin and stdout for the protocol alone, so that a stray `print` or a child process cannot harm it.

    From now on, reading stdin gives nothing, and anything written to stdout goes to stderr.
    """
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return stdin, stdout


def read_first(stdin: int) -> bytes:
    """Bytes that contain the first message, perhaps more; fewer if the stream ends or they are not a message."""
    received = bytearray()
    decoder = FrameDecoder()
    while chunk := os.read(stdin, 65536):
        received += chunk
        try:
            if any(True for _ in decoder.feed_bytes(chunk)):
                break
        except FramingError:
            break
    return bytes(received)


def parse_initialize(received: bytes) -> "tuple[dict[str, Any] | None, bytes]":
    """The first message if it is a valid `initialize`, else None; and the bytes that were not used."""
    decoder = FrameDecoder()
    try:
        body = next(decoder.feed_bytes(received), None) or b""
        message = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None, received
    if not isinstance(message, dict) or message.get("method") != "initialize" or message.get("jsonrpc") != "2.0":
        return None, received
    if type(message.get("id")) not in (int, str) or not isinstance(message.get("params"), dict):
        return None, received
    return message, decoder.rest
