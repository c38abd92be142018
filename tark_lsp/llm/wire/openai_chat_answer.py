"""The Chat Completions answer, chunk by chunk, with the variations of compatible servers."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import msgspec

from tark_lsp.errors import ServerError, StreamCut
from tark_lsp.llm.events import COMPLETE_STOPS, Done, Echo, StreamEvent, TextDelta, ThinkingDelta, UsageUpdate, WireStop
from tark_lsp.llm.wire.json_values import decode_json, decode_untyped_json, encode_json
from tark_lsp.llm.wire.provider_errors import provider_error
from tark_lsp.llm.wire.stated_cost import stated_cost
from tark_lsp.llm.wire.tool_calls import ToolCallTracker
from tark_lsp.llm.wire.wire import NO_QUIRKS, Quirks
from tark_lsp.messages import Usage

ECHOED = frozenset({"reasoning_details", "reasoning_opaque", "reasoning_text"})
"""Fields of an answer that must be sent back on its message: one of OpenRouter, two of Copilot."""


class _Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _CallDelta(msgspec.Struct, gc=False):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct, gc=False):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    reasoning_text: str | None = None
    reasoning_opaque: str | None = None
    reasoning_details: list[dict[str, Any]] | None = None
    cot_summary: str | None = None
    tool_calls: list[_CallDelta] | None = None
    function_call: _Function | None = None


class _Usage(msgspec.Struct, gc=False):
    """Details are untyped: every vendor has its own, some of them null."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: dict[str, Any] | None = None
    completion_tokens_details: dict[str, Any] | None = None
    prompt_cache_hit_tokens: int | None = None
    cached_tokens: int | None = None
    cost: Any = None
    is_byok: Any = None
    cost_details: Any = None


class _Choice(msgspec.Struct, gc=False):
    index: int | None = 0
    delta: _Delta | None = None
    finish_reason: str | None = None
    usage: _Usage | None = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


NO_FUNCTION = _Function()
CHUNK = msgspec.json.Decoder(_Chunk)

STOPS = {
    **dict.fromkeys(("stop", "eos", "eos_token", "stop_sequence", "end_turn", "complete"), WireStop.END_TURN),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use", "tool_call"), WireStop.TOOL_CALLS),
    **dict.fromkeys(
        ("length", "max_tokens", "model_length", "model_context_window_exceeded"),
        WireStop.MAX_TOKENS,
    ),
    **dict.fromkeys(("content_filter", "refusal", "safety", "sensitive"), WireStop.REFUSAL),
}
"""In lower case: OpenAI's words, those of Together and Hugging Face (eos), Mistral (model_length) and z.ai (sensitive),
and those of Anthropic, Cohere and Gemini, which some gateways pass on.
"""

FAILURES = frozenset({"error", "network_error", "insufficient_system_resource", "abort"})
"""The server gave up: OpenRouter and Copilot, z.ai, DeepSeek, vLLM. There should have been an error before it."""


