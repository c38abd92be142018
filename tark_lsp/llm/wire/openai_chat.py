"""OpenAI Chat Completions, and the many servers that speak it, each a little differently."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from tark_lsp.errors import StreamCut
from tark_lsp.llm.events import Done, Echo, StreamEvent, TextDelta, ThinkingDelta, UsageUpdate, WireStop
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.failures import failure
from tark_lsp.llm.wire.json_values import decode, decode_any, encode
from tark_lsp.llm.wire.tool_calls import ToolCallTracker
from tark_lsp.llm.wire.transcript import sendable
from tark_lsp.llm.wire.wire import Target, Wire
from tark_lsp.messages import Image, Message, Text, Thinking, ToolResult, Usage

# --- request -> body ---------------------------------------------------------------------------------------------


def encode_request(request: ChatRequest, target: Target) -> bytes:
    quirks = target.quirks
    messages: list[dict[str, Any]] = []
    if request.system:
        messages.append({"role": quirks.system_role, "content": request.system})
    for message in sendable(request.messages, target.ref):
        messages += ENCODERS[message.role](message, target)
    body: dict[str, Any] = {"model": target.model, "messages": messages, "stream": True}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
            }
            for tool in sorted(request.tools, key=lambda tool: tool.name)
        ]
    if quirks.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if request.max_output_tokens:
        body[quirks.max_tokens_field] = request.max_output_tokens
    if quirks.cache_key and request.session_id:
        body["prompt_cache_key"] = request.session_id
    if request.thinking not in ("auto", "off") and target.thinking != "none":
        if quirks.effort_field == "reasoning":
            body["reasoning"] = {"effort": request.thinking}
        else:
            body["reasoning_effort"] = request.thinking
    return encode(body)


def _user(message: Message, target: Target) -> list[dict[str, Any]]:
    images = [part for part in message.parts if isinstance(part, Image)]
    if not images or not target.quirks.images:
        dropped = f"\n[{len(images)} image(s) left out: this model takes none]" if images else ""
        return [{"role": "user", "content": message.text + dropped}]
    content = [
        {"type": "text", "text": part.text} if isinstance(part, Text) else _image(part)
        for part in message.parts
        if isinstance(part, Text | Image)
    ]
    return [{"role": "user", "content": content}]


def _assistant(message: Message, target: Target) -> list[dict[str, Any]]:
    encoded: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    calls = message.tool_calls
    if calls:
        encoded["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments if call.arguments.strip() else "{}"},
            }
            for call in calls
        ]
    elif not message.text:
        encoded["content"] = ""
    thinking = [part for part in message.parts if isinstance(part, Thinking)]
    if calls and target.quirks.reasoning_field:
        encoded[target.quirks.reasoning_field] = "".join(part.text for part in thinking)
    for part in thinking:
        encoded.update(part.echo or {})  # on this wire an echo is the fields of the message that carried it
    return [encoded]


def _tool(message: Message, target: Target) -> list[dict[str, Any]]:
    """One message for each result, then one of the user with all images: a tool's message takes only text."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    encoded: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": result.call_id, "content": _result_text(result)} for result in results
    ]
    images = tuple(image for result in results for image in result.images)
    if images:
        caption = Text("The pictures that belong to the tool results above:")
        encoded += _user(Message("user", (caption, *images)), target)
    return encoded


def _result_text(result: ToolResult) -> str:
    """The wire has no flag for an error. Our own failures say so themselves, as JSON with `"ok": false`."""
    if result.is_error and not result.content.startswith('{"ok": false'):
        return f"Error: {result.content}"
    return result.content


def _image(image: Image) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{image.mime_type};base64,{image.data}"}}


ENCODERS: dict[str, Callable[[Message, Target], list[dict[str, Any]]]] = {
    "user": _user,
    "assistant": _assistant,
    "tool": _tool,
}

# --- bytes -> events ---------------------------------------------------------------------------------------------


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
    tool_calls: list[_CallDelta] | None = None


