"""Turn: one request of the person's while it runs, with everything it needs handed in; TurnEnd: what came of it."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from tark_lsp.agent import events
from tark_lsp.agent.approval import Grant, Policy, asked_about, closed
from tark_lsp.agent.gate import Gate
from tark_lsp.agent.kinds import Kind, offered_tools
from tark_lsp.agent.limits import Limits
from tark_lsp.agent.person import HunkState, Person
from tark_lsp.agent.repetition import Repetition
from tark_lsp.agent.session import Session
from tark_lsp.context.budget import Estimates
from tark_lsp.errors import TarkError
from tark_lsp.llm.events import StreamEvent
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import Message, StopReason, Usage
from tark_lsp.tools.tool import Tool, ToolContext


class Model(Protocol):
    """One model, ready to be asked; `name` is `<provider>/<model>`."""

    @property
    def name(self) -> str: ...
    @property
    def context_window(self) -> int | None: ...
    @property
    def max_output_tokens(self) -> int | None:
        """The longest answer; None where unknown."""
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]: ...


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """`text`: the last assistant message. `edits`: applied, partly, rejected, pending or failed, by path."""

    stop_reason: StopReason
    text: str
    usage: Usage
    edits: Mapping[Path, str]
    changed_by_command: Sequence[Path] = ()
    error: TarkError | None = None


@dataclass(slots=True)
class Turn:
    """One request of the person's, from its prompt to its end; everything it needs is handed in."""

    id: str
    session: Session
    kind: Kind
    prompt: Message
    system: str
    model: Model
    tools: Mapping[str, Tool[Any]]
    context: ToolContext
    person: Person
    emit: events.Listener
    rules: Policy
    limits: Limits
    estimates: Estimates = field(default_factory=Estimates)
    """Shared by all turns of a process: what was learned of how models count tokens."""
    compacted: bool = False
    """The history was summed up in this turn, or that was given up: once is enough."""
    gate: Gate | None = None
    """None: nobody looks at what an edit breaks (`checkAfterEdit`)."""
    grants: list[Grant] = field(default_factory=list)
    steering: list[str] = field(default_factory=list)
    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    text: str = ""
    tools_run: int = 0
    changed_by_command: list[Path] = field(default_factory=list)
    outcomes: dict[Path, list[HunkState]] = field(default_factory=dict)
    call_ids: dict[str, str] = field(default_factory=dict)
    """The provider's call id (of the answer at hand) -> ours, which clients see."""
    rejected: set[str] = field(default_factory=set)
    """Digests of what the person said no to: the same again is rejected without asking."""
    repetition: Repetition = field(default_factory=Repetition)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Questions to the person come one at a time."""

    def __post_init__(self) -> None:
        self.context.closed = lambda path: closed(path, self.rules, self.context.workspace)
        self.context.asked_about = lambda path: asked_about(path, self.rules, self.context.workspace)

    def call_id(self, call: str) -> str:
        return self.call_ids.setdefault(call, f"call-{secrets.token_hex(6)}")

    def say(self, message: Message) -> None:
        """The one way a message of the turn enters the history."""
        self.session.messages.append(message)
        calls = {call.id: self.call_id(call.id) for call in message.tool_calls}
        self.emit(events.MessageAdded(message, calls))

    def policy(self) -> Policy:
        """As it is at this moment: the person may change the level or grant something while the turn runs."""
        granted = (*self.session.grants, *self.grants)
        return replace(self.rules, level=self.session.approval, grants=granted)

    def offered(self) -> dict[str, Tool[Any]]:
        """The tools of the kind in the mode of this moment, which person and model may change while the turn runs."""
        return offered_tools(self.tools, self.kind, self.session.mode, selection=self.context.selection is not None)

    def keep(self, grant: Grant) -> None:
        (self.session.grants if grant.scope == "session" else self.grants).append(grant)

    def end(self, stop_reason: StopReason, error: TarkError | None = None) -> TurnEnd:
        edits = {path: edit_state(states) for path, states in self.outcomes.items()}
        return TurnEnd(stop_reason, self.text, self.usage, edits, tuple(self.changed_by_command), error)


def edit_state(states: Sequence[HunkState]) -> str:
    """What became of a file's hunks, in one word of protocol.md ("The turn's end")."""
    kinds = set(states)
    if kinds == {HunkState.APPLIED}:
        return "applied"
    if HunkState.APPLIED in kinds:
        return "partly"
    if HunkState.PENDING in kinds:
        return "pending"
    return "rejected" if kinds == {HunkState.REJECTED} else "failed"
