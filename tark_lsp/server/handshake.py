"""The start: answers `initialize` with the standard library alone, in a blink, then lets the pygls server take over.

Importing pygls takes most of a second, `json` a few milliseconds; what the client sends meanwhile is read by a thread.
So nothing here may import more than it needs before the answer is out: no asyncio, logging, dataclasses or typing.
"""

import gc
import json
import os
import sys
from collections.abc import Callable

from tark_lsp.server.capabilities import initialize_result
from tark_lsp.server.connection.frames import FrameDecoder, FramingError, encode_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from tark_lsp.server.connection.lsp import Connection


def main() -> "NoReturn":
    """Serve tark over stdio, and end the process."""

    def create() -> "Connection":
        from tark_lsp.server.app import create_server

        # What was imported stays; looking through it anew for garbage takes 50 ms, in the middle of somebody's typing.
        gc.freeze()
        return create_server()

    try:
        serve_stdio(create)
    except KeyboardInterrupt:  # in a terminal, where nobody but a person speaks to it
        os._exit(1)


def serve_stdio(create_server: Callable[[], "Connection"]) -> "NoReturn":
    """Serve what `create_server` makes, called in the running event loop after `initialize` is answered.

    Ends the process without waiting for threads: nothing that still runs may keep a server that nobody talks to.
    """
    stdin, stdout = take_stdio()
    received = read_first(stdin)
    message, rest = parse_initialize(received)
    if message is None:
        rest = received  # whatever it is, the server knows what to answer
    else:
        result = {"jsonrpc": "2.0", "id": message["id"], "result": initialize_result(message.get("params"))}
        try:  # noqa: SIM105  contextlib would be one more import before the answer
            os.write(stdout, encode_frame(json.dumps(result).encode()))
        except BrokenPipeError:
            pass  # The client is gone: the end of stdin tells the server so.

    import asyncio

    from tark_lsp.server.connection.streams import PipeReader

    loop = asyncio.new_event_loop()
    reader = PipeReader(stdin, loop)  # begins to read: a client that sends a big document must not wait for an import

    from tark_lsp.telemetry.logs import begin_logs

    begin_logs()

    async def serve() -> int:
        return await create_server().serve(reader, stdout, received=rest, initialize=message)

    code = loop.run_until_complete(serve())
    sys.stderr.flush()
    os._exit(code)


def take_stdio() -> tuple[int, int]:
    """Take stdin and stdout aside, for the protocol alone: a stray `print` or a child process cannot harm it then.

    What reads stdin gets nothing from now on, what is written to stdout goes to stderr.
    """
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return stdin, stdout


def read_first(stdin: int) -> bytes:
    """The bytes up to the end of the first message or more; fewer at the end of the stream or where it is none."""
    received = bytearray()
    decoder = FrameDecoder()
    while chunk := os.read(stdin, 65536):
        received += chunk
        try:
            if any(True for _ in decoder.feed(chunk)):
                break
        except FramingError:
            break
    return bytes(received)


def parse_initialize(received: bytes) -> "tuple[dict[str, Any] | None, bytes]":
    """The first message if it is a sound `initialize`, and the bytes after it."""
    decoder = FrameDecoder()
    try:
        body = next(decoder.feed(received), None) or b""
        message = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None, received
    if not isinstance(message, dict) or message.get("method") != "initialize" or message.get("jsonrpc") != "2.0":
        return None, received
    if type(message.get("id")) not in (int, str) or not isinstance(message.get("params"), dict):
        return None, received
    return message, decoder.rest
