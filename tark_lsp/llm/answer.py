"""Turns the bytes of one answer into events: frame decoder, wire parser, and a filter for tool calls written as text.

No I/O.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from tark_lsp.errors import ModelError, ProtocolError, StreamCut
from tark_lsp.llm.events import StreamEvent
from tark_lsp.llm.wire.sse import SseDecoder
from tark_lsp.llm.wire.wire import FrameParser, Framing


class Frame(Protocol):
    @property
    def data(self) -> bytes: ...


class FrameDecoder(Protocol):
    """Turns bytes, cut anywhere, into frames. Raises ProtocolError."""

    def feed_bytes(self, chunk: bytes) -> Sequence[Frame]: ...

    def close(self) -> Sequence[Frame]: ...


class EventFilter(Protocol):
    """Receives the parser's events and passes them on. It can hold some of them back."""

    def feed_events(self, events: Sequence[StreamEvent]) -> list[StreamEvent]: ...

    def close(self) -> list[StreamEvent]: ...


def _decoder(framing: Framing) -> FrameDecoder:
    if framing == "sse":
        return SseDecoder()
    from tark_lsp.llm.wire.json_lines import JsonLineDecoder

    return JsonLineDecoder()


class AnswerDecoder:
    """`failure`: the error that followed the events returned so far. After it, there are no more events."""

    def __init__(self, parser: FrameParser, framing: Framing = "sse", reader: EventFilter | None = None) -> None:
        self._decoder = _decoder(framing)
        self._parser = parser
        self._reader = reader
        self.failure: ModelError | None = None

    def feed_bytes(self, data: bytes) -> list[StreamEvent]:
        """Returns the events that `data`, cut anywhere, completes."""
        try:
            frames = self._decoder.feed_bytes(data)
        except ProtocolError as error:
            self.failure = error
            frames = ()
        return self._read(self._parse(frames))

    def close(self) -> list[StreamEvent]:
        """Ends the body. `failure` is StreamCut if the answer was not complete."""
        events = self._parse(self._decoder.close())
        if isinstance(self.failure, ProtocolError):  # half a frame: the stream was cut, not corrupted
            self.failure = StreamCut("the answer ended in the middle of an event")
        if self.failure is None:
            try:
                events += self._parser.close()
            except ModelError as error:
                self.failure = error
        return self._read(events)

    def _parse(self, frames: Iterable[Frame]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        try:
            for frame in frames:
                if frame.data:  # some gateways keep a stream alive with empty events
                    events += self._parser.feed_frame(frame.data)
        except ModelError as error:
            self.failure = error
        return events

    def _read(self, events: list[StreamEvent]) -> list[StreamEvent]:
        if self._reader is None:
            return events
        read = self._reader.feed_events(events)
        return read if self.failure is None else read + self._reader.close()
