"""Answers typed at the terminal: one line per question, cancellable; what was typed before the question is dropped."""

import asyncio
import os
import sys
from typing import Protocol


class Asks(Protocol):
    """Where a person types the answer to a question."""

    async def ask(self, question: str) -> str | None:
        """The line typed, stripped; None: there is no answer, and will be none."""
        ...


class Keyboard:
    """Use one for the process. `ask` may be called while another `ask` waits; questions then follow each other."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def ask(self, question: str) -> str | None:
        """The line typed, stripped; None: the input has ended (Ctrl-D)."""
        async with self._turn:
            forget_what_was_typed()
            sys.stdout.write(question)
            sys.stdout.flush()
            line = await _read_line()
            if not line:
                sys.stdout.write("\n")
            return line.strip() if line else None


async def _read_line() -> str:
    if sys.platform == "win32":
        # Its loop cannot watch the console; a cancelled question leaves a thread that eats the next line.
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


def forget_what_was_typed() -> None:
    """A key pressed before the question was seen must not answer it."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
