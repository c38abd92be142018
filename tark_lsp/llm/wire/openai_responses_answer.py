"""The Responses answer: output items, identified by their index, streamed and then sent again complete.

Event names and item ids are not used: some servers send no names, and Copilot gives an item a new id in every event.
The output that the last event repeats is ignored, since one backend leaves it empty.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from tark_lsp.errors import ProtocolError, StreamCut
from tark_lsp.llm.events import Done, Echo, StreamEvent, TextDelta, ThinkingDelta, UsageUpdate, WireStop
from tark_lsp.llm.wire.json_values import decode_json, decode_untyped_json, encode_json
from tark_lsp.llm.wire.provider_errors import provider_error
from tark_lsp.llm.wire.stated_cost import stated_cost
from tark_lsp.llm.wire.tool_calls import ToolCallTracker, is_json_object
from tark_lsp.llm.wire.wire import NO_QUIRKS, Quirks
from tark_lsp.messages import FIND_TOOLS, Usage


class _Event(msgspec.Struct, gc=False):
    """The fields of all deltas. The rest of an event is decoded only if it is needed."""

    type: str = ""
    delta: Any = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None


class _Content(msgspec.Struct, gc=False):
    """The content of a message or of reasoning."""

    text: str | None = None
    refusal: str | None = None


class _Item(msgspec.Struct, gc=False):
    """A message, reasoning or a call. Other items are kept unchanged."""

    type: str = ""
    status: str | None = None
    phase: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    content: list[_Content] | None = None
    summary: list[_Content] | None = None


class _ItemEvent(msgspec.Struct, gc=False):
    item: dict[str, Any] = {}


class _InputDetails(msgspec.Struct, gc=False):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _OutputDetails(msgspec.Struct, gc=False):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None
    cost: Any = None
    is_byok: Any = None
    cost_details: Any = None


class _Incomplete(msgspec.Struct, gc=False):
    reason: str | None = None


class _Response(msgspec.Struct, gc=False):
    status: str | None = None
    error: Any = None
    incomplete_details: _Incomplete | None = None
    output: list[dict[str, Any]] | None = None
    usage: _Usage | None = None


class _EndEvent(msgspec.Struct, gc=False):
    response: _Response = msgspec.field(default_factory=_Response)


EVENT = msgspec.json.Decoder(_Event)
ITEM_EVENT = msgspec.json.Decoder(_ItemEvent)
END_EVENT = msgspec.json.Decoder(_EndEvent)

TEXT = "response.output_text"
REFUSAL = "response.refusal"
ARGUMENTS = "response.function_call_arguments"
THINKING = frozenset({"response.reasoning_summary_text", "response.reasoning_text"})

TEXT_DELTA, ARGUMENTS_DELTA = f"{TEXT}.delta", f"{ARGUMENTS}.delta"
DELTAS = {f"{kind}.delta": kind for kind in (TEXT, REFUSAL, ARGUMENTS, *THINKING)}
WHOLES = {
    f"{TEXT}.done": (TEXT, "text"),
    f"{REFUSAL}.done": (REFUSAL, "refusal"),
    f"{ARGUMENTS}.done": (ARGUMENTS, "arguments"),
    **{f"{kind}.done": (kind, "text") for kind in THINKING},
}
"""Events that repeat the deltas, for servers that send no deltas: their kind of delta, and the field."""

INCOMPLETE = {"max_output_tokens": WireStop.MAX_TOKENS, "content_filter": WireStop.REFUSAL}


class ResponsesParser:
    def __init__(self, _: Quirks = NO_QUIRKS, /) -> None:
        self._calls = ToolCallTracker()
        self._slot = 0  # of the last item that started: events without an index belong to it
        self._received: set[tuple[int, int | None]] = set()  # the parts of open items that already have some text
        self._whole_items = False
        self._called = self._refused = self._cut_off = self._done = False

    def feed_frame(self, frame: bytes) -> Sequence[StreamEvent]:
        if self._done or frame.startswith(b"[DONE]"):
            return ()
        event = decode_json(EVENT, frame)
        kind, delta = event.type, event.delta
        slot = self._slot if event.output_index is None else event.output_index
        if kind == TEXT_DELTA and isinstance(delta, str):
            self._received.add((slot, event.content_index))
            return [TextDelta(delta)] if delta else ()
        if kind == ARGUMENTS_DELTA and isinstance(delta, str):
            self._received.add((slot, None))
            return self._calls.add_arguments(slot, delta)
        part = event.summary_index if event.content_index is None else event.content_index
        if kind in DELTAS:
            return self._text_events(DELTAS[kind], slot, part, delta)
        if kind in WHOLES:
            what, name = WHOLES[kind]
            return (
                ()
                if (slot, part) in self._received
                else self._text_events(what, slot, part, decode_untyped_json(frame).get(name))
            )
        return self._other_events(kind, slot, frame)

    def close(self) -> Sequence[StreamEvent]:
        if not self._done:
            raise StreamCut("the answer was cut off before its end")
        return ()

    def _other_events(self, kind: str, slot: int, frame: bytes) -> Sequence[StreamEvent]:
        match kind:
            case "response.output_item.added":
                self._slot = slot
                self._forget(slot)
                item = decode_json(ITEM_EVENT, frame).item
                return self._name_call(slot, _known(item)) if item.get("type") == "function_call" else ()
            case "response.output_item.done":
                self._whole_items = True
                return self._end_item(slot, decode_json(ITEM_EVENT, frame).item)
            case "response.completed" | "response.incomplete" | "response.failed":
                return self._end(kind, decode_json(END_EVENT, frame).response)
            case "error":
                raise provider_error(decode_untyped_json(frame))
            case "" if not {"error", "detail", "message"}.isdisjoint(body := decode_untyped_json(frame)):
                raise provider_error(body)
        return ()  # pings, progress, and unknown events

    def _text_events(self, what: str, slot: int, part: int | None, text: Any) -> Sequence[StreamEvent]:
        if not text or not isinstance(text, str):
            return ()
        if what == ARGUMENTS:
            self._received.add((slot, None))
            return self._calls.add_arguments(slot, text)
        another = (slot, part) not in self._received and self._has_text(slot)
        self._received.add((slot, part))
        if what in THINKING:
            return [ThinkingDelta(f"\n\n{text}" if another else text)]
        self._refused = self._refused or what == REFUSAL
        return [TextDelta(text, is_refusal=what == REFUSAL)]

    def _has_text(self, slot: int) -> bool:
        return any(received == slot for received, _ in self._received)

    def _forget(self, slot: int) -> None:
        self._received = {place for place in self._received if place[0] != slot}

    def _end_item(self, slot: int, item: dict[str, Any]) -> list[StreamEvent]:
        """The complete item. Only what was not streamed before becomes an event."""
        match item.get("type"):
            case "message":
                events = self._end_message(slot, _known(item))
            case "reasoning":
                events = self._end_reasoning(slot, _known(item), item)
            case "function_call":
                events = self._end_call(slot, _known(item))
            case "tool_search_call" if item.get("execution") == "client":
                events = self._end_search(slot, item)
            case str():
                events = [Echo("opaque", item)]
            case _:
                events = []
        self._forget(slot)
        return events

    def _end_message(self, slot: int, item: _Item) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        if not self._has_text(slot):
            for part, content in enumerate(item.content or ()):
                events += self._text_events(TEXT, slot, part, content.text)
                events += self._text_events(REFUSAL, slot, part, content.refusal)
        if item.phase and self._has_text(slot):
            events.append(Echo("text", {"phase": item.phase}))
        return events

    def _end_reasoning(self, slot: int, item: _Item, fields: dict[str, Any]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        if not self._has_text(slot):
            for part, content in enumerate(item.summary or item.content or ()):
                events += self._text_events("response.reasoning_text", slot, part, content.text)
        echo = {"summary": [], **{name: value for name, value in fields.items() if value and name != "status"}}
        if "encrypted_content" in echo or "content" in echo:
            return [*events, Echo("thinking", echo)]
        # It can never be sent back, but an empty echo ends the thinking part.
        return [*events, Echo("thinking", {})] if self._has_text(slot) else events

    def _name_call(self, slot: int, item: _Item) -> list[StreamEvent]:
        self._called = True
        return self._calls.add_fragment(slot, call_id=item.call_id or "", name=item.name or "")

    def _end_call(self, slot: int, item: _Item) -> list[StreamEvent]:
        """Incomplete arguments wait for the end of the answer, which says whether the call was cut off."""
        events = self._name_call(slot, item)
        arguments = item.arguments or ""
        if item.status == "incomplete":
            self._cut_off = True
        elif not arguments.strip() or is_json_object(arguments):
            return events + self._calls.complete_call(slot, arguments if arguments.strip() else None)
        return events if self._has_text(slot) else events + self._calls.add_arguments(slot, arguments)

    def _end_search(self, slot: int, item: dict[str, Any]) -> list[StreamEvent]:
        """Converts a search by the client to a call of Tark's tool for it. Its arguments are an object."""
        search = {"name": FIND_TOOLS, "call_id": item.get("call_id"), "status": item.get("status")}
        return self._end_call(slot, _known({**search, "arguments": encode_json(item.get("arguments") or {}).decode()}))

    def _end(self, kind: str, response: _Response) -> list[StreamEvent]:
        if kind == "response.failed" or response.error:
            raise provider_error({"error": response.error or "the response failed"})
        self._done = True
        events: list[StreamEvent] = []
        if not self._whole_items and not self._received:  # a proxy that streams only the last event
            for slot, item in enumerate(response.output or ()):
                events += self._end_item(slot, item)
        incomplete = kind == "response.incomplete" or response.status == "incomplete"
        events += self._calls.complete_all_calls(cut_off=incomplete or self._cut_off)
        if response.usage:
            events.append(UsageUpdate(_usage(response.usage)))
        reason = response.incomplete_details.reason if response.incomplete_details else None
        return [*events, Done(self._stop(incomplete, reason), reason or response.status or "")]

    def _stop(self, incomplete: bool, reason: str | None) -> WireStop:
        if incomplete:
            return INCOMPLETE.get(reason or "", WireStop.OTHER)
        if self._refused:
            return WireStop.REFUSAL
        return WireStop.TOOL_CALLS if self._called else WireStop.END_TURN


def _known(item: dict[str, Any]) -> _Item:
    """Raises ProtocolError."""
    try:
        return msgspec.convert(item, _Item)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"the provider sent an item that does not match this wire: {error}") from error


def _usage(usage: _Usage) -> Usage:
    read, written = usage.input_tokens_details or _InputDetails(), usage.output_tokens_details or _OutputDetails()
    return Usage(
        input_tokens=usage.input_tokens or 0,
        cached_tokens=read.cached_tokens or 0,
        cache_write_tokens=read.cache_write_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        reasoning_tokens=written.reasoning_tokens or 0,
        cost_usd=stated_cost(usage.cost, usage.is_byok, usage.cost_details),
    )
