"""`ResponseEncoder` converts the events of a model into the events of the Responses API, item by item. Pure.

An answer is a queue of drafts. Each event of the model adds to a draft, or appends a new one. Only the first draft is
streamed; when it ends, the next one is streamed. So items never overlap, whatever the order of the model's events. A
text ends when something else follows. A call ends when the model says so, or when something follows and the arguments
are a complete object: Chat Completions reports only at the end of an answer that its calls are complete.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tark_lsp.gateway.calls import call_fields, call_text, log_malformed
from tark_lsp.gateway.items import SHAPES, Event, Item, Kind, Status
from tark_lsp.gateway.problems import SERVER, Problem
from tark_lsp.gateway.reasoning_state import write_state
from tark_lsp.gateway.response import ended, failed
from tark_lsp.gateway.tools import ToolSet
from tark_lsp.llm.events import (
    Done,
    Echo,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
    UsageUpdate,
    WireStop,
)
from tark_lsp.llm.wire.sendable_history import replace_ids
from tark_lsp.llm.wire.tool_calls import is_json_object
from tark_lsp.messages import Usage

MAX_CHARACTERS = 64 * 1024 * 1024
"""Limit for an answer, which stays in memory until it ends."""


@dataclass(slots=True, eq=False)
class _Draft:
    """An item that is not finished. `pieces`: text that is not streamed yet.

    `sealed`: nothing will be added. `held`: a call that an echo can still precede. `arguments`: all pieces of a call's
    arguments. `whole`: whether these are a complete object; None if not known.
    """

    kind: Kind
    pieces: list[str] = field(default_factory=list)
    echoes: list[Echo] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    item: Item | None = None
    sealed: bool = False
    held: bool = False
    status: Status = "completed"
    is_call: bool = False
    arguments: list[str] = field(default_factory=list)
    whole: bool | None = None

    def add(self, piece: str) -> None:
        """Add a piece of a call's arguments."""
        self.arguments.append(piece)
        self.pieces.append(piece)
        self.whole = None

    @property
    def can_end(self) -> bool:
        if self.whole is None:  # cached, so that long or interleaved calls are not parsed again for each event
            ends = not self.arguments or self.arguments[-1].rstrip().endswith("}")
            self.whole = ends and is_json_object("".join(self.arguments))
        return self.sealed or not self.is_call or self.whole


