"""Repaints the screen after its size changed.

After a resize, some terminals wrap their lines again, which moves the bottom lines. Others cut the lines off. Only the
terminal knows what it did and where the cursor is, and some terminals never answer such a query. So the whole screen is
written again: the last printed lines, and below them the lines of prompt_toolkit.
"""

import re
from collections import deque

from prompt_toolkit.data_structures import Size
from rich.cells import cell_len

MAX_KEPT = 500
"""Lines. No screen has more."""
STYLE = re.compile(r"\x1b\[[0-9;]*m")
HOME, CLEAR_ROW, NEXT_ROW = "\x1b[H", "\x1b[2K", "\x1b[B"


class PrintedLines:
    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MAX_KEPT)
        self._own_rows = 0
        """The number of rows of the screen that contain no output of another program."""

    def add(self, text: str) -> None:
        self._lines.extend(text.split("\n")[:-1])

    def forget(self, own_rows: int = 0) -> None:
        """Forgets the lines, because another program wrote to the screen, or it was cleared (`own_rows`: its rows)."""
        self._lines.clear()
        self._own_rows = own_rows

    def repaint(self, size: Size, below: int) -> str:
        """The text to write before the bottom lines are drawn. `below`: the number of bottom lines."""
        tail, room = list[str](), size.rows - below
        for line in reversed(self._lines):
            if room <= 0:
                break
            tail.append(line)
            room -= _rows(line, size.columns)
        start = ""
        if room > 0 and size.rows > self._own_rows:  # scroll the shell's output away
            start = "\n" * (size.rows - 1)  # the area below the cursor is empty
            self._own_rows = size.rows
        clear = HOME + NEXT_ROW.join([CLEAR_ROW] * size.rows) + HOME
        return start + clear + "".join(f"{line}\r\n" for line in reversed(tail))


def _rows(line: str, columns: int) -> int:
    return max(1, -(-cell_len(STYLE.sub("", line)) // columns))
