"""Turn: one running request of the user, with everything that it needs. TurnEnd: its result."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tark_lsp.agent import events
from tark_lsp.agent.approval import (
    Policy,
    is_read_asked,
    is_read_denied,
    may_ask_below,
    may_hide_below,
    shows_secrets_of,
)
from tark_lsp.agent.edit_check import EditCheck
from tark_lsp.agent.grants import Grant
from tark_lsp.agent.kinds import Kind, level_of, offered_tools
from tark_lsp.agent.lasting import LastingPermissions, NothingLasts
from tark_lsp.agent.limits import Granted
from tark_lsp.agent.loops import LoopDetector
from tark_lsp.agent.receipting import TurnReceipts
from tark_lsp.agent.session import Session
from tark_lsp.agent.taint import describe_sources
from tark_lsp.agent.turn_hooks import NO_HOOKS, TurnHooks
from tark_lsp.agent.user_interface import HunkState, UserInterface
from tark_lsp.context.budget import Estimates
from tark_lsp.errors import TarkError
from tark_lsp.messages import Message, StopReason, ToolCall, Usage
from tark_lsp.settings import Limits
from tark_lsp.tools.tool import Tool, ToolContext

if TYPE_CHECKING:  # imported when a model is asked
    from tark_lsp.llm.events import StreamEvent
    from tark_lsp.llm.request import ChatRequest


class Model(Protocol):
    """One model, ready for requests; `name` is `<provider>/<model>`."""

    @property
    def name(self) -> str: ...
    @property
    def context_window(self) -> int | None: ...
    @property
    def max_output_tokens(self) -> int | None:
        """The longest answer; None if unknown."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether the model runs on the user's machine, so that requests have no price."""
        ...

    def stream(self, request: "ChatRequest") -> "AsyncGenerator[StreamEvent, None]": ...


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
class TurnRequest:
    """The user's request. `prompt` is the first message of the turn, `system` the system prompt."""

    id: str
    kind: Kind
    prompt: Message
    system: str
    calls: tuple[ToolCall, ...] = ()
    """Calls that the user makes in place of a model (`run_given_calls`)."""


@dataclass(slots=True)
class TurnResources:
    """The model, tools and services that a turn uses."""

    model: Model
    tools: Mapping[str, Tool[Any]]
    estimates: Estimates = field(default_factory=Estimates)
    """How models count tokens, learned from their answers. Shared by all turns of a process."""
    edit_check: EditCheck | None = None
    """None if edits are not checked for new errors (`checkAfterEdit`)."""


