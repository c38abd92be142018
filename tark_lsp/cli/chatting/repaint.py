"""Repaints the screen after its size changed.

Some terminals wrap their lines again after a resize, which moves what is drawn at the bottom; others cut them off.
Which one it is, and where the cursor is then, cannot be known without asking the terminal, and some never answer.
So the whole screen is written again: the last lines that were printed, and below them what prompt_toolkit draws.
"""

import re
from collections import deque

from prompt_toolkit.data_structures import Size
from rich.cells import cell_len

MAX_KEPT = 500
"""Lines: more than any screen has."""
STYLE = re.compile(r"\x1b\[[0-9;]*m")
HOME, CLEAR_ROW, NEXT_ROW = "\x1b[H", "\x1b[2K", "\x1b[B"


class PrintedLines:
    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MAX_KEPT)
        self._own_rows = 0
        """So many rows of the screen hold nothing that another program has written."""

    def add(self, text: str) -> None:
        self._lines.extend(text.split("\n")[:-1])

    def forget(self, own_rows: int = 0) -> None:
        """The screen was cleared (`own_rows`), or another program has written to it."""
        self._lines.clear()
        self._own_rows = own_rows

    def repaint(self, size: Size, below: int) -> str:
        """What to write before the bottom lines are drawn. `below`: how many bottom lines there are."""
        tail, room = list[str](), size.rows - below
        for line in reversed(self._lines):
            if room <= 0:
                break
            tail.append(line)
            room -= _rows(line, size.columns)
        start = ""
        if room > 0 and size.rows > self._own_rows:  # what the shell has written goes to the lines scrolled away
            start = "\n" * (size.rows - 1)  # below the cursor nothing is left
            self._own_rows = size.rows
        clear = HOME + NEXT_ROW.join([CLEAR_ROW] * size.rows) + HOME
        return start + clear + "".join(f"{line}\r\n" for line in reversed(tail))


def _rows(line: str, columns: int) -> int:
    return max(1, -(-cell_len(STYLE.sub("", line)) // columns))
