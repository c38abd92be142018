"""LSP's framing (base protocol: header part, content part): bytes to bodies and back; pure."""

from collections.abc import Iterator

MAX_HEADER = 4096
MAX_BODY = 256 * 1024 * 1024
"""Bytes in the largest accepted message: far above a document of 50 MB, since JSON can take six bytes for one."""


class FramingError(ValueError):
    """The bytes do not have LSP's framing. The next message cannot be found, so the stream must be closed."""


class FrameDecoder:
    """Accepts bytes in pieces of any size, and returns each body when it is complete.

    Any header except Content-Length and Content-Type is an error, so that an HTTP request is never taken for a message.
    """

    def __init__(self, max_body: int = MAX_BODY) -> None:
        self._max_body = max_body
        self._buffer = bytearray()
        self._missing: int | None = None  # bytes of the body still to come; None while the header is incomplete
        self._too_large = False

    def feed_bytes(self, data: bytes) -> Iterator[bytes | None]:
        """Yields each complete body; None for one over the limit, whose bytes are not kept. Raises FramingError."""
        self._buffer += data
        while True:
            if self._missing is None:
                end = self._buffer.find(b"\r\n\r\n", 0, MAX_HEADER)
                if end < 0:
                    _check_unfinished_header(bytes(self._buffer[:MAX_HEADER]))
                    return
                self._missing = _content_length(bytes(self._buffer[:end]))
                self._too_large = self._missing > self._max_body
                del self._buffer[: end + 4]
            if self._too_large:
                dropped = min(self._missing, len(self._buffer))
                del self._buffer[:dropped]
                self._missing -= dropped
            if len(self._buffer) < self._missing:
                return
            body = None if self._too_large else bytes(self._buffer[: self._missing])
            del self._buffer[: self._missing]
            self._missing = None
            yield body

    @property
    def rest(self) -> bytes:
        """The bytes after the last returned body."""
        return bytes(self._buffer)


def encode_frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _check_unfinished_header(header: bytes) -> None:
    """Raises for wrong or missing line endings, because client and server would wait for each other forever."""
    if len(header) == MAX_HEADER or header.startswith(b"\r\n") or b"\n" in header.replace(b"\r\n", b""):
        raise FramingError("the header is empty, or does not end with two CRLF")


def _content_length(header: bytes) -> int:
    length = None
    for line in header.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        value = value.strip()
        match name.lower():
            case b"content-length" if length is None and value.isdigit() and len(value) <= 18:
                length = int(value)
            case b"content-type" if colon and _is_utf8(value):
                pass
            case _:
                raise FramingError(f"not a header of LSP: {line[:80]!r}")
    if length is None:
        raise FramingError("a header without Content-Length")
    return length


def _is_utf8(content_type: bytes) -> bool:
    _, given, charset = content_type.lower().partition(b"charset=")
    return not given or charset.strip(b'" ') in (b"utf-8", b"utf8")