class ChatParser:
    """`Done` comes at `[DONE]`, or at the end of a stream with a finish reason, since usage can follow the reason.

    `[DONE]` can end an answer without a finish reason, but it is not an answer by itself. Unless the server never sends
    a reason, such an answer may be cut off: llama.cpp sends `[DONE]` even after an error.
    """

    def __init__(self, quirks: Quirks = NO_QUIRKS, /) -> None:
        self._quirks = quirks
        self._calls = ToolCallTracker()
        self._answered = False
        self._finish: str | None = None
        self._done = False
        self._details: dict[tuple[str, Any], dict[str, Any]] = {}
        self._reasoning_opaque = ""
        self._reasoning_text: list[str] = []

    def feed_frame(self, frame: bytes) -> Sequence[StreamEvent]:
        if self._done:
            return ()
        if frame.startswith(b"[DONE]"):
            return self._end()
        chunk = decode_json(CHUNK, frame)
        if chunk.error:
            raise provider_error(decode_untyped_json(frame))
        if not chunk.choices and not chunk.usage:
            self._look_for_error(frame)
        usage = chunk.usage
        events: list[StreamEvent] = []
        for choice in chunk.choices or ():
            if choice.index:
                continue  # only one answer was requested
            self._answered = True
            usage = usage or choice.usage  # Moonshot
            if choice.delta is not None:
                self._read(choice.delta, events)
            if choice.finish_reason:
                self._finish = self._finish or choice.finish_reason
        if usage:
            events.append(UsageUpdate(_usage(usage)))
        return events

    def close(self) -> Sequence[StreamEvent]:
        if self._done:
            return ()
        if self._finish is None:
            raise StreamCut("the answer was cut off before its end")
        return self._end()

    def _read(self, delta: _Delta, events: list[StreamEvent]) -> None:
        thinking = delta.reasoning_content or delta.reasoning or delta.reasoning_text or delta.cot_summary
        if thinking:
            events.append(ThinkingDelta(thinking))
            if delta.reasoning_text:
                self._reasoning_text.append(delta.reasoning_text)
        if delta.reasoning_details:
            for detail in delta.reasoning_details:
                self._merge(detail)
                text = detail.get("text") or detail.get("summary")
                if text and isinstance(text, str) and not thinking:
                    events.append(ThinkingDelta(text))
        if delta.reasoning_opaque:
            self._reasoning_opaque = delta.reasoning_opaque
        if delta.content:
            events += [TextDelta(delta.content)] if isinstance(delta.content, str) else _content_parts(delta.content)
        if delta.refusal:
            events.append(TextDelta(delta.refusal, is_refusal=True))
        if delta.tool_calls:
            for position, call in enumerate(delta.tool_calls):
                slot = position if call.index is None else call.index
                events += self._call(slot, call.id or "", call.function or NO_FUNCTION)
        if delta.function_call:  # the predecessor of tools; Copilot still used it in 2024
            events += self._call("function", "", delta.function_call)

    def _call(self, slot: Hashable, call_id: str, function: _Function) -> Sequence[StreamEvent]:
        name, arguments = function.name or "", function.arguments or ""
        if not isinstance(arguments, str):
            arguments = encode_json(arguments).decode()
        if call_id == "null":  # Mistral sends this for no id
            call_id = ""
        if call_id or name:
            return self._calls.add_fragment(slot, call_id=call_id, name=name, arguments=arguments)
        return self._calls.add_arguments(slot, arguments)

    def _merge(self, detail: dict[str, Any]) -> None:
        """OpenRouter: pieces with the same type and index are one detail. Texts are appended, other fields replaced."""
        index = detail.get("index")
        place = (str(detail.get("type")), str(detail.get("id") if index is None else index))
        merged = self._details.setdefault(place, {})
        for name, value in detail.items():
            if name in ("text", "summary", "data") and isinstance(value, str):
                known = merged.get(name)
                merged[name] = known + value if isinstance(known, str) else value
            elif value is not None or name not in merged:
                merged[name] = value

    def _look_for_error(self, frame: bytes) -> None:
        """Errors that are not under `error`: vLLM's {object: "error", message}, {detail}, {code, message}."""
        body = decode_untyped_json(frame)
        match body:
            case {"object": "error"} | {"message": str()}:
                raise provider_error(body)
            case {"detail": detail} if detail:
                raise provider_error(body)

    def _end(self) -> Sequence[StreamEvent]:
        self._done = True
        raw = self._finish or ""
        if not (raw or self._answered):
            raise StreamCut("the provider ended the stream without an answer")
        if raw in FAILURES:
            raise ServerError(f"the provider cut the answer off with the finish reason `{raw}` and no explanation")
        reasonless = not (raw or self._quirks.finish_reason)  # as always with this server
        stop = WireStop.END_TURN if reasonless else STOPS.get(raw.lower(), WireStop.OTHER)
        cut_off = reasonless or stop not in COMPLETE_STOPS
        events = self._calls.complete_all_calls(cut_off=cut_off, empty_is_whole=reasonless)
        echo: dict[str, Any] = {}
        if self._details:
            echo["reasoning_details"] = list(self._details.values())
        if self._reasoning_opaque:
            echo["reasoning_opaque"] = self._reasoning_opaque
            echo["reasoning_text"] = "".join(self._reasoning_text)
        if echo:
            events.append(Echo("thinking", echo))
        return [*events, Done(stop, raw)]


def _content_parts(parts: list[dict[str, Any]]) -> Iterator[StreamEvent]:
    """Mistral: content as a list, and thinking as a list inside it."""
    for part in parts:
        match part:
            case {"type": "text", "text": str(text)} if text:
                yield TextDelta(text)
            case {"type": "thinking", "thinking": str(text)} if text:
                yield ThinkingDelta(text)
            case {"type": "thinking", "thinking": list(pieces)}:
                for piece in pieces:
                    if isinstance(piece, dict) and piece.get("text"):
                        yield ThinkingDelta(str(piece["text"]))


def _usage(usage: _Usage) -> Usage:
    prompt, output = usage.prompt_tokens or 0, usage.completion_tokens or 0
    cached = (
        _count(usage.prompt_tokens_details, "cached_tokens") or usage.prompt_cache_hit_tokens or usage.cached_tokens
    )  # DeepSeek, Moonshot
    reasoning = _count(usage.completion_tokens_details, "reasoning_tokens")
    separate = reasoning > output or usage.total_tokens == prompt + output + reasoning
    if reasoning and separate:
        output += reasoning  # xAI, and Vercel for Gemini, count reasoning separately; OpenAI includes it
    return Usage(
        input_tokens=prompt,
        cached_tokens=cached or 0,
        cache_write_tokens=_count(usage.prompt_tokens_details, "cache_write_tokens"),
        output_tokens=output,
        reasoning_tokens=reasoning,
        cost_usd=stated_cost(usage.cost, usage.is_byok, usage.cost_details),
    )


def _count(details: dict[str, Any] | None, name: str) -> int:
    value = (details or {}).get(name)
    return value if isinstance(value, int) else 0