class ResponseEncoder:
    """`response` is the response so far; after the last event it is the whole result. `usage`: None if unknown.

    `model` is `<provider>/<model>`. `new_id` makes a unique id that begins with the given prefix. `clock`: seconds
    since 1970.
    """

    def __init__(
        self,
        response: Mapping[str, Any],
        model: str,
        tools: ToolSet,
        new_id: Callable[[str], str],
        clock: Callable[[], float],
    ) -> None:
        self.response = dict(response)
        self._model = model
        self._tools = tools
        self._new_id = new_id
        self._clock = clock
        self._drafts: deque[_Draft] = deque()
        self._calls: dict[str, _Draft] = {}
        self._ids: dict[str, str] = {}  # of calls: the provider's id, ours
        self._output: list[dict[str, Any]] = []
        self.usage: Usage | None = None
        self._held: _Draft | None = None
        self._sequence = 0
        self._characters = 0

    def begin(self) -> list[Event]:
        """The first events. They contain nothing of the answer."""
        return self._number(
            [{"type": kind, "response": self.response} for kind in ("response.created", "response.in_progress")]
        )

    def feed(self, event: StreamEvent) -> list[Event]:
        """Convert one event of the model. `Done` returns the last events. Raises Problem if the answer is too long."""
        if self._held is not None and not (isinstance(event, Echo) and event.of == "call"):
            self._held.held, self._held = False, None
        match event:
            case TextDelta(text, is_refusal):
                self._add_text("refusal" if is_refusal else "message", text)
            case ThinkingDelta(text):
                self._add_text("reasoning", text)
            case ToolCallStart():
                self._start_call(event)
            case ToolCallDelta(id, piece):
                self._count(piece)
                self._calls[id].add(piece)
            case ToolCallComplete(id, arguments):
                self._count(arguments)
                self._complete_call(self._calls[id], arguments)
            case Echo():
                self._keep_echo(event)
            case UsageUpdate(usage):
                self.usage = usage
            case Done(stop, raw):
                return self._number(self._finish(stop, raw))
            case _:
                return []
        return self._number(self._advance())

    def fail(self, problem: Problem) -> list[Event]:
        """End the response. Items that are not finished get no closing events."""
        self.response = failed(self.response, self._output, self.usage, problem)
        return self._number([{"type": "response.failed", "response": self.response}])

    # --- events to drafts ---------------------------------------------------------------------------------------

    def _add_text(self, kind: Kind, text: str) -> None:
        if not text:
            return
        self._count(text)
        last = self._drafts[-1] if self._drafts else None
        if last is None or last.kind != kind or last.sealed:
            last = self._new_draft(_Draft(kind))
        last.pieces.append(text)

    def _count(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > MAX_CHARACTERS:
            message = f"the model's answer has more than {MAX_CHARACTERS} characters"
            raise Problem(502, SERVER, "upstream_protocol", message)

    def _start_call(self, event: ToolCallStart) -> None:
        tool = self._tools.tools.get(event.name)
        ours = self._ids[event.id] = self._new_id("call")
        kind, fields = call_fields(tool, event.name, ours)
        draft = self._new_draft(_Draft(kind, fields=fields, is_call=True, held=True))
        self._calls[event.id] = self._held = draft

    def _complete_call(self, draft: _Draft, arguments: str) -> None:
        """Add the part of the arguments that was not streamed. `arguments` replace the pieces if they differ."""
        streamed = "".join(draft.arguments)
        if not draft.sealed and arguments.startswith(streamed):
            if rest := arguments[len(streamed) :]:
                draft.add(rest)
        elif not draft.sealed and draft.item is None:
            draft.arguments[:] = draft.pieces[:] = [arguments]
        draft.sealed = True

    def _keep_echo(self, echo: Echo) -> None:
        """Put an echo into a reasoning item: the current one, a new one before its call, or a new one at the end.

        A text's phase is a field of its message. `history.py` reads the items in this order, by the rules of
        `MessageBuilder`.
        """
        last = self._drafts[-1] if self._drafts else None
        if echo.of == "call":
            draft = self._calls[echo.call_id]
            kept = Echo("call", echo.echo, self._ids[echo.call_id])
            self._new_draft(_Draft("reasoning", echoes=[kept], sealed=True), before=draft)
            return
        kept = Echo(echo.of, replace_ids(echo.echo, self._ids))
        if last is not None and not last.is_call and not last.sealed:
            last.sealed = True
            if echo.of == "thinking" and last.kind == "reasoning":
                last.echoes.append(kept)
                return
            if echo.of == "text" and last.kind == "message" and echo.echo.keys() == {"phase"}:
                last.fields["phase"] = echo.echo["phase"]
                return
        self._new_draft(_Draft("reasoning", echoes=[kept], sealed=True))

    def _new_draft(self, draft: _Draft, before: _Draft | None = None) -> _Draft:
        if before is not None and before.item is None and before in self._drafts:
            self._drafts.insert(self._drafts.index(before), draft)
        else:
            self._drafts.append(draft)
        return draft

    # --- drafts to events ---------------------------------------------------------------------------------------

    def _advance(self) -> list[Event]:
        """Stream the first draft. Whenever a draft has ended, stream the next one."""
        events: list[Event] = []
        while self._drafts:
            draft = self._drafts[0]
            if draft.held:
                break
            events += self._stream(draft)
            if not (draft.sealed or (len(self._drafts) > 1 and draft.can_end)):
                break
            events += self._close(draft)
            self._drafts.popleft()
        return events

    def _stream(self, draft: _Draft) -> list[Event]:
        events: list[Event] = []
        if draft.item is None:
            draft.item = Item(draft.kind, self._new_id(SHAPES[draft.kind].id_prefix), len(self._output), draft.fields)
            events += draft.item.open()
        if draft.pieces and (not draft.is_call or draft.kind == "function_call"):
            events += draft.item.add("".join(draft.pieces))
            draft.pieces.clear()
        return events

    def _close(self, draft: _Draft) -> list[Event]:
        item, events = draft.item, []
        assert item is not None
        draft.sealed = True
        fields = dict(draft.fields)
        if draft.is_call:
            arguments = "".join(draft.arguments)
            log_malformed(item.id, arguments)
            text, more = call_text(draft.kind, arguments)
            fields |= more
            if draft.kind != "function_call" and text:
                events += item.add(text)
        elif draft.kind == "reasoning":
            fields["encrypted_content"] = write_state(self._model, draft.echoes)
        events += item.close(draft.status, fields)
        self._output.append(events[-1]["item"])
        return events

    def _finish(self, stop: WireStop, raw: str) -> list[Event]:
        """End all drafts. Calls that the model did not complete are incomplete."""
        for draft in self._drafts:
            if not draft.sealed:
                draft.status = "incomplete" if draft.is_call or stop is WireStop.MAX_TOKENS else "completed"
            draft.sealed, draft.held = True, False
        events = self._advance()
        usage, now = self.usage or Usage(), int(self._clock())
        self.response = ended(self.response, self._output, usage, stop, raw, now)
        return [*events, {"type": f"response.{self.response['status']}", "response": self.response}]

    def _number(self, events: list[Event]) -> list[Event]:
        for event in events:
            event["sequence_number"] = self._sequence
            self._sequence += 1
        return events
