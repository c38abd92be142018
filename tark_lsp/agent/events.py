"""AgentEvent: what a turn tells its listener while it runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

from tark_lsp.messages import Message, Usage
from tark_lsp.tools.tool import Location, ToolKind
from tark_lsp.workspace.edits import ProposedEdit


class CallStatus(StrEnum):
    """protocol.md, `toolCall`. WAITING: for the person."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    REJECTED = "rejected"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Whether it is final."""
        return self not in (CallStatus.PENDING, CallStatus.IN_PROGRESS, CallStatus.WAITING)


@dataclass(frozen=True, slots=True)
class TextChunk:
    delta: str


@dataclass(frozen=True, slots=True)
class ThinkingChunk:
    delta: str


@dataclass(frozen=True, slots=True)
class CallChanged:
    """One tool call got further. None: as it was. `text` is what the model was told, `edits` what it proposes."""

    call_id: str
    status: CallStatus
    name: str | None = None
    title: str | None = None
    kind: ToolKind | None = None
    arguments: str | None = None
    locations: tuple[Location, ...] | None = None
    edits: tuple[ProposedEdit, ...] | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class PlanChanged:
    entries: Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class UsageChanged:
    """`total` of the turn so far; `context_used` are the tokens of the last request and its answer."""

    total: Usage
    context_used: int
    context_window: int | None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know; `level` is error, warning or info."""

    level: str
    message: str


@dataclass(frozen=True, slots=True)
class Step:
    """One line on what the turn is at, for the progress."""

    message: str


@dataclass(frozen=True, slots=True)
class MessageAdded:
    """A message entered the history. `call_ids`: the provider's id of each of its calls -> ours."""

    message: Message
    call_ids: Mapping[str, str] = field(default_factory=dict)


Purpose: TypeAlias = Literal["turn", "compaction", "title"]
"""What a request to a model was made for."""


@dataclass(frozen=True, slots=True)
class Requested:
    """A request goes out; `number` counts those of the turn from 1."""

    number: int
    model: str
    purpose: Purpose = "turn"


@dataclass(frozen=True, slots=True)
class Answered:
    """The request with that number is over. `stop`: the wire's word for how, or an error's code, or `cancelled`."""

    number: int
    model: str
    usage: Usage
    seconds: float
    stop: str
    purpose: Purpose = "turn"


@dataclass(frozen=True, slots=True)
class HistoryShortened:
    """From now on the tool results in all but the last `kept` messages are told shortened."""

    kept: int


@dataclass(frozen=True, slots=True)
class HistoryCompacted:
    """From now on `summary` stands for all but the last `kept` messages."""

    summary: Message
    kept: int


AgentEvent: TypeAlias = (
    TextChunk
    | ThinkingChunk
    | CallChanged
    | PlanChanged
    | UsageChanged
    | Notice
    | Step
    | MessageAdded
    | Requested
    | Answered
    | HistoryShortened
    | HistoryCompacted
)
Listener: TypeAlias = Callable[[AgentEvent], None]
