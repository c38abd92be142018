"""The events of a streamed answer, and `MessageBuilder`, which builds a `Message` from them.

The order in one answer: deltas, starts, echoes and usage in any order, then exactly one `Done`. An answer that is cut
off has no `Done`: it raises a `ModelError` after the events that arrived before.

Events are msgspec structs, not dataclasses: creating a frozen dataclass takes six times as long, and one answer has
thousands of events. Like dataclasses, they are frozen, compare by value and work with `match`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec

from tark_lsp.messages import Message, Opaque, Part, Text, Thinking, ToolCall, Usage


class WireStop(StrEnum):
    """Why the provider stopped, in words common to all wires. Never use it to decide whether to run tools."""

    END_TURN = "end_turn"
    TOOL_CALLS = "tool_calls"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"
    PAUSED = "paused"
    """The provider continues when the conversation is sent again unchanged."""
    OTHER = "other"


COMPLETE_STOPS = frozenset({WireStop.END_TURN, WireStop.TOOL_CALLS, WireStop.PAUSED})
"""The stop reasons of a complete answer. Only then does a call without arguments mean a call that takes none."""


class TextDelta(msgspec.Struct, frozen=True, gc=False):
    """`is_refusal`: the provider marks the text as a refusal, or Tark wrote it for a refusal without text."""

    text: str
    is_refusal: bool = False


class ThinkingDelta(msgspec.Struct, frozen=True, gc=False):
    text: str


class ToolCallStart(msgspec.Struct, frozen=True, gc=False):
    """`id` is unique within the answer, even if the provider sent an id twice."""

    id: str
    name: str


class ToolCallDelta(msgspec.Struct, frozen=True, gc=False):
    """A piece of the arguments' JSON text, for display only. Use the arguments of `ToolCallComplete`."""

    id: str
    arguments_delta: str


class ToolCallComplete(msgspec.Struct, frozen=True, gc=False):
    """`arguments` is the whole JSON text, `{}` if the provider sent none. A call that was cut off never gets this
    event.
    """

    id: str
    arguments: str


class Echo(msgspec.Struct, frozen=True):
    """Opaque data to send back with a part, or (`of="opaque"`) a whole part that only the provider understands.

    It ends the last text or thinking part without an echo. If there is no such part, it makes an empty one.
    `call_id` names the call, for `of="call"`.
    """

    of: Literal["text", "thinking", "call", "opaque"]
    echo: Mapping[str, Any]
    call_id: str = ""


class UsageUpdate(msgspec.Struct, frozen=True):
    """The request's usage so far. Each update replaces the one before."""

    usage: Usage


class Done(msgspec.Struct, frozen=True):
    """The answer is complete. `raw`: the provider's own stop reason; "" if it gave none."""

    stop_reason: WireStop
    raw: str = ""


class Retry(msgspec.Struct, frozen=True):
    """From the client only: the request is sent after `wait_seconds`, again if it failed before any content."""

    wait_seconds: float
    reason: str


class Stall(msgspec.Struct, frozen=True):
    """From the client only: nothing has arrived for `seconds`."""

    seconds: float


class Notice(msgspec.Struct, frozen=True):
    """From the client only: something the user should know about this request, such as a downgrade."""

    message: str


class Dropped(msgspec.Struct, frozen=True):
    """From the client only: the name of an option of this request that is not sent. `reason`: a clause for the user.

    It comes before all content. See `ChatOptions.may_drop`.
    """

    option: str
    reason: str


StreamEvent: TypeAlias = (
    TextDelta
    | ThinkingDelta
    | ToolCallStart
    | ToolCallDelta
    | ToolCallComplete
    | Echo
    | UsageUpdate
    | Done
    | Retry
    | Stall
    | Notice
    | Dropped
)


@dataclass(slots=True)
class _Draft:
    """A text or thinking part that is still being written."""

    kind: Literal["text", "thinking"]
    pieces: list[str] = field(default_factory=list)
    echo: Mapping[str, Any] | None = None


@dataclass(slots=True)
class _CallDraft:
    """`arguments` None: the call is not complete."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    arguments: str | None = None
    echo: Mapping[str, Any] | None = None


class MessageBuilder:
    """Builds the assistant's `Message` from events. It can be read at any time, also after the stream was cut off."""

    def __init__(self) -> None:
        self._parts: list[_Draft | _CallDraft | Opaque] = []
        self._calls: dict[str, _CallDraft] = {}
        self.usage = Usage()
        self.stop: WireStop | None = None
        self.raw_stop = ""

    def add_event(self, event: StreamEvent) -> None:
        match event:
            case TextDelta(text):
                self._open("text").pieces.append(text)
            case ThinkingDelta(text):
                self._open("thinking").pieces.append(text)
            case ToolCallStart(id, name):
                call = self._calls[id] = _CallDraft(id, name)
                self._parts.append(call)
            case ToolCallDelta(id, delta):
                self._calls[id].pieces.append(delta)
            case ToolCallComplete(id, arguments):
                self._calls[id].arguments = arguments
            case Echo():
                self._echo(event)
            case UsageUpdate(usage):
                self.usage = usage
            case Done(stop_reason, raw):
                self.stop, self.raw_stop = stop_reason, raw
            case Retry() | Stall() | Notice() | Dropped():
                pass

    @property
    def incomplete_calls(self) -> tuple[str, ...]:
        """Ids of calls that started and were never completed. They must not run."""
        return tuple(call.id for call in self._calls.values() if call.arguments is None)

    def build_message(self, model: str) -> Message:
        """`model` is `<provider>/<model>`. An incomplete call has the arguments received so far."""
        parts: list[Part] = []
        for part in self._parts:
            match part:
                case Opaque():
                    parts.append(part)
                case _CallDraft():
                    arguments = "".join(part.pieces) if part.arguments is None else part.arguments
                    parts.append(ToolCall(part.id, part.name, arguments, part.echo))
                case _Draft(kind="text"):
                    parts.append(Text("".join(part.pieces), part.echo))
                case _Draft():
                    parts.append(Thinking("".join(part.pieces), part.echo))
        return Message("assistant", tuple(parts), model)

    def _open(self, kind: Literal["text", "thinking"]) -> _Draft:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, _Draft) and last.kind == kind and last.echo is None:
            return last
        draft = _Draft(kind)
        self._parts.append(draft)
        return draft

    def _echo(self, event: Echo) -> None:
        match event.of:
            case "opaque":
                self._parts.append(Opaque(event.echo))
            case "call":
                self._calls[event.call_id].echo = event.echo
            case "text" | "thinking" as kind:
                waiting = (
                    part
                    for part in reversed(self._parts)
                    if isinstance(part, _Draft) and part.kind == kind and part.echo is None
                )
                (next(waiting, None) or self._open(kind)).echo = event.echo