class _Choice(msgspec.Struct, gc=False):
    index: int | None = 0
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Usage(msgspec.Struct, gc=False):
    """Details are left untyped: every vendor has its own, some of them null."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: dict[str, Any] | None = None
    completion_tokens_details: dict[str, Any] | None = None
    cost: Any = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


CHUNK = msgspec.json.Decoder(_Chunk)

STOPS = {
    "stop": WireStop.END_TURN,
    "tool_calls": WireStop.TOOL_CALLS,
    "function_call": WireStop.TOOL_CALLS,
    "length": WireStop.MAX_TOKENS,
    "content_filter": WireStop.REFUSAL,
}


class ChatParser:
    """Done comes at `[DONE]`, or at the end of a stream that gave a finish reason: usage may follow the reason."""

    def __init__(self) -> None:
        self._calls = ToolCallTracker()
        self._finish: str | None = None
        self._done = False
        self._details: dict[tuple[str, Any], dict[str, Any]] = {}
        self._reasoning_opaque = ""
        self._reasoning_text: list[str] = []

    def feed(self, frame: bytes) -> Sequence[StreamEvent]:
        if self._done:
            return ()
        if frame.startswith(b"[DONE]"):
            return self._end()
        chunk = decode(CHUNK, frame)
        if chunk.error:
            raise failure(decode_any(frame))
        if not chunk.choices and not chunk.usage:
            self._look_for_error(frame)
        events: list[StreamEvent] = []
        for choice in chunk.choices or ():
            if choice.index:
                continue  # only one answer was asked for
            if choice.delta is not None:
                self._read(choice.delta, events)
            if choice.finish_reason:
                self._finish = self._finish or choice.finish_reason
        if chunk.usage:
            events.append(UsageUpdate(_usage(chunk.usage)))
        return events

    def close(self) -> Sequence[StreamEvent]:
        if self._done:
            return ()
        if self._finish is None:
            raise StreamCut("the answer broke off before its end")
        return self._end()

    def _read(self, delta: _Delta, events: list[StreamEvent]) -> None:
        thinking = delta.reasoning_content or delta.reasoning or delta.reasoning_text
        if thinking:
            events.append(ThinkingDelta(thinking))
            if delta.reasoning_text:
                self._reasoning_text.append(delta.reasoning_text)
        if delta.reasoning_details:
            for detail in delta.reasoning_details:
                self._merge(detail)
                if not thinking and (text := detail.get("text") or detail.get("summary")):
                    events.append(ThinkingDelta(text))
        if delta.reasoning_opaque:
            self._reasoning_opaque = delta.reasoning_opaque
        if delta.content:
            events += [TextDelta(delta.content)] if isinstance(delta.content, str) else _content_parts(delta.content)
        if delta.refusal:
            events.append(TextDelta(delta.refusal))
        if delta.tool_calls:
            for position, call in enumerate(delta.tool_calls):
                slot = position if call.index is None else call.index
                function = call.function or _Function()
                arguments = function.arguments or ""
                if not isinstance(arguments, str):
                    arguments = encode(arguments).decode()
                if call.id or function.name:
                    events += self._calls.add(
                        slot, call_id=call.id or "", name=function.name or "", arguments=arguments
                    )
                else:
                    events += self._calls.more(slot, arguments)

    def _merge(self, detail: dict[str, Any]) -> None:
        """OpenRouter: pieces of one type and index are one detail; its texts add up, the rest is set."""
        merged = self._details.setdefault((str(detail.get("type")), detail.get("index")), {})
        for name, value in detail.items():
            if name in ("text", "summary", "data") and isinstance(value, str):
                merged[name] = merged.get(name, "") + value
            elif value is not None or name not in merged:
                merged[name] = value

    def _look_for_error(self, frame: bytes) -> None:
        """Errors that are not under `error`: vLLM's {object: "error", message}, {detail}, {code, message}."""
        body = decode_any(frame)
        if isinstance(body, dict) and (body.get("object") == "error" or body.get("detail") or body.get("message")):
            raise failure(body)

    def _end(self) -> Sequence[StreamEvent]:
        self._done = True
        raw = self._finish or ""
        stop = STOPS.get(raw, WireStop.OTHER if raw else WireStop.END_TURN)
        events = self._calls.complete_all(cut_off=stop is WireStop.MAX_TOKENS)
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
    """Mistral: content as a list, thinking in it as a list again."""
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
    read = usage.prompt_tokens_details or {}
    reasoning = (usage.completion_tokens_details or {}).get("reasoning_tokens") or 0
    if reasoning and usage.total_tokens == prompt + output + reasoning:
        output += reasoning  # xAI counts reasoning beside the completion, OpenAI within it
    cost = usage.cost if isinstance(usage.cost, int | float) else None
    return Usage(
        input_tokens=prompt,
        cached_tokens=read.get("cached_tokens") or 0,
        cache_write_tokens=read.get("cache_write_tokens") or 0,
        output_tokens=output,
        reasoning_tokens=reasoning,
        cost_usd=cost,
    )


WIRE = Wire("openai-chat", "/chat/completions", "/models", "authorization", encode_request, ChatParser)
