"""The two pipes of stdio, each in a separate thread, so that neither reading nor writing blocks the event loop.

Threads are used instead of asyncio's pipes because they work the same on every system (Windows cannot poll pipes) and
do not change the flags of a shared terminal. They cost about 0.05 ms of CPU more per request than polling, of 0.2 ms in
total. With pygls, which switches to a thread for every header line, the total was 0.8 ms.
"""

import asyncio
import logging
import os
import threading
from collections import deque
from collections.abc import Callable

logger = logging.getLogger(__name__)

CHUNK = 256 * 1024
AHEAD = 64
"""How many chunks are read ahead. A client that sends more has to wait until its pipe is emptied."""
FLUSH_SECONDS = 1.0
BACKLOG = 256 * 1024
"""If more bytes than this wait for the client, it counts as not reading."""
MAX_BACKLOG = 64 * 1024 * 1024
"""If more bytes than this wait behind the data that is being written, the connection ends: the client reads nothing.

The data being written does not count. One answer can be larger than this, and a client that reads it stays connected.
"""


class PipeReader:
    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self._descriptor = descriptor
        self._loop = loop
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(AHEAD)
        # A daemon: it stays in read() until the client writes or exits, and must not keep the process alive.
        threading.Thread(target=self._run, name="stdin", daemon=True).start()

    async def read(self) -> bytes:
        """The next bytes; empty at the end of the stream."""
        chunk = await self._chunks.get()
        self._room.release()
        return chunk

    def _run(self) -> None:
        chunk = b"-"
        while chunk:
            self._room.acquire()
            try:
                chunk = os.read(self._descriptor, CHUNK)
            except OSError as error:
                logger.warning("stdin: %s", error)
                chunk = b""
            try:
                self._loop.call_soon_threadsafe(self._chunks.put_nowait, chunk)
            except RuntimeError:  # the loop is closed, so nothing reads any longer
                return


class PipeWriter:
    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        """`on_broken` is called in any thread if the client closes its end of the pipe or reads nothing."""
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._queue: deque[bytes] = deque()
        self._waiting = 0
        """Bytes that the client has not taken yet."""
        self._behind = 0
        """The part of these bytes that is in the queue."""
        self._open = True
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name="stdout", daemon=True).start()

    @property
    def backlogged(self) -> bool:
        return self._waiting > BACKLOG

    def write(self, data: bytes) -> None:
        """Never waits. Data written after the end is dropped, because nobody can read it."""
        with self._changed:
            if not self._open:
                return
            given_up = self._behind > MAX_BACKLOG
            self._queue.append(data)
            self._waiting += len(data)
            self._behind += len(data)
            if given_up:
                self._open = False
            self._changed.notify_all()
        if given_up:
            logger.error("the client does not read: %d bytes wait for it", self._waiting)
            self._on_broken()

    def close(self, seconds: float = FLUSH_SECONDS) -> None:
        """Wait until the client has read everything, at most `seconds`. Later writes are dropped."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting, seconds)
            self._open = False
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._queue) or not self._open)
                if not self._open:
                    return
                data = b"".join(self._queue)
                self._queue.clear()
                self._behind = 0
            rest = memoryview(data)
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError as error:
                with self._changed:
                    was_open, self._open, self._waiting = self._open, False, 0
                    self._changed.notify_all()
                if was_open:
                    logger.warning("stdout: %s", error)
                    self._on_broken()
                return
            with self._changed:
                self._waiting -= len(data)
                self._changed.notify_all()