@dataclass(slots=True)
class Turn:
    """One request of the user, from its prompt to its end. `rules`: the policy at the start of the turn."""

    request: TurnRequest
    session: Session
    resources: TurnResources
    context: ToolContext
    user: UserInterface
    listener: events.EventListener
    rules: Policy
    limits: Limits
    receipts: TurnReceipts = field(default_factory=TurnReceipts)
    lasting: LastingPermissions = field(default_factory=NothingLasts)
    hooks: TurnHooks = NO_HOOKS
    hook_notes: dict[str, list[str]] = field(init=False, default_factory=dict)
    """The notes of hooks about calls, by the provider's call id, until the call has its result."""
    hooks_told: set[str] = field(init=False, default_factory=set)
    granted: Granted = field(init=False)
    compacted: bool = field(init=False, default=False)
    """Whether compaction was attempted in this turn. It is attempted only once."""
    grants: list[Grant] = field(init=False, default_factory=list)
    steering: list[str] = field(init=False, default_factory=list)
    """Prompts of the user to the running turn that were not sent to the model yet."""
    requests: int = field(init=False, default=0)
    usage: Usage = field(init=False, default_factory=Usage)
    answer_text: str = field(init=False, default="")
    tools_run: int = field(init=False, default=0)
    changed_by_command: list[Path] = field(init=False, default_factory=list)
    outcomes: dict[Path, list[HunkState]] = field(init=False, default_factory=dict)
    call_ids: dict[str, str] = field(init=False, default_factory=dict)
    """The provider's call ids in the current answer -> Tark's ids, which clients see."""
    announced: set[str] = field(init=False, default_factory=set)
    """The ids of calls that have a title, because their preview is done."""
    rejected: set[str] = field(init=False, default_factory=set)
    """Digests of the calls and edits that the user rejected. The same one is then rejected without a question."""
    loops: LoopDetector = field(init=False, default_factory=LoopDetector)
    asking: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    """Held while a question to the user is open, so that there is only one at a time."""

    def __post_init__(self) -> None:
        self.granted = Granted(self.limits)
        self.context.is_read_denied = lambda path: is_read_denied(path, self.rules, self.context.workspace)
        self.context.may_hide_below = lambda folders: may_hide_below(folders, self.rules, self.context.workspace)
        self.context.may_ask_below = lambda folders: may_ask_below(folders, self.rules, self.context.workspace)
        self.context.is_read_asked = lambda path: is_read_asked(path, self.rules, self.context.workspace)
        self.context.shows_secrets_of = lambda path: shows_secrets_of(path, self.rules, self.context.workspace)

    def emit(self, event: events.AgentEvent) -> None:
        """Reports an event. All events of the turn pass here, so every call that ends gets its last receipt here."""
        if isinstance(event, events.CallChanged) and event.status.over:
            code = event.facts.exit_code if event.facts is not None else None
            self.receipts.end(event.call_id, f"{event.status}{'' if code is None else f', exit code {code}'}")
        self.listener(event)

    def call_id(self, call: str) -> str:
        return self.call_ids.setdefault(call, f"call-{secrets.token_hex(6)}")

    def add_message(self, message: Message) -> None:
        """Adds a message to the history. All messages of the turn must be added here."""
        self.session.messages.append(message)
        calls = {call.id: self.call_id(call.id) for call in message.tool_calls}
        self.emit(events.MessageAdded(message, calls))

    def policy(self) -> Policy:
        """The current policy. The user can change the level or give a grant while the turn runs."""
        granted = (*self.session.grants, *self.grants, *self.lasting.grants())
        trusted = self.rules.trusted or self.lasting.is_trusted()
        unreviewed = self.user.unreviewed_edits()
        return replace(
            self.rules,
            level=level_of(self.request.kind, self.session.approval),
            grants=granted,
            trusted=trusted,
            unreviewed=unreviewed,
            tainted_by=describe_sources(self.context.outside_sources),
        )

    def offered_tools(self) -> dict[str, Tool[Any]]:
        """The tools of the kind in the current mode. The user and the model can change the mode while the turn runs. A
        mode limits only the model: the user's own calls can use any tool."""
        if self.request.calls:
            return dict(self.resources.tools)
        return offered_tools(
            self.resources.tools, self.request.kind, self.session.mode, selection=self.context.selection is not None
        )

    def keep_grant(self, grant: Grant) -> None:
        if grant.scope == "always":
            if problem := self.lasting.keep(grant):
                self.emit(events.Notice("warning", f"{problem}. So you are asked again for {grant.covers}."))
            return
        given = replace(grant, unreviewed=frozenset(self.user.unreviewed_edits()))
        (self.session.grants if grant.scope == "session" else self.grants).append(given)

    def build_end(self, stop_reason: StopReason, error: TarkError | None = None) -> TurnEnd:
        edits = {path: edit_state(states) for path, states in self.outcomes.items()}
        return TurnEnd(stop_reason, self.answer_text, self.usage, edits, tuple(self.changed_by_command), error)


def take_steering(steering: list[str]) -> list[str]:
    taken = list(steering)
    steering.clear()
    return taken


def edit_state(states: Sequence[HunkState]) -> str:
    """The combined state of a file's hunks, as one of the states in protocol.md ("The turn's end")."""
    kinds = set(states)
    if kinds == {HunkState.APPLIED}:
        return "applied"
    if HunkState.APPLIED in kinds:
        return "partly"
    if HunkState.PENDING in kinds:
        return "pending"
    return "rejected" if kinds == {HunkState.REJECTED} else "failed"
