"""ServerLog: a server's events and its stderr, for the user. It outlives the server's process."""

import time
from collections import deque
from collections.abc import Callable

from tark_lsp.errors import McpError

MOST_LINES = 1_000
LONGEST_LINE = 2_000


class ServerLog:
    def __init__(self, ended: Callable[[McpError], None] = lambda _: None) -> None:
        """`ended` is called when the server ended by itself."""
        self._ended = ended
        self._lines: deque[str] = deque(maxlen=MOST_LINES)
        self._begun = b""
        """The beginning of a line of stderr that is not complete yet."""

    def add(self, event: str) -> None:
        """`event` can contain text of the server, so it is kept on one line."""
        self._end_line()
        line = event[:LONGEST_LINE].replace("\r", "").replace("\n", "⏎")
        self._lines.append(f"{time.strftime('%H:%M:%S')}  {line}")

    def said(self, data: bytes) -> None:
        """Adds what the server wrote to stderr."""
        *whole, self._begun = (self._begun + data).split(b"\n")
        for line in whole:
            self._append(line)
        if len(self._begun) > LONGEST_LINE:
            self._end_line()

    def ended(self, error: McpError) -> None:
        self.add(str(error))
        self._ended(error)

    def lines(self) -> list[str]:
        """The oldest line first. Lines of the server begin with `| `."""
        begun = [self._shown(self._begun)] if self._begun else []
        return [*self._lines, *begun]

    def _end_line(self) -> None:
        if self._begun:
            self._append(self._begun)
            self._begun = b""

    def _append(self, line: bytes) -> None:
        self._lines.append(self._shown(line))

    def _shown(self, line: bytes) -> str:
        return f"| {line[:LONGEST_LINE].decode('utf-8', 'replace').rstrip()}"
