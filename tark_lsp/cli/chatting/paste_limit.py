"""Limits the length of a paste. Characters beyond the limit are dropped as they are read."""

from prompt_toolkit.input.posix_utils import PosixStdinReader

MAX_PASTE = 100_000
"""Characters. The user can put a longer text into a file and mention the file."""
BEGIN, END = "\x1b[200~", "\x1b[201~"
"""Terminals send these around pasted text (xterm, "Bracketed Paste Mode")."""


class PasteLimit:
    """A filter of the terminal's input, which can be cut anywhere. If a paste is too long, its first `most` + 1
    characters pass, so that the reader can see that it was too long.
    """

    def __init__(self, most: int = MAX_PASTE) -> None:
        self._most = most
        self._left: int | None = None
        self._seen = ""

    @property
    def inside(self) -> bool:
        return self._left is not None

    def limit_text(self, data: str) -> str:
        passed = []
        while data:
            piece, data = self._inside(data) if self.inside else self._outside(data)
            passed.append(piece)
        return "".join(passed)

    def _outside(self, data: str) -> tuple[str, str]:
        """Passes everything on at once, because a single escape is a key. Remembers only the last characters."""
        seen = self._seen + data
        at = seen.find(BEGIN)
        if at < 0:
            self._seen = seen[1 - len(BEGIN) :]
            return data, ""
        length = at + len(BEGIN) - len(self._seen)
        self._left, self._seen = self._most + 1, ""
        return data[:length], data[length:]

    def _inside(self, data: str) -> tuple[str, str]:
        """Holds back text that can be the start of the end mark."""
        data, self._seen = self._seen + data, ""
        at = data.find(END)
        if at >= 0:
            text, rest = self._limited(data[:at]), data[at + len(END) :]
            self._left = None
            return text + END, rest
        held = next((size for size in range(len(END) - 1, 0, -1) if data.endswith(END[:size])), 0)
        self._seen = data[len(data) - held :]
        return self._limited(data[: len(data) - held]), ""

    def _limited(self, text: str) -> str:
        left = self._left or 0
        self._left = max(0, left - len(text))
        return text[:left]


class LimitedReader(PosixStdinReader):
    """Replaces prompt_toolkit's reader, whose parser searches the whole paste again for each new chunk."""

    def __init__(self, descriptor: int, encoding: str) -> None:
        super().__init__(descriptor, encoding=encoding)
        self._limit = PasteLimit()

    def read(self, count: int = 1024) -> str:
        return self._limit.limit_text(super().read(65536 if self._limit.inside else count))
