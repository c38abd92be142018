"""Reads answers from the terminal: one line per question, cancellable. Input from before the question is dropped."""

import asyncio
import os
import sys
from typing import Protocol, TextIO


class AnswerInput(Protocol):
    """Where the user types the answer to a question."""

    async def ask(self, question: str) -> str | None:
        """Returns the line, stripped; None: there is no answer, and there will be none."""
        ...


class Keyboard:
    """Use one per process. `ask` can be called while another `ask` waits: the questions follow each other."""

    def __init__(self, screen: TextIO | None = None) -> None:
        """`screen`: where questions are written; without it, on standard output."""
        self._screen = screen or sys.stdout
        self._turn = asyncio.Lock()

    async def ask(self, question: str) -> str | None:
        """Returns the line, stripped; None: the input has ended (Ctrl-D)."""
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
        # asyncio cannot watch the console there. A cancelled question leaves a thread that reads the next line.
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
    """A key that was pressed before the question was shown must not answer it."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
