"""A file for rich. Its text appears above the bottom lines, which prompt_toolkit draws."""

import io
import re
import sys

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output

from tark_lsp.cli.chatting.repaint import PrintedLines

PADDING = re.compile(r" +(?=\n)")
"""The blanks with which rich pads lines to the current width. Padded lines would wrap if the terminal gets narrower."""
BEGIN_FRAME, END_FRAME = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals with synchronized output draw the text between these at once. Other terminals ignore them."""


class FrameOutput(Vt100_Output):
    """Sends a frame as a whole. prompt_toolkit flushes after it erased the bottom lines, which would flicker."""

    in_frame = False

    def flush(self) -> None:
        if not self.in_frame:
            super().flush()


class OutputAbove(io.TextIOBase):
    """`app` is set later. While it does not run, everything goes directly to stdout."""

    def __init__(self) -> None:
        self.app: Application[None] | None = None
        self._printed = PrintedLines()
        self._drawn_size: Size | None = None
        self._drawn_rows = 0
        self._pieces: list[str] = []
        self._waiting = ""
        """Text that is written with the next redraw, so that the user never sees the bottom lines erased."""
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
        self._printed.add(text)
        if self.app is None or not self.app.is_running:
            sys.stdout.write(text)
            sys.stdout.flush()
            return
        self._waiting += text
        self.app.invalidate()

    def before_redraw(self) -> None:
        """Called before the bottom lines are drawn."""
        if self.app is None:
            return
        self._write_waiting(self.app)
        output = self.app.output
        size = output.get_size()
        if self._drawn_size not in (None, size):
            self._begin_frame(self.app)
            output.write_raw(self._printed.repaint(size, self._drawn_rows))
        self._drawn_size = size

    def _write_waiting(self, app: Application[None]) -> None:
        if self._waiting:
            text, self._waiting = self._waiting, ""
            self._begin_frame(app)
            app.output.write_raw(text)

    def _begin_frame(self, app: Application[None]) -> None:
        """Starts a frame by erasing the bottom lines."""
        self._in_frame = True
        if isinstance(app.output, FrameOutput):
            app.output.in_frame = True
        app.output.write_raw(BEGIN_FRAME)
        app.renderer.erase()

    def _end_frame(self, app: Application[None]) -> None:
        if not self._in_frame:
            return
        self._in_frame = False
        if isinstance(app.output, FrameOutput):
            app.output.in_frame = False
        app.output.write_raw(END_FRAME)
        app.output.flush()

    def forget(self, *, cleared: bool = False) -> None:
        """Forgets the printed lines, because the screen was `cleared` or another program wrote to it."""
        self._printed.forget(self._drawn_size.rows if cleared and self._drawn_size else 0)

    def on_redraw(self) -> None:
        """Called after the bottom lines were drawn."""
        if self.app is not None and (drawn := self.app.renderer.last_rendered_screen) is not None:
            self._drawn_rows = drawn.height
        if self.app is not None:
            self._end_frame(self.app)

    def pause(self) -> None:
        """Holds output back while another program uses the terminal."""
        if self.app is not None:
            self._write_waiting(self.app)
            self._end_frame(self.app)
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        self.flush()
