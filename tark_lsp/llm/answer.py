"""Bytes of one answer to events: the decoder and the wire's parser in a row, with no I/O."""

from tark_lsp.errors import ModelError, ProtocolError, StreamCut
from tark_lsp.llm.events import StreamEvent
from tark_lsp.llm.wire.sse import SseDecoder, SseEvent
from tark_lsp.llm.wire.wire import Parser


class Answer:
    """`failure` is what went wrong after the events given so far; nothing more comes then."""

    def __init__(self, parser: Parser) -> None:
        self._decoder = SseDecoder()
        self._parser = parser
        self.failure: ModelError | None = None

    def feed(self, data: bytes) -> list[StreamEvent]:
        """The events that `data`, cut anywhere, completes."""
        try:
            frames = self._decoder.feed(data)
        except ProtocolError as error:
            self.failure = error
            return []
        return self._parse(frames)

    def close(self) -> list[StreamEvent]:
        """The body has ended. `failure` is StreamCut where the answer had not."""
        events = self._parse(self._decoder.close())
        if isinstance(self.failure, ProtocolError):  # half a frame: cut, not garbled
            self.failure = StreamCut("the answer broke off in the middle of an event")
        if self.failure is None:
            try:
                events += self._parser.close()
            except ModelError as error:
                self.failure = error
        return events

    def _parse(self, frames: list[SseEvent]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        try:
            for frame in frames:
                events += self._parser.feed(frame.data)
        except ModelError as error:
            self.failure = error
        return events
