"""AgentEvent: the events that a running turn reports to its listener."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

from tark_lsp.messages import Message, Usage
from tark_lsp.tools.tool import CallFacts, Location, ToolKind
from tark_lsp.workspace.edits import ProposedEdit


class CallStatus(StrEnum):
    """The states of `toolCall` in protocol.md. WAITING means waiting for the user."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    REJECTED = "rejected"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Whether the status is final."""
        return self not in (CallStatus.PENDING, CallStatus.IN_PROGRESS, CallStatus.WAITING)


@dataclass(frozen=True, slots=True)
class TextChunk:
    delta: str


@dataclass(frozen=True, slots=True)
class ThinkingChunk:
    delta: str


@dataclass(frozen=True, slots=True)
class CallChanged:
    """A tool call changed. A field that is None is unchanged.

    `text` is the result for the model, `edits` are the proposed edits, `facts` are figures for the user.
    """

    call_id: str
    status: CallStatus
    name: str | None = None
    title: str | None = None
    kind: ToolKind | None = None
    arguments: str | None = None
    locations: tuple[Location, ...] | None = None
    edits: tuple[ProposedEdit, ...] | None = None
    text: str | None = None
    facts: CallFacts | None = None


@dataclass(frozen=True, slots=True)
class PlanChanged:
    entries: Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class UsageChanged:
    """`total`: of the turn so far. `context_used`: the tokens of the last request and its answer."""

    total: Usage
    context_used: int
    context_window: int | None


@dataclass(frozen=True, slots=True)
class Notice:
    """A message for the user; `level` is error, warning or info."""

    level: str
    message: str


@dataclass(frozen=True, slots=True)
class Step:
    """One line of progress: what the turn is doing."""

    message: str


@dataclass(frozen=True, slots=True)
class MessageAdded:
    """A message was added to the history. `call_ids` maps the provider's id of each of its calls to Tark's."""

    message: Message
    call_ids: Mapping[str, str] = field(default_factory=dict)


Purpose: TypeAlias = Literal["turn", "compaction", "title", "commit"]
"""The purpose of a request to a model."""


@dataclass(frozen=True, slots=True)
class Requested:
    """A request is sent; `number` counts the requests of the turn from 1."""

    number: int
    model: str
    purpose: Purpose = "turn"


@dataclass(frozen=True, slots=True)
class Answered:
    """The request `number` ended. `stop` is a `WireStop`, the code of an error, or `cancelled`."""

    number: int
    model: str
    usage: Usage
    seconds: float
    stop: str
    purpose: Purpose = "turn"


@dataclass(frozen=True, slots=True)
class HistoryShortened:
    """From now on the tool results are shortened in all messages except the last `kept`."""

    kept: int


@dataclass(frozen=True, slots=True)
class HistoryCompacted:
    """From now on `summary` replaces all messages except the last `kept`."""

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
EventListener: TypeAlias = Callable[[AgentEvent], None]
