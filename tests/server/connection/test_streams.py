"""The pipe to the client: one that takes what it gets is never given up, however large it is; one that does not is."""

import asyncio
import os
import threading
from collections.abc import Iterator

import pytest

from tark_lsp.server.connection import streams
from tark_lsp.server.connection.streams import PipeWriter
from tests.patience import AT_ONCE

MOST = 1_000_000


class Pipe:
    def __init__(self) -> None:
        self.reading, self._writing = os.pipe()
        self.broken = threading.Event()
        self.writer = PipeWriter(self._writing, self.broken.set)

    def take(self, size: int) -> int:
        taken = 0
        while taken < size:
            taken += len(os.read(self.reading, 1_000_000))
        return taken

    def close(self) -> None:
        os.close(self.reading)  # a writer that waits for it goes on, and finds it gone
        self.writer.close(1)


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipe]:
    monkeypatch.setattr(streams, "MAX_BACKLOG", MOST)
    pipe = Pipe()
    yield pipe
    pipe.close()


async def test_one_answer_may_be_larger_than_the_backlog(pipe: Pipe) -> None:
    size = 3 * MOST
    for _ in range(3):
        pipe.writer.write(b"x" * size)
        await until_it_is_being_written(pipe)
        for _ in range(100):  # what is said while it goes out
            pipe.writer.write(b"y" * 100)
        assert not pipe.broken.is_set()
        assert await asyncio.to_thread(pipe.take, size + 100 * 100) == size + 100 * 100
    assert not pipe.broken.is_set()


async def test_two_large_answers_at_once(pipe: Pipe) -> None:
    pipe.writer.write(b"x" * 3 * MOST)
    await until_it_is_being_written(pipe)
    pipe.writer.write(b"x" * 3 * MOST)
    assert not pipe.broken.is_set()
    assert await asyncio.to_thread(pipe.take, 6 * MOST) == 6 * MOST


async def test_a_client_that_does_not_read_is_given_up(pipe: Pipe) -> None:
    for _ in range(50):
        pipe.writer.write(b"x" * (MOST // 10))
        await asyncio.sleep(0)
    assert pipe.broken.is_set()


async def until_it_is_being_written(pipe: Pipe) -> None:
    async with asyncio.timeout(AT_ONCE):
        while pipe.writer._queue:  # noqa: ASYNC110  # a thread's, which tells nobody
            await asyncio.sleep(0.001)
