"""Anthropic Messages: content blocks in order, thinking that must come back signed, usage that is cumulative."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
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
from tark_lsp.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, Usage

# --- request -> body ---------------------------------------------------------------------------------------------

DEFAULT_MAX_TOKENS = 8192
"""The wire demands a number; this one every model takes."""

BUDGETS = {"minimal": 1024, "low": 4096, "medium": 10240, "high": 24576, "max": 32768}
"""Tokens of thinking for models that are told a budget, by effort."""

EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "max": "max"}
"""The wire's own words; it has no `minimal`."""

CACHE = {"cache_control": {"type": "ephemeral"}}


def encode_request(request: ChatRequest, target: Target) -> bytes:
    messages = _merge(sendable(request.messages, target.ref))
    cache = CACHE if target.quirks.cache_control else {}
    body: dict[str, Any] = {
        "model": target.model,
        "max_tokens": request.max_output_tokens or target.max_output_tokens or DEFAULT_MAX_TOKENS,
    }
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
            for tool in sorted(request.tools, key=lambda tool: tool.name)
        ]
    if request.system:
        body["system"] = [{"type": "text", "text": request.system, **cache}]
    if messages and cache:
        last = messages[-1]["content"]
        last[-1] = {**last[-1], **cache}
    body |= {"messages": messages, "stream": True, **_thinking(request, target, messages, body["max_tokens"])}
    return encode(body)


def _thinking(request: ChatRequest, target: Target, messages: list[Any], max_tokens: int) -> dict[str, Any]:
    effort = request.thinking
    if effort == "off":
        return {}
    if target.thinking == "adaptive":
        output = {"output_config": {"effort": EFFORTS.get(effort, effort)}} if effort != "auto" else {}
        # Since Opus 4.7 the text of thinking is left out unless asked for.
        return {"thinking": {"type": "adaptive", "display": "summarized"}, **output}
    if target.thinking == "none" or effort == "auto":
        return {}
    budget = min(BUDGETS.get(effort, BUDGETS["high"]), max_tokens - 1024)
    if budget < 1024 or not _may_think(messages):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _may_think(messages: list[Any]) -> bool:
    """With a budget, a tool loop must have begun with thinking: not so after a change of model in its midst."""
    for message in reversed(messages):
        if message["role"] == "assistant":
            kinds = [block["type"] for block in message["content"]]
            return "tool_use" not in kinds or kinds[0] in ("thinking", "redacted_thinking")
    return True


