"""Ollama's own chat API: one JSON object per line, calls that arrive whole, a window that the request must set."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tark_lsp.errors import StreamCut
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
from tark_lsp.llm.options import sampling
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.json_values import decode_json, decode_untyped_json, encode_json
from tark_lsp.llm.wire.provider_errors import provider_error
from tark_lsp.llm.wire.sendable_history import call_input, note_images_left_out, result_text, sendable_history
from tark_lsp.llm.wire.thinking import effort_for
from tark_lsp.llm.wire.tool_calls import ToolCallTracker
from tark_lsp.llm.wire.wire import NO_QUIRKS, Quirks, TargetModel, Wire
from tark_lsp.messages import Image, Message, Thinking, ToolCall, ToolResult, Usage

# --- request -> body ---------------------------------------------------------------------------------------------

EFFORTS = ("low", "medium", "high")
"""The values of `think` besides true and false, for models that accept words."""

MIN_WINDOW = 8192
BYTES_PER_TOKEN = 3
"""A low estimate: English has more than 4 bytes per token, code about 3.5; Chinese has 3 per character."""
TOKENS_PER_IMAGE = 2048
ANSWER_TOKENS = 4096
"""Space for an answer without a limit."""


def encode_request(request: ChatRequest, target: TargetModel) -> bytes:
    """Nothing is cut silently: the window is large enough; if it cannot be, the server is told to refuse."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
    calls: dict[str, ToolCall] = {}
    for message in sendable_history(request.messages, target.ref):
        calls |= {call.id: call for call in message.tool_calls}
        if message.role == "tool":
            messages += _results(message, calls, target)
        elif message.role == "user":
            images = [part for part in message.parts if isinstance(part, Image)]
            messages.append(_user(message.text, images, target))
        else:
            messages.append(_assistant(message))
    body: dict[str, Any] = {"model": target.model, "messages": messages}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
            }
            for tool in request.declared_tools
        ]
    if wanted := request.options.answer_format:
        body["format"] = "json" if wanted.schema is None else dict(wanted.schema)
    options = {"num_ctx": _window(body, request, target), **sampling(request.options)}
    if request.max_output_tokens:
        options["num_predict"] = request.max_output_tokens
    body |= {"stream": True, "truncate": False, "shift": False, "options": options, **_think(request.thinking, target)}
    return encode_json(body)


def _think(level: str, target: TargetModel) -> dict[str, Any]:
    if level == "auto":
        return {}
    if target.thinking == "switch":
        return {"think": level != "off"}
    if target.thinking == "effort":
        word = effort_for(level, target.efforts or EFFORTS)
        return {"think": False if word == "none" else word}
    return {}


def _window(body: dict[str, Any], request: ChatRequest, target: TargetModel) -> int:
    """Tokens, in powers of two: the server reloads a model each time its window changes."""
    images = [image for message in body["messages"] for image in message.get("images", ())]
    size = len(encode_json(body)) - sum(map(len, images))
    answer = request.max_output_tokens or ANSWER_TOKENS
    needed = size // BYTES_PER_TOKEN + len(images) * TOKENS_PER_IMAGE + answer
    window = max(MIN_WINDOW, 1 << (needed - 1).bit_length())
    return min(window, target.context_window or window)


def _user(text: str, images: Sequence[Image], target: TargetModel) -> dict[str, Any]:
    if not target.quirks.images:
        return {"role": "user", "content": note_images_left_out(text, images)}
    shown = {"images": [image.data for image in images]} if images else {}
    return {"role": "user", "content": text, **shown}


def _assistant(message: Message) -> dict[str, Any]:
    encoded: dict[str, Any] = {"role": "assistant", "content": message.text}
    if thinking := "".join(part.text for part in message.parts if isinstance(part, Thinking)):
        encoded["thinking"] = thinking
    if calls := message.tool_calls:
        encoded["tool_calls"] = [
            {**_given_id(call, "id"), "function": {"name": call.name, "arguments": call_input(call)}} for call in calls
        ]
    return encoded


def _results(message: Message, calls: dict[str, ToolCall], target: TargetModel) -> list[dict[str, Any]]:
    """One message per result, then a user message with all images: templates ignore images in tool messages."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    encoded = [
        {
            "role": "tool",
            "tool_name": calls[result.call_id].name,
            **_given_id(calls[result.call_id], "tool_call_id"),
            "content": result_text(result),
        }
        for result in results
    ]
    images = [image for result in results for image in result.images]
    if images:
        encoded.append(_user("The images of the tool results above:", images, target))
    return encoded


def _given_id(call: ToolCall, field: str) -> dict[str, Any]:
    """The id that the server gave, if any. Ids that Tark made are not sent."""
    return {field: call.echo["id"]} if call.echo and "id" in call.echo else {}


# --- bytes -> events ---------------------------------------------------------------------------------------------


class _Function(msgspec.Struct, gc=False):
    name: str = ""
    arguments: Any = None


class _Call(msgspec.Struct, gc=False):
    id: str | None = None
    function: _Function | None = None


class _Message(msgspec.Struct, gc=False):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[_Call] | None = None


class _Line(msgspec.Struct, gc=False):
    message: _Message | None = None
    done: bool = False
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    error: Any = None


LINE = msgspec.json.Decoder(_Line)

STOPS = {"": WireStop.END_TURN, "stop": WireStop.END_TURN, "length": WireStop.MAX_TOKENS}
"""The others, `load` and `unload`, mean that the model was only loaded or unloaded."""


class OllamaParser:
    def __init__(self, _: Quirks = NO_QUIRKS, /) -> None:
        self._calls = ToolCallTracker()
        self._slot = 0
        self._done = False

    def feed_frame(self, frame: bytes) -> Sequence[StreamEvent]:
        if self._done:
            return ()
        line = decode_json(LINE, frame)
        if line.error:
            raise provider_error(decode_untyped_json(frame))
        events: list[StreamEvent] = []
        message = line.message
        if message is not None:
            if message.thinking:
                events.append(ThinkingDelta(message.thinking))
            if message.content:
                events.append(TextDelta(message.content))
            for call in message.tool_calls or ():
                events += self._call(call)
        if line.done:
            self._done = True
            raw = line.done_reason or ""
            usage = Usage(input_tokens=line.prompt_eval_count or 0, output_tokens=line.eval_count or 0)
            events += [UsageUpdate(usage), Done(STOPS.get(raw, WireStop.OTHER), raw)]
        return events

    def close(self) -> Sequence[StreamEvent]:
        if not self._done:
            raise StreamCut("the answer was cut off before its end")
        return ()

    def _call(self, call: _Call) -> list[StreamEvent]:
        """A call arrives whole. Its index is not used: the first of several calls lacks it."""
        function = call.function or _Function()
        self._slot += 1
        events = self._calls.add_fragment(self._slot, call_id=call.id or f"call_{self._slot}", name=function.name)
        match events:
            case [ToolCallStart(id=started)] if call.id:
                events.append(Echo("call", {"id": call.id}, started))
        arguments = {} if function.arguments is None else function.arguments
        text = arguments if isinstance(arguments, str) else encode_json(arguments).decode()
        return [*events, *self._calls.complete_call(self._slot, text)]


WIRE = Wire(
    name="ollama-chat",
    path="/api/chat",
    models_path="/api/tags",
    key_header="authorization",
    encode=encode_request,
    parser=OllamaParser,
    framing="json-lines",
)
