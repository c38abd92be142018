"""JSON lines (NDJSON): turns bytes, cut anywhere, into one frame per line.

A line ends at LF or CR LF and nowhere else: U+2028 and similar characters occur unescaped inside JSON. Blank lines are
skipped.
"""

import msgspec

from tark_lsp.errors import ProtocolError

MAX_LINE_BYTES = 16 * 1024 * 1024


class JsonLine(msgspec.Struct, frozen=True, gc=False):
    """`data` is the line without its line end."""

    data: bytes


class JsonLineDecoder:
    """`feed_bytes` returns the lines that `chunk` completes. Raises ProtocolError for a line over `max_bytes`."""

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._held = bytearray()  # since the last line end

    def feed_bytes(self, chunk: bytes) -> list[JsonLine]:
        held = self._held
        if b"\n" not in chunk:
            held += chunk
            if len(held) > self._max_bytes:
                self._refuse()
            return []
        lines = (bytes(held) + chunk if held else chunk).split(b"\n")
        self._held = bytearray(lines.pop())
        if max(len(self._held), *map(len, lines)) > self._max_bytes:
            self._refuse()
        return _frames(lines)

    def close(self) -> list[JsonLine]:
        """Returns the last line if the stream ended without a line end."""
        line = bytes(self._held)
        self._held.clear()
        return _frames([line])

    def _refuse(self) -> None:
        raise ProtocolError(f"the provider sent a line of more than {self._max_bytes} bytes")


def _frames(lines: list[bytes]) -> list[JsonLine]:
    stripped = (line.removesuffix(b"\r") for line in lines)
    return [JsonLine(line) for line in stripped if line and not line.isspace()]