def _merge(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages of one role after another are one; results stand first in theirs, as the wire demands."""
    merged: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = [block for part in message.parts if (block := _block(part)) is not None]
        if blocks and merged and merged[-1]["role"] == role:
            merged[-1]["content"] += blocks
        elif blocks:
            merged.append({"role": role, "content": blocks})
    if merged and merged[-1]["role"] == "assistant":
        last = merged[-1]["content"][-1]
        if last["type"] == "text":  # the wire refuses a prefill that ends in white space
            last["text"] = last["text"].rstrip()
    return merged


def _block(part: Part) -> dict[str, Any] | None:
    """None for what the wire would refuse: empty text, thinking that nobody signed."""
    match part:
        case Text(text, echo):
            return {"type": "text", "text": text, **(echo or {})} if text.strip() else None
        case Thinking(text, echo):
            return {"type": "thinking", "thinking": text, **echo} if echo and echo.get("signature") else None
        case ToolCall(id, name, arguments):
            return {"type": "tool_use", "id": id, "name": name, "input": _object(arguments)}
        case ToolResult(call_id, content, is_error, images):
            blocks = [{"type": "text", "text": content}] if content.strip() else []
            result: dict[str, Any] = {
                "type": "tool_result",
                "tool_use_id": call_id,
                "content": blocks + [_image(image) for image in images],
            }
            return {**result, "is_error": True} if is_error else result
        case Image():
            return _image(part)
        case Opaque(echo):
            return dict(echo)


def _image(image: Image) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": image.mime_type, "data": image.data}}


def _object(arguments: str) -> Any:
    """Arguments that are no JSON object never ran; the wire still wants an object, so the model sees its own text."""
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"invalid_arguments": arguments}


# --- bytes -> events ---------------------------------------------------------------------------------------------


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
    def __init__(self) -> None:
        self._calls = ToolCallTracker()
        self._block: dict[str, Any] = {}  # the open one, as it began
        self._in_call = False
        self._input: list[str] = []  # of an open block that is kept whole
        self._extra: dict[str, Any] = {}  # fields that came by deltas and go into the block's echo
        self._usage: dict[str, int] = {}
        self._stop = ""
        self._done = False

    def feed(self, frame: bytes) -> Sequence[StreamEvent]:
        if frame.startswith(b"[DONE]"):  # from proxies that think of another wire
            return ()
        event = decode(EVENT, frame)
        match event.type:
            case "content_block_delta" if event.delta is not None:
                return self._delta(event.index, event.delta, frame)
            case "content_block_start" if event.content_block is not None:
                return self._begin(event.index, event.content_block)
            case "content_block_stop":
                return self._end(event.index)
            case "message_start" if isinstance(event.message, _Start):
                return self._count(event.message.usage) if not self._usage else ()
            case "message_delta":
                self._stop = (event.delta.stop_reason if event.delta else None) or self._stop
                return self._count(event.usage)
            case "message_stop" if not self._done:
                self._done = True
                stop = STOPS.get(self._stop, WireStop.OTHER)
                calls = self._calls.complete_all(cut_off=stop is WireStop.MAX_TOKENS)
                return [*calls, Done(stop, self._stop)]
            case "error":
                raise failure(decode_any(frame))
            case "" if "error" in (body := decode_any(frame)):
                raise failure(body)
        return ()  # ping, and what is not known yet

    def close(self) -> Sequence[StreamEvent]:
        if not self._done:
            raise StreamCut("the answer broke off before its end")
        return ()

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
                return self._calls.add(index, call_id=id, name=name)
        return ()

    def _delta(self, index: int, delta: _Delta, frame: bytes) -> Sequence[StreamEvent]:
        match delta.type:
            case "text_delta":
                return [TextDelta(delta.text)] if delta.text else ()
            case "input_json_delta" if self._in_call:
                return self._calls.more(index, delta.partial_json)
            case "input_json_delta":
                self._input.append(delta.partial_json)
            case "thinking_delta":
                return [ThinkingDelta(delta.thinking)] if delta.thinking else ()
            case "signature_delta":
                self._extra["signature"] = delta.signature  # it comes once, whole
            case "citations_delta":
                citations = self._extra.setdefault("citations", [])
                citations.append(decode_any(frame)["delta"].get("citation"))
            case _:  # compaction_delta and what comes after it: the fields are the block's
                fields = decode_any(frame)["delta"]
                self._extra |= {name: value for name, value in fields.items() if name != "type"}
        return ()

    def _end(self, index: int) -> Sequence[StreamEvent]:
        block, self._block = self._block, {}
        match block.get("type"):
            case None:
                return ()
            case "tool_use":
                if self._input or not block.get("input"):
                    return ()  # complete only at the message's end, which says whether it was cut off
                return self._calls.complete(index, encode(block["input"]).decode())
            case "text":
                return [Echo("text", self._extra)] if self._extra else ()
            case "thinking":
                return [Echo("thinking", self._extra)]
        whole = {**block, **self._extra}
        if text := "".join(self._input):
            whole["input"] = _object(text)
        return [Echo("opaque", whole)]

    def _count(self, usage: _Usage | None) -> Sequence[StreamEvent]:
        """Figures are of the whole answer so far; a later event may leave some out."""
        if usage is None:
            return ()
        self._usage |= {name: value for name, value in msgspec.structs.asdict(usage).items() if value is not None}
        counted: Mapping[str, int] = self._usage
        read, written = counted.get("cache_read_input_tokens", 0), counted.get("cache_creation_input_tokens", 0)
        fresh, output = counted.get("input_tokens", 0), counted.get("output_tokens", 0)
        return [UsageUpdate(Usage(fresh + read + written, read, written, output))]


WIRE = Wire(
    name="anthropic-messages",
    path="/v1/messages",
    models_path="/v1/models?limit=1000",
    key_header="x-api-key",
    encode=encode_request,
    parser=MessagesParser,
    headers=MappingProxyType({"anthropic-version": "2023-06-01"}),
)
