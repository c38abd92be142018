"""Bounds what a paste brings in: past a limit its characters are dropped as they are read, and never kept."""

from prompt_toolkit.input.posix_utils import PosixStdinReader

LONGEST_PASTE = 100_000
"""Characters; a longer text belongs into a file that is mentioned."""
BEGIN, END = "\x1b[200~", "\x1b[201~"
"""What terminals put around pasted text (xterm, "Bracketed Paste Mode")."""


class PasteLimit:
    """A filter of what the terminal sends, wherever its pieces are cut. Of a paste that is too long, one character more
    than `most` comes through, so that its reader sees that it was."""

    def __init__(self, most: int = LONGEST_PASTE) -> None:
        self._most = most
        self._left: int | None = None
        self._seen = ""

    @property
    def inside(self) -> bool:
        return self._left is not None

    def feed(self, data: str) -> str:
        passed = []
        while data:
            piece, data = self._inside(data) if self.inside else self._outside(data)
            passed.append(piece)
        return "".join(passed)

    def _outside(self, data: str) -> tuple[str, str]:
        """All goes on at once, since a lone escape is a key; only what was seen last is remembered."""
        seen = self._seen + data
        at = seen.find(BEGIN)
        if at < 0:
            self._seen = seen[1 - len(BEGIN) :]
            return data, ""
        length = at + len(BEGIN) - len(self._seen)
        self._left, self._seen = self._most + 1, ""
        return data[:length], data[length:]

    def _inside(self, data: str) -> tuple[str, str]:
        """The beginning of what may be the end mark is held back."""
        data, self._seen = self._seen + data, ""
        at = data.find(END)
        if at >= 0:
            text, rest = self._some(data[:at]), data[at + len(END) :]
            self._left = None
            return text + END, rest
        held = next((size for size in range(len(END) - 1, 0, -1) if data.endswith(END[:size])), 0)
        self._seen = data[len(data) - held :]
        return self._some(data[: len(data) - held]), ""

    def _some(self, text: str) -> str:
        left = self._left or 0
        self._left = max(0, left - len(text))
        return text[:left]


class LimitedReader(PosixStdinReader):
    """In place of prompt_toolkit's own reader, whose parser looks through all of a paste at each further piece."""

    def __init__(self, descriptor: int, encoding: str) -> None:
        super().__init__(descriptor, encoding=encoding)
        self._limit = PasteLimit()

    def read(self, count: int = 1024) -> str:
        return self._limit.feed(super().read(65536 if self._limit.inside else count))
