"""The Gemini answer: parts that add up, calls that arrive whole, and no end marker: the stream just ends."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from tark_lsp.errors import ProtocolError, StreamCut
from tark_lsp.llm.events import (
    Done,
    Echo,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallStart,
    UsageUpdate,
    WireStop,
)
from tark_lsp.llm.wire.json_values import decode_json, decode_untyped_json, encode_json
from tark_lsp.llm.wire.partial_arguments import PartialArguments
from tark_lsp.llm.wire.provider_errors import provider_error
from tark_lsp.llm.wire.tool_calls import ToolCallTracker
from tark_lsp.llm.wire.wire import NO_QUIRKS, Quirks
from tark_lsp.messages import Usage


class _Piece(msgspec.Struct, gc=False, rename="camel"):
    json_path: str = ""
    string_value: str | None = None
    number_value: int | float | None = None
    bool_value: bool | None = None
    will_continue: bool | None = None

    @property
    def value(self) -> str | int | float | bool | None:
        values = (self.string_value, self.number_value, self.bool_value)
        return next((value for value in values if value is not None), None)


class _Call(msgspec.Struct, gc=False, rename="camel"):
    id: str | None = None
    name: str | None = None
    args: Any = None
    partial_args: list[_Piece] | None = None
    will_continue: bool | None = None


class _Part(msgspec.Struct, gc=False, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: _Call | None = None


class _Content(msgspec.Struct, gc=False):
    parts: list[_Part] | None = None


class _Candidate(msgspec.Struct, gc=False, rename="camel"):
    content: _Content | None = None
    index: int | None = 0
    finish_reason: str | None = None
    finish_message: str | None = None


class _Usage(msgspec.Struct, gc=False, rename="camel"):
    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


class _Feedback(msgspec.Struct, gc=False, rename="camel"):
    block_reason: str | None = None
    block_reason_message: str | None = None


class _Chunk(msgspec.Struct, gc=False, rename="camel"):
    candidates: list[_Candidate] | None = None
    usage_metadata: _Usage | None = None
    prompt_feedback: _Feedback | None = None
    error: Any = None


CHUNK = msgspec.json.Decoder(_Chunk)

STOPS = {
    "STOP": WireStop.END_TURN,
    "MAX_TOKENS": WireStop.MAX_TOKENS,
    "CONTINUATION": WireStop.MAX_TOKENS,
    **dict.fromkeys(
        (
            *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"),
            *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "ESCALATION", "PUP_LIMITED_DISABLED"),
        ),
        WireStop.REFUSAL,
    ),
}
"""google-genai 3.4.0, `types.FinishReason`. The others, such as MALFORMED_FUNCTION_CALL, mean that something failed."""

NO_DATA = frozenset({"thought", "thoughtSignature"})
"""Fields that describe a part but are not its data."""


class GeminiParser:
    """`Done` comes at the end of the stream, since other chunks can follow the one with a finish reason."""

    def __init__(self, _: Quirks = NO_QUIRKS, /) -> None:
        self._calls = ToolCallTracker()
        self._slot = 0
        self._arguments: PartialArguments | None = None  # of the call that has not ended
        self._unsigned: Literal["", "text", "thinking"] = ""  # the part that further text would be added to
        self._useful = False  # text or a whole call arrived
        self._usage = _Usage()
        self._finish = ""
        self._message = ""
        self._blocked: _Feedback | None = None

    def feed_frame(self, frame: bytes) -> Sequence[StreamEvent]:
        chunk = decode_json(CHUNK, frame)
        if chunk.error:
            raise provider_error(decode_untyped_json(frame))
        events: list[StreamEvent] = []
        usage = chunk.usage_metadata
        if usage is not None and usage != self._usage:
            self._usage = usage
            events.append(UsageUpdate(_usage(usage)))
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason:
            self._blocked = chunk.prompt_feedback
        for number, candidate in enumerate(chunk.candidates or ()):
            if candidate.index:
                continue  # only one answer was requested
            if candidate.content is not None and candidate.content.parts:
                for place, part in enumerate(candidate.content.parts):
                    text = part.text
                    if part.function_call is not None:
                        events += self._call(part.function_call, part.thought_signature)
                    elif text is None:
                        events += self._opaque(
                            decode_untyped_json(frame)["candidates"][number]["content"]["parts"][place]
                        )
                    elif part.thought_signature:
                        events += self._signed(text, part.thought, part.thought_signature)
                    elif not text:
                        pass
                    elif part.thought:
                        self._unsigned = "thinking"
                        events.append(ThinkingDelta(text))
                    else:
                        self._unsigned, self._useful = "text", True
                        events.append(TextDelta(text))
            if candidate.finish_reason:
                self._finish, self._message = candidate.finish_reason, candidate.finish_message or ""
        return events

    def close(self) -> Sequence[StreamEvent]:
        """Also raises StreamCut if the finish reason says that the answer failed, and it has nothing useful."""
        if self._blocked is not None:
            reason, message = self._blocked.block_reason or "", self._blocked.block_reason_message or ""
            return [
                TextDelta(f"Gemini blocked this request: {reason}. {message}".rstrip(), is_refusal=True),
                Done(WireStop.REFUSAL, reason),
            ]
        if not self._finish:
            raise StreamCut("the answer was cut off before its end")
        stop = STOPS.get(self._finish, WireStop.OTHER)
        # A call without its end marker is complete only if the answer ended normally.
        events = self._end_call() if stop is WireStop.END_TURN else []
        why = f"{self._finish}. {self._message}".rstrip()
        if stop is WireStop.OTHER and not self._useful:
            raise StreamCut(f"the model's answer failed and was withheld: {why}")
        if stop is WireStop.REFUSAL and not self._useful:
            events.append(TextDelta(f"Gemini withheld its answer: {why}", is_refusal=True))
        return [*events, Done(stop, self._finish)]

    def _signed(self, text: str, thought: bool | None, signature: str) -> Sequence[StreamEvent]:
        """A signed part stays separate, even if it is empty (ai.google.dev, "Thought signatures")."""
        kind: Literal["text", "thinking"] = "thinking" if thought else "text"
        if not text:
            shown = {"thought": True} if thought else {}
            return self._opaque({"text": text, **shown, "thoughtSignature": signature})
        events: list[StreamEvent] = [Echo(kind, {})] if self._unsigned == kind else []
        self._unsigned, self._useful = "", self._useful or not thought
        delta = ThinkingDelta(text) if thought else TextDelta(text)
        return [*events, delta, Echo(kind, {"thoughtSignature": signature})]

    def _opaque(self, part: dict[str, Any]) -> Sequence[StreamEvent]:
        """Keeps the part unchanged. A part without data would be rejected when it is sent back."""
        if part.keys() <= NO_DATA:
            if "thoughtSignature" not in part:
                return ()
            part = {"text": "", **part}
        self._unsigned = ""
        return [Echo("opaque", part)]

    def _call(self, call: _Call, signature: str | None) -> Sequence[StreamEvent]:
        """A part is a whole call, or the start, a piece or (empty) the end of one."""
        events: list[StreamEvent] = []
        if call.name:
            events += self._end_call()
            self._slot += 1
            self._unsigned = ""
            self._arguments = PartialArguments()
            events += self._calls.add_fragment(self._slot, call_id=call.id or f"call_{self._slot}", name=call.name)
            given = {"id": call.id, "thoughtSignature": signature}
            echo = {word: value for word, value in given.items() if value}
            match events[-1]:
                case ToolCallStart(id=started) if echo:
                    events.append(Echo("call", echo, started))
        if self._arguments is None:
            if call.args or call.partial_args:
                raise ProtocolError("the provider sent a tool call without a name")
            return events
        if call.args is not None:
            self._arguments.value = call.args
        for piece in call.partial_args or ():
            self._arguments.add_piece(piece.json_path, piece.value, more=bool(piece.will_continue))
        return events if call.will_continue else [*events, *self._end_call()]

    def _end_call(self) -> list[StreamEvent]:
        if self._arguments is None:
            return []
        arguments, self._arguments = self._arguments.value, None
        self._useful = True
        return self._calls.complete_call(self._slot, encode_json(arguments).decode())


def _usage(usage: _Usage) -> Usage:
    """Results of the provider's own tools count as input. Thinking is counted separately from the answer."""
    thoughts = usage.thoughts_token_count or 0
    return Usage(
        input_tokens=(usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0),
        cached_tokens=usage.cached_content_token_count or 0,
        output_tokens=(usage.candidates_token_count or 0) + thoughts,
        reasoning_tokens=thoughts,
    )
