"""A file for rich to write to: what is printed scrolls by above the lines that prompt_toolkit keeps drawing."""

import io
import re
import sys

from prompt_toolkit.application import Application

PADDING = re.compile(r" +(?=\n)")
"""rich fills lines up to the width of now; in a terminal made narrower they would wrap."""
BEGIN_FRAME, END_FRAME = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know synchronized output show what is between as one; others ignore them."""


class Above(io.TextIOBase):
    """`app` is set once there is one; without one that runs, everything goes straight to stdout."""

    def __init__(self) -> None:
        self.app: Application[None] | None = None
        self._pieces: list[str] = []
        self._held = False
        self._in_frame = False

    @property
    def encoding(self) -> str:  # type: ignore[override]  # rich asks for it; the base class has an attribute
        return "utf-8"

    def write(self, text: str) -> int:
        self._pieces.append(text)
        return len(text)

    def flush(self) -> None:
        if self._held:
            return
        text, self._pieces = PADDING.sub("", "".join(self._pieces)), []
        if not text:
            return
        if self.app is None or not self.app.is_running:
            sys.stdout.write(text)
            sys.stdout.flush()
            return
        output = self.app.output
        output.write_raw(BEGIN_FRAME)
        self.app.renderer.erase()
        output.write_raw(text)
        self._in_frame = True
        self.app.invalidate()

    def drawn(self) -> None:
        """The lines below were drawn again."""
        if self._in_frame and self.app is not None:
            self._in_frame = False
            self.app.output.write_raw(END_FRAME)
            self.app.output.flush()

    def hold(self) -> None:
        """Another program has the terminal: what is printed waits."""
        self._held = True

    def let_go(self) -> None:
        self._held = False
        self.flush()
