"""Delays the texts of open documents: each is sent to the index process after the user has stopped typing."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from tark_lsp.index.child_process import Message

TYPING_SECONDS = 0.15
"""A text is sent when nothing was typed for this long, or when a question is asked."""


class DelayedTexts:
    """`send` gets the messages."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._texts: dict[Path, str] = {}
        self._unsent: dict[Path, asyncio.TimerHandle] = {}
        self._plain: set[Path] = set()

    def show(self, path: Path, text: str | None) -> None:
        """None: the document is closed, or equals its file."""
        if (handle := self._unsent.pop(path, None)) is not None:
            handle.cancel()
        if text is not None:
            self._texts[path] = text
            self._unsent[path] = asyncio.get_running_loop().call_later(TYPING_SECONDS, self._send_one, path)
        elif self._texts.pop(path, None) is not None:
            self._plain.discard(path)
            self._send({"do": "text", "path": str(path), "text": None, "plain": False})

    def send_now(self) -> None:
        """Send the texts that wait."""
        for path in [*self._unsent]:
            self._send_one(path)

    def read_plainly(self, path: Path) -> None:
        """Parse this document without a grammar until it is closed: its text has ended the process."""
        self._plain.add(path)

    def send_again(self) -> None:
        """Send all texts again, for a new process or after the rules have changed."""
        for path in self._texts:
            self._send_one(path)

    def close(self) -> None:
        for handle in self._unsent.values():
            handle.cancel()
        self._unsent.clear()

    def _send_one(self, path: Path) -> None:
        if (handle := self._unsent.pop(path, None)) is not None:
            handle.cancel()
        self._send({"do": "text", "path": str(path), "text": self._texts[path], "plain": path in self._plain})
