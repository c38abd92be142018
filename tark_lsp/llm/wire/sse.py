"""Server-sent events: turns bytes, cut anywhere, into events (WHATWG HTML, 9.2, "Parsing an event stream").

Lines end at CR LF, LF or CR and nowhere else: `str.splitlines` and line iterators of HTTP libraries also split at
U+2028 and similar characters, which occur unescaped inside JSON. The decoder works on bytes and holds back the block
since the last blank line, so a character that is cut in two does no harm.

The standard ignores a line without a field name. Here a JSON object at the start of such a line is an event: this is
how Gemini and some proxies report an error in the middle of a stream. The standard also ignores unknown fields. Here
the field `error` is an event if its value is a JSON object: llama.cpp and servers built on it report errors like this.
"""

import msgspec

from tark_lsp.errors import ProtocolError
from tark_lsp.llm.wire.json_values import decode_untyped_json

BOM = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 16 * 1024 * 1024


class SseEvent(msgspec.Struct, frozen=True, gc=False):
    """`data` is as received, which can be invalid UTF-8: the reader handles that."""

    data: bytes
    event: str = "message"
    id: str = ""


class SseDecoder:
    """`feed_bytes` returns the events that `chunk` completes. Raises ProtocolError for an event over `max_bytes`."""

    def __init__(self, max_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._held = bytearray()  # since the last blank line, with line ends as LF
        self._after_cr = False  # the last byte was CR: a following LF belongs to it
        self._at_start = True
        self._id = ""
        self._prefix, self._name = b"data: ", "message"  # how the last event started, and its name
        self.retry_ms: int | None = None

    def feed_bytes(self, chunk: bytes) -> list[SseEvent]:
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk.startswith(b"\n"):
                chunk = chunk[1:]
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        held = self._held
        if b"\n\n" not in chunk and not (chunk.startswith(b"\n") and held.endswith(b"\n")):
            held += chunk
            if len(held) > self._max_bytes:
                self._refuse()
            return []
        blocks = (bytes(held) + chunk if held else chunk).split(b"\n\n")
        self._held = bytearray(blocks.pop())
        if max(len(self._held), *map(len, blocks)) > self._max_bytes:
            self._refuse()
        return self._read(blocks)

    def close(self) -> list[SseEvent]:
        """Returns the event at the end of the stream that has no blank line after it.

        The standard drops it, but some recorders and proxies omit the last blank line, so it is kept here. Whether the
        answer is complete is decided by the wire's own terminal event.
        """
        block = bytes(self._held)
        self._held.clear()
        return self._read([block])

    def _read(self, blocks: list[bytes]) -> list[SseEvent]:
        if self._at_start:
            self._at_start = False
            blocks[0] = blocks[0].removeprefix(BOM)
        events: list[SseEvent] = []
        prefix, name = self._prefix, self._name
        for block in blocks:
            # The usual block: one line of data, alone or after the same name as in the block before.
            if block.startswith(prefix):
                data = block[len(prefix) :]
                if data and b"\n" not in data:
                    events.append(SseEvent(data, name, self._id))
                    continue
            head, _, data = block.partition(b"data: ")
            one_name = not head or (head.startswith(b"event: ") and head.find(b"\n") == len(head) - 1)
            if one_name and data and b"\n" not in data:
                name = head[7:-1].decode("utf-8", "replace") or "message"
                prefix = head + b"data: "
                events.append(SseEvent(data, name, self._id))
            else:
                self._read_fields(block, events)
        self._prefix, self._name = prefix, name
        return events

    def _read_fields(self, block: bytes, events: list[SseEvent]) -> None:
        if block.startswith(b"{") or b"\n{" in block:
            self._read_bare_object(block, events)
            return
        event = ""
        data: list[bytes] = []
        for line in block.split(b"\n"):
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"data":
                data.append(value)
            elif name == b"event":
                event = value.decode("utf-8", "replace")
            elif name == b"id" and b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
            elif name == b"retry" and value.isdigit():
                self.retry_ms = int(value)
            elif name == b"error" and (error := _error_object(value)):
                if data:  # it arrived before the error
                    events.append(SseEvent(b"\n".join(data), event or "message", self._id))
                    data = []
                events.append(SseEvent(error, "error", self._id))
        if data:
            events.append(SseEvent(b"\n".join(data), event or "message", self._id))

    def _read_bare_object(self, block: bytes, events: list[SseEvent]) -> None:
        """The object extends to the block's end, or to a line that can only be a field: no line of JSON starts like
        that.
        """
        before, _, rest = (b"\n" + block).partition(b"\n{")
        bare, field, after = rest.partition(b"\ndata:")
        self._read_fields(before, events)
        events.append(SseEvent(b"{" + bare, id=self._id))
        self._read_fields(field + after, events)

    def _refuse(self) -> None:
        raise ProtocolError(f"the provider sent an event of more than {self._max_bytes} bytes")


def _error_object(value: bytes) -> bytes:
    """The data that every wire reads as an error. Empty if the field's value is not a JSON object."""
    if not value.startswith(b"{"):
        return b""
    try:
        error = decode_untyped_json(value)
    except ProtocolError:
        return b""
    return b'{"error":' + (value if error else b'{"message":"no reason given"}') + b"}"
