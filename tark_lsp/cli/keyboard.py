"""Reads answers from the terminal, one line per question. Input that was typed before the question is dropped."""

import asyncio
import os
import sys
from typing import Protocol, TextIO


class AnswerInput(Protocol):
    """Reads the user's answers to questions."""

    async def ask(self, question: str, keys: str = "", *, at_once: bool = False) -> str | None:
        """Returns the line, stripped; None if there is no answer and will be none.

        `keys`: if single keys can be read, one of these is the answer, without Enter. `at_once`: the question follows
        an answer that the user just gave, so it does not wait until they stop typing.
        """
        ...


class Keyboard:
    """Use one per process. If `ask` is called while another `ask` waits, the questions follow each other."""

    def __init__(self, screen: TextIO | None = None) -> None:
        """`screen`: the stream for questions; standard output by default."""
        self._screen = screen or sys.stdout
        self._turn = asyncio.Lock()

    async def ask(
        self,
        question: str,
        keys: str = "",  # noqa: ARG002 - lines are read here, so an answer always ends with Enter
        *,
        at_once: bool = False,  # noqa: ARG002 - a question never waits here
    ) -> str | None:
        """Returns the line, stripped; None if the input ended (Ctrl-D)."""
        async with self._turn:
            discard_typed_input()
            self._screen.write(question)
            self._screen.flush()
            line = await _read_line()
            if not line:
                self._screen.write("\n")
            return line.strip() if line else None


async def _read_line() -> str:
    if sys.platform == "win32":
        # asyncio cannot watch the Windows console. A cancelled question leaves a thread that reads the next line.
        return await asyncio.to_thread(sys.stdin.readline)
    loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()
    typed: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        if not typed.done():
            typed.set_result(os.read(descriptor, 4096))

    loop.add_reader(descriptor, read)
    try:
        return (await typed).decode("utf-8", "replace")
    finally:
        loop.remove_reader(descriptor)


def discard_typed_input() -> None:
    """Discards keys that were pressed before the question appeared, because they must not answer it."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
