"""Placing runs in a thread that stops the event loop for no longer than a step takes: no collection, short steps."""

import asyncio
import gc
from collections.abc import Iterator
from threading import Event

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.workspace.lines import PIECE, split_lines
from tark_lsp.workspace.placing.searching import find_part
from tark_lsp.workspace.placing.thread import in_thread


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    assert gc.isenabled()
    yield
    gc.enable()


async def test_garbage_is_not_collected_meanwhile() -> None:
    assert await in_thread(gc.isenabled) is False
    assert gc.isenabled()


async def test_it_is_collected_again_after_an_error() -> None:
    def fail(code: str) -> None:
        raise ToolError(code, "message")

    with pytest.raises(ToolError):
        await in_thread(fail, "not_found")
    assert gc.isenabled()


async def test_two_threads_pause_it_until_both_end() -> None:
    begun, ends = Event(), Event()

    def work() -> None:
        begun.set()
        assert ends.wait(60)

    first = asyncio.ensure_future(in_thread(work))
    await asyncio.to_thread(begun.wait, 60)
    assert await in_thread(gc.isenabled) is False
    assert not gc.isenabled()
    ends.set()
    await first
    assert gc.isenabled()


async def test_what_was_off_before_stays_off() -> None:
    gc.disable()
    await in_thread(int)
    assert not gc.isenabled()


LONG = "a" * (PIECE + 5)
TEXTS = {
    "short lines": ["a\n"] * PIECE,
    "lines of two characters as ending": ["a\r\n"] * PIECE,
    "one long line": [LONG],
    "long lines": [LONG + "\n", "b\n", LONG + "\r\n", "c\r", LONG],
    "a line ending at the border": ["a" * (PIECE - 1) + "\n", "b\n", "c"],
    "a line ending across the border": ["a" * (PIECE - 1) + "\r\n", "b\n"],
    "the other kind of line ending": ["a\r"] * PIECE,
}


@pytest.mark.parametrize("name", TEXTS)
def test_long_texts_are_split_in_pieces(name: str) -> None:
    assert split_lines("".join(TEXTS[name])) == TEXTS[name]


@pytest.mark.parametrize("part", ["b", "ab", "ab" * 3, "b" + "a" * PIECE])
@pytest.mark.parametrize("at", [0, PIECE - 3, PIECE, PIECE + 1, 2 * PIECE + 2])
def test_a_part_is_found_across_pieces(part: str, at: int) -> None:
    text = "c" * at + part + "c"
    assert find_part(text, part) == text.find(part) == at
    assert find_part(text, part, at + 1) == text.find(part, at + 1)
    assert find_part(text[:-2], part) == -1
