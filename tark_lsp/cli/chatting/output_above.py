"""A file for rich: what is printed to it appears above the bottom lines that prompt_toolkit draws."""

import io
import re
import sys

from prompt_toolkit.application import Application

PADDING = re.compile(r" +(?=\n)")
"""rich pads lines to the current width. If the terminal becomes narrower, they would wrap."""
BEGIN_FRAME, END_FRAME = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals with synchronized output draw what is between these at once; others ignore them."""


class OutputAbove(io.TextIOBase):
    """`app` is set later. While it does not run, everything goes directly to stdout."""

    def __init__(self) -> None:
        self.app: Application[None] | None = None
        self._pieces: list[str] = []
        self._paused = False
        self._in_frame = False

    @property
    def encoding(self) -> str:  # type: ignore[override]  # rich asks for it; the base class has an attribute
        return "utf-8"

    def write(self, text: str) -> int:
        self._pieces.append(text)
        return len(text)

    def flush(self) -> None:
        if self._paused:
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

    def on_redraw(self) -> None:
        """Called after the bottom lines were drawn."""
        if self._in_frame and self.app is not None:
            self._in_frame = False
            self.app.output.write_raw(END_FRAME)
            self.app.output.flush()

    def pause(self) -> None:
        """Holds output back while another program uses the terminal."""
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        self.flush()
