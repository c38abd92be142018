"""The `Wire` type: a provider's format as two pure functions. `Quirks` describe vendors, `TargetModel` a model."""

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias

from tark_lsp.llm.events import StreamEvent
from tark_lsp.llm.request import ChatRequest

WIRES = {
    "openai-chat": "tark_lsp.llm.wire.openai_chat",
    "openai-responses": "tark_lsp.llm.wire.openai_responses",
    "anthropic-messages": "tark_lsp.llm.wire.anthropic_messages",
    "gemini-content": "tark_lsp.llm.wire.gemini_content",
    "ollama-chat": "tark_lsp.llm.wire.ollama_chat",
}
"""The module of each wire. It is imported when a model that uses it is opened."""

ThinkingStyle: TypeAlias = Literal["unknown", "none", "effort", "adaptive", "budget", "switch"]
"""How to control a model's thinking: not at all, by effort, adaptively (with an effort), by token budget, on or off."""

ThinkingOff: TypeAlias = Literal["unknown", "unasked", "disabled", "between_tools", "never"]
"""How thinking is turned off: by not requesting it, by a field, by a field except between tool calls, or never."""

Framing: TypeAlias = Literal["sse", "json-lines"]


@dataclass(frozen=True, slots=True)
class Quirks:
    """How a vendor differs from its wire's standard. The defaults are right for a typical compatible server.

    `system_role`: the role of the system prompt. OpenAI's reasoning models accept only `developer`.
    `max_tokens_field`: `max_completion_tokens` if the server rejects `max_tokens`; "": no limit is sent.
    `stream_usage`: send `stream_options`. The client turns it off for a server that rejects it.
    `effort_field`: the field for an effort: `reasoning_effort`, or OpenRouter's `reasoning` object. If thinking is
    turned off by a separate field, that one: DeepSeek's `thinking`, or `chat_template_kwargs` of open models' servers.
    `reasoning_field`: the field for a model's own reasoning, sent back on messages with tool calls.
    `call_id_length`: ids of calls have exactly this many letters and digits (Mistral); 0: as other servers accept.
    `bridge_results`: an assistant message must be between tool results and a user message (Mistral).
    `cache_control`: mark what should be cached (Anthropic).
    `images`: the server accepts images.
    `cache_key`: send the session's id, so that its requests use the same cache (OpenAI).
    `cache_field`: the field that marks what should be cached, on parts of messages (OpenRouter, Copilot).
    `encrypted_reasoning`: request reasoning items in a form that can be sent back (Responses).
    `reasoning_summary`: request summaries of reasoning, which some accounts do not get (Responses).
    `signatures`: send the model's signatures back. False if its server rejects them (Gemini, and OpenAI's encrypted
    reasoning after a change of key).
    `finish_reason`: the server says why an answer ended. If it usually does not (Copilot), an end without a reason is a
    normal one.
    `parallel_calls`: the server has a switch against parallel calls. Some reasoning models reject it.
    `tool_search`: the server takes deferred tools, for models that have them (Messages, Responses).
    """

    system_role: Literal["system", "developer"] = "system"
    max_tokens_field: str = "max_tokens"
    stream_usage: bool = True
    effort_field: Literal["reasoning_effort", "reasoning", "thinking", "chat_template_kwargs"] = "reasoning_effort"
    reasoning_field: str = ""
    call_id_length: int = 0
    bridge_results: bool = False
    cache_control: bool = True
    images: bool = True
    cache_key: bool = False
    cache_field: Literal["", "cache_control", "copilot_cache_control"] = ""
    encrypted_reasoning: bool = False
    reasoning_summary: bool = True
    signatures: bool = True
    finish_reason: bool = True
    parallel_calls: bool = True
    tool_search: bool = False


NO_QUIRKS = Quirks()


@dataclass(frozen=True, slots=True)
class TargetModel:
    """The model a request is encoded for. `ref` is `<provider>/<model>`, `model` the provider's own name for it.

    `efforts`: the model's effort levels, the lowest first; empty if unknown.
    `context_window`: tokens; None if unknown.
    `sampling`: whether it accepts `temperature` and `top_p`; None if unknown.
    `text_calls`: the model has no native tool calls, so it writes them as text.
    `tool_search`: whether it can load deferred tools; None if unknown.
    """

    ref: str
    model: str
    quirks: Quirks = NO_QUIRKS
    thinking: ThinkingStyle = "unknown"
    max_output_tokens: int | None = None
    off: ThinkingOff = "unknown"
    efforts: tuple[str, ...] = ()
    context_window: int | None = None
    text_calls: bool = False
    sampling: bool | None = None
    tool_search: bool | None = None

    @property
    def defers_tools(self) -> bool:
        """Whether deferred tools are sent as such: the model and its server must know them."""
        return self.quirks.tool_search and self.tool_search is True


class FrameParser(Protocol):
    """Reads one answer. The events do not depend on how the bytes were cut."""

    def feed_frame(self, frame: bytes) -> Sequence[StreamEvent]:
        """Raises the ModelError that the provider sent, and ProtocolError for data that does not match the wire."""
        ...

    def close(self) -> Sequence[StreamEvent]:
        """Ends the stream and returns the last events. Raises StreamCut if there was no terminal event."""
        ...


def _no_downgrades(_request: ChatRequest, _target: TargetModel) -> tuple[str, ...]:
    return ()


class MakeParser(Protocol):
    def __call__(self, quirks: Quirks = NO_QUIRKS, /) -> FrameParser: ...


@dataclass(frozen=True, slots=True)
class Wire:
    """`encode` returns the JSON body. `parser` makes a parser for one answer.

    `path` and `models_path` are appended to the base URL, as the vendor's own SDK defines it. `{model}` in `path` is
    replaced by the model's name. `key_header` carries the key; `authorization` means a bearer token.
    `downgrades` yields one sentence for each part of this request that `encode` leaves out because of the wire.
    """

    name: str
    path: str
    models_path: str
    key_header: str
    encode: Callable[[ChatRequest, TargetModel], bytes]
    parser: MakeParser
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    framing: Framing = "sse"
    downgrades: Callable[[ChatRequest, TargetModel], Iterable[str]] = _no_downgrades


def load_wire(name: str) -> Wire:
    """Raises KeyError for a name that is not in `WIRES`."""
    wire = importlib.import_module(WIRES[name]).WIRE
    assert isinstance(wire, Wire)
    return wire
