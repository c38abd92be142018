"""Server-sent events: bytes, cut anywhere, to events (WHATWG HTML, section 9.2, "Parsing an event stream").

Lines end at CR LF, LF or CR and nowhere else: `str.splitlines` and line iterators of HTTP libraries also split at
U+2028 and the like, which stand raw inside JSON. Working on bytes makes a character cut in two a matter of no
interest, since a line is only looked at once it is whole.
"""

import msgspec

from tark_lsp.errors import ProtocolError

BOM = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 16 * 1024 * 1024


class SseEvent(msgspec.Struct, frozen=True, gc=False):
    """`data` is as it came, which may be invalid UTF-8: who reads it replaces what is broken."""

    data: bytes
    event: str = "message"
    id: str = ""


class SseDecoder:
    """`feed` gives the events that `chunk` completes. Raises ProtocolError for an event over `max_bytes`."""

    def __init__(self, max_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._tail = bytearray()  # of an unfinished line
        self._after_cr = False  # the last byte was CR: an LF that follows belongs to it
        self._at_start = True
        self._data: list[bytes] = []
        self._size = 0  # of _data
        self._event = ""
        self._id = ""
        self.retry_ms: int | None = None

    def feed(self, chunk: bytes) -> list[SseEvent]:
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk.startswith(b"\n"):
                chunk = chunk[1:]
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            self._tail += chunk
            self._check_size(len(self._tail))
            return []
        lines = (bytes(self._tail) + chunk if self._tail else chunk).split(b"\n")
        self._tail = bytearray(lines.pop())
        self._check_size(len(self._tail))
        if self._at_start:
            self._at_start = False
            lines[0] = lines[0].removeprefix(BOM)
        return self._read(lines)

    def close(self) -> list[SseEvent]:
        """The event that the end of the stream left without its blank line.

        The standard drops it; some recorders and proxies leave the last blank line out, so it counts here. Whether the
        answer is complete is for the wire to say, by its own terminal event.
        """
        line = bytes(self._tail)
        self._tail.clear()
        return self._read([line.removeprefix(BOM) if self._at_start else line, b""])

    def _read(self, lines: list[bytes]) -> list[SseEvent]:
        events: list[SseEvent] = []
        for line in lines:
            if line.startswith(b"data: "):  # the form almost every line has
                self._data.append(line[6:])
                self._size += len(line)
                if len(self._data) > 1:
                    self._check_size(self._size)
            elif line:
                self._read_field(line)
            else:
                if self._data:
                    data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
                    events.append(SseEvent(data, self._event or "message", self._id))
                    self._data = []
                    self._size = 0
                self._event = ""
        return events

    def _read_field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
                self._size += len(line)
                self._check_size(self._size)
            case b"event":
                self._event = value.decode("utf-8", "replace")
            case b"id" if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
            case b"retry" if value.isdigit():
                self.retry_ms = int(value)
            case _:  # a comment (no name) or an unknown field
                pass

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise ProtocolError(f"the provider sent an event of more than {self._max_bytes} bytes")
