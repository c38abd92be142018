"""The types that all layers share: messages and their parts, tool definitions, usage, stop reasons, modes, levels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

FIND_TOOLS = "find_tools"
"""The tool that finds deferred tools."""

Echo: TypeAlias = Mapping[str, Any] | None
"""Opaque provider data that belongs to a part and must be sent back unchanged; None if there is none."""


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    echo: Echo = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """The model's reasoning, as far as the provider shows it; `echo` contains its signature."""

    text: str
    echo: Echo = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`id` is the provider's. `arguments` is raw JSON text, which can be invalid; the tool validates it."""

    id: str
    name: str
    arguments: str
    echo: Echo = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one `ToolCall`, matched by `call_id`.

    `found`: the names of the deferred tools that a search found. `content` describes them, for wires without deferring.
    """

    call_id: str
    content: str
    is_error: bool = False
    images: "tuple[Image, ...]" = ()
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Image:
    mime_type: str
    data: str
    """Base64, without a `data:` prefix."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A whole part that only the provider understands (redacted thinking, a server tool), kept to be sent back."""

    echo: Mapping[str, Any]


Part: TypeAlias = Text | Thinking | ToolCall | ToolResult | Image | Opaque
Role: TypeAlias = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Message:
    """`user`: texts, images. `assistant`: texts, thinking, calls. `tool`: a result for each previous call, in order.

    `model` is the `<provider>/<model>` of an assistant message: its echoes are only sent back to that model.
    """

    role: Role
    parts: tuple[Part, ...]
    model: str = ""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


Loading: TypeAlias = Literal["always", "deferred", "search", "call"]
"""When the model gets a tool.

always    with the first request
deferred  when a search found it, if the wire supports this; otherwise never
search    always: it finds the deferred ones
call      always, but only on a wire that cannot defer: it calls a deferred tool by its name
"""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What the model knows about a tool; `parameters` is a JSON schema of type object.

    `strict`: the provider must enforce the schema. Then it may support only a part of JSON Schema.
    """

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    loading: Loading = "always"
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, or a sum. `input_tokens` includes the cached ones, `output_tokens` the reasoning ones.

    `cost_usd` is None if no price is known.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            sum(costs) if costs else None,
        )


class StopReason(StrEnum):
    """Why a turn ended (protocol.md, "The turn's end")."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_TURN_REQUESTS = "max_turn_requests"
    BUDGET = "budget"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"
    ERROR = "error"


class Mode(StrEnum):
    """What the model can do: `ask` and `plan` offer it only read-only tools and `propose_edit`."""

    ASK = "ask"
    PLAN = "plan"
    BUILD = "build"


class ApprovalLevel(StrEnum):
    """How many actions need the user's permission (the table in safety.md)."""

    MANUAL = "manual"
    CAREFUL = "careful"
    BALANCED = "balanced"
