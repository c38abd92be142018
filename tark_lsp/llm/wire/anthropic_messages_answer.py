"""The Anthropic Messages answer: blocks one after another, cumulative usage, and an end that says why."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tark_lsp.errors import ProtocolError, StreamCut
from tark_lsp.llm.events import COMPLETE_STOPS, Done, Echo, StreamEvent, TextDelta, ThinkingDelta, UsageUpdate, WireStop
from tark_lsp.llm.wire.json_values import decode_json, decode_untyped_json, encode_json, read_object
from tark_lsp.llm.wire.provider_errors import provider_error
from tark_lsp.llm.wire.tool_calls import ToolCallTracker
from tark_lsp.llm.wire.wire import NO_QUIRKS, Quirks
from tark_lsp.messages import Usage


class _Delta(msgspec.Struct, gc=False):
    type: str = ""
    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    signature: str = ""
    stop_reason: str | None = None


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Start(msgspec.Struct, gc=False):
    usage: _Usage | None = None


class _Event(msgspec.Struct, gc=False):
    type: str = ""
    index: int = 0
    delta: _Delta | None = None
    message: _Start | msgspec.UnsetType = msgspec.UNSET
    content_block: dict[str, Any] | None = None
    usage: _Usage | None = None


EVENT = msgspec.json.Decoder(_Event)

STOPS = {
    "end_turn": WireStop.END_TURN,
    "stop_sequence": WireStop.END_TURN,
    "tool_use": WireStop.TOOL_CALLS,
    "max_tokens": WireStop.MAX_TOKENS,
    "model_context_window_exceeded": WireStop.MAX_TOKENS,
    "refusal": WireStop.REFUSAL,
    "pause_turn": WireStop.PAUSED,
}


class MessagesParser:
    def __init__(self, _: Quirks = NO_QUIRKS, /) -> None:
        self._calls = ToolCallTracker()
        self._block: dict[str, Any] = {}  # the open block, as it started
        self._in_call = False
        self._input: list[str] = []  # the input of an open block that is kept whole
        self._extra: dict[str, Any] = {}  # fields from deltas, for the block's echo
        self._usage: dict[str, int] = {}
        self._stop = ""
        self._started = self._done = False

    def feed_frame(self, frame: bytes) -> Sequence[StreamEvent]:
        if self._done or frame.startswith(b"[DONE]"):  # from proxies made for another wire
            return ()
        event = decode_json(EVENT, frame)
        match event.type:
            case "content_block_delta" if event.delta is not None:
                return self._delta(event.index, event.delta, frame)
            case "content_block_start" if event.content_block is not None:
                return self._begin(event.index, event.content_block)
            case "content_block_stop":
                return self._end(event.index)
            case "message_start":
                return self._start(event.message)
            case "message_delta":
                self._stop = (event.delta.stop_reason if event.delta else None) or self._stop
                return self._count(event.usage)
            case "message_stop":
                self._done = True
                stop = STOPS.get(self._stop, WireStop.OTHER)
                calls = self._calls.complete_all_calls(cut_off=stop not in COMPLETE_STOPS)
                return [*calls, Done(stop, self._stop)]
            case "error":
                raise provider_error(decode_untyped_json(frame))
            case "" if "error" in (body := decode_untyped_json(frame)):
                raise provider_error(body)
        return ()  # ping, and unknown events

    def close(self) -> Sequence[StreamEvent]:
        if not self._done:
            raise StreamCut("the answer was cut off before its end")
        return ()

    def _start(self, message: _Start | msgspec.UnsetType) -> Sequence[StreamEvent]:
        if self._started:
            raise ProtocolError("the provider began a second message before the first one ended")
        self._started = True
        return self._count(message.usage) if isinstance(message, _Start) else ()

    def _begin(self, index: int, block: dict[str, Any]) -> Sequence[StreamEvent]:
        self._block, self._input, self._extra = block, [], {}
        self._in_call = block.get("type") == "tool_use"
        match block:
            case {"type": "text", "text": str(text)} if text:
                return [TextDelta(text)]
            case {"type": "thinking", "thinking": str(text)}:
                self._extra["signature"] = block.get("signature") or ""
                return [ThinkingDelta(text)] if text else ()
            case {"type": "tool_use", "id": str(id), "name": str(name)}:
                return self._calls.add_fragment(index, call_id=id, name=name)
        return ()

    def _delta(self, index: int, delta: _Delta, frame: bytes) -> Sequence[StreamEvent]:
        match delta.type:
            case "text_delta":
                return [TextDelta(delta.text)] if delta.text else ()
            case "input_json_delta" if self._in_call:
                return self._calls.add_arguments(index, delta.partial_json)
            case "input_json_delta":
                self._input.append(delta.partial_json)
            case "thinking_delta":
                return [ThinkingDelta(delta.thinking)] if delta.thinking else ()
            case "signature_delta":
                self._extra["signature"] = delta.signature  # it arrives once, complete
            case "citations_delta":
                citations = self._extra.setdefault("citations", [])
                citations.append(decode_untyped_json(frame)["delta"].get("citation"))
            case _:  # compaction_delta and later kinds: the fields belong to the block
                fields = decode_untyped_json(frame)["delta"]
                self._extra |= {name: value for name, value in fields.items() if name != "type"}
        return ()

    def _end(self, index: int) -> Sequence[StreamEvent]:
        block, self._block = self._block, {}
        match block.get("type"):
            case None:
                return ()
            case "tool_use":
                if self._input or not block.get("input"):
                    return ()  # completed at the message's end, which says whether the call was cut off
                return self._calls.complete_call(index, encode_json(block["input"]).decode())
            case "text":
                return [Echo("text", self._extra)] if self._extra else ()
            case "thinking":
                return [Echo("thinking", self._extra)]
        whole = {**block, **self._extra}
        if text := "".join(self._input):
            value = read_object(text)
            whole["input"] = {"invalid_arguments": text} if value is None else value
        return [Echo("opaque", whole)]

    def _count(self, usage: _Usage | None) -> Sequence[StreamEvent]:
        """The figures are for the whole answer so far. A later event can omit some of them."""
        if usage is None:
            return ()
        self._usage |= {name: value for name, value in msgspec.structs.asdict(usage).items() if value is not None}
        counted: Mapping[str, int] = self._usage
        read, written = counted.get("cache_read_input_tokens", 0), counted.get("cache_creation_input_tokens", 0)
        fresh, output = counted.get("input_tokens", 0), counted.get("output_tokens", 0)
        return [UsageUpdate(Usage(fresh + read + written, read, written, output))]
