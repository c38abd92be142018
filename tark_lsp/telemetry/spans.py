"""The spans of turns, with the names of OpenTelemetry's GenAI conventions. Imported only if they are exported.

One trace for each turn: `invoke_agent`, and in it a `chat` for each request and an `execute_tool` for each call. No
span contains a prompt, code, a path, an argument or an error message: only names, numbers, codes and our ids.
https://github.com/open-telemetry/semantic-conventions-genai (docs/gen-ai, as of November 2026; all of it is marked
"development" there).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context

from tark_lsp import __version__
from tark_lsp.agent.call_figures import OTHER, UNKNOWN_TOOL, failure_code
from tark_lsp.agent.events import AgentEvent, Answered, CallChanged, CallStatus, Requested
from tark_lsp.llm.events import WireStop
from tark_lsp.messages import Usage
from tark_lsp.telemetry.observed_turn import ObservedTurn

AGENT = "tark-lsp"
PROVIDERS = {"gemini": "gcp.gemini", "mistral": "mistral_ai", "xai": "x_ai", "copilot": "github.copilot"}
"""Our names -> the well-known names of the conventions, if they differ."""

STOPS = frozenset(stop.value for stop in WireStop)
CANCELLED = "cancelled"


@dataclass(slots=True)
class _Call:
    span: Span
    waiting_since: int | None = None
    waited: int = 0


@dataclass(slots=True)
class _Turn:
    span: Span
    chats: dict[tuple[str, int], Span] = field(default_factory=dict)
    calls: dict[str, _Call] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)


class TurnSpans:
    """All methods take the time `at` of the event, in nanoseconds since 1970: they can be called later."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._turns: dict[str, _Turn] = {}

    def accepted(self, at: int, record: ObservedTurn) -> None:
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": AGENT}
        attributes |= {"gen_ai.agent.version": __version__, **_ids(record), **_model(record.session.model or "")}
        span = self._tracer.start_span(f"invoke_agent {AGENT}", attributes=attributes, start_time=at)
        self._turns[record.id] = _Turn(span)

    def event(self, at: int, record: ObservedTurn, event: AgentEvent) -> None:
        turn = self._turns.get(record.id)
        if turn is None:
            return  # it has ended
        match event:
            case Requested():
                turn.span.set_attributes(_model(event.model))
                turn.chats[event.purpose, event.number] = self._chat(at, record, turn, event)
            case Answered():
                turn.usage += event.usage
                if (chat := turn.chats.pop((event.purpose, event.number), None)) is not None:
                    _end_chat(at, chat, event)
            case CallChanged():
                self._call(at, record, turn, event)
            case _:
                pass

    def ended(self, at: int, record: ObservedTurn, end: Mapping[str, Any]) -> None:
        turn = self._turns.pop(record.id, None)
        if turn is None:
            return
        for span in (*turn.chats.values(), *(call.span for call in turn.calls.values())):
            span.set_attribute("tark.stop_reason", CANCELLED)
            span.end(at)
        turn.span.set_attributes(_usage(turn.usage))
        turn.span.set_attribute("tark.stop_reason", str(end["stopReason"]))
        if (error := end.get("error")) is not None:
            _fail(turn.span, error["code"])
        turn.span.end(at)

    def _chat(self, at: int, record: ObservedTurn, turn: _Turn, event: Requested) -> Span:
        attributes: dict[str, str | int] = {"gen_ai.operation.name": "chat", **_ids(record), **_model(event.model)}
        attributes |= {"gen_ai.request.stream": True, "tark.request.number": event.number}
        attributes |= {"tark.request.purpose": event.purpose}
        name = f"chat {event.model.partition('/')[2]}"
        return self._tracer.start_span(name, set_span_in_context(turn.span), SpanKind.CLIENT, attributes, start_time=at)

    def _call(self, at: int, record: ObservedTurn, turn: _Turn, event: CallChanged) -> None:
        turn.names[event.call_id] = event.name or turn.names.get(event.call_id, OTHER)
        if event.status is CallStatus.PENDING:
            return  # the call is being written or previewed, and does not run yet
        call = turn.calls.get(event.call_id)
        if call is None:
            made_up = event.status is CallStatus.FAILED and failure_code(event.text) == UNKNOWN_TOOL
            name = OTHER if made_up else turn.names[event.call_id]
            call = turn.calls[event.call_id] = _Call(self._tool(at, record, turn, name, event.call_id))
        if call.waiting_since is not None:
            call.waited += at - call.waiting_since
        call.waiting_since = at if event.status is CallStatus.WAITING else None
        if event.status.over:
            del turn.calls[event.call_id], turn.names[event.call_id]
            _end_call(at, call, event)

    def _tool(self, at: int, record: ObservedTurn, turn: _Turn, name: str, call_id: str) -> Span:
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.type": "function"}
        attributes |= {"gen_ai.tool.call.id": call_id, **_ids(record)}
        return self._tracer.start_span(
            f"execute_tool {name}", set_span_in_context(turn.span), attributes=attributes, start_time=at
        )


def _end_chat(at: int, span: Span, event: Answered) -> None:
    span.set_attributes(_usage(event.usage))
    if event.stop in STOPS:
        span.set_attribute("gen_ai.response.finish_reasons", [event.stop])
    elif event.stop == CANCELLED:
        span.set_attribute("tark.stop_reason", CANCELLED)
    else:
        _fail(span, event.stop)
    span.end(at)


def _end_call(at: int, call: _Call, event: CallChanged) -> None:
    call.span.set_attribute("tark.tool.status", event.status.value)
    if call.waited:
        call.span.set_attribute("tark.tool.waited_seconds", call.waited / 1e9)
    if event.status in (CallStatus.FAILED, CallStatus.REJECTED):
        _fail(call.span, failure_code(event.text))
    call.span.end(at)


def _fail(span: Span, code: str) -> None:
    """The error message is left out: it can contain a path or text of a file."""
    span.set_attribute("error.type", code)
    span.set_status(StatusCode.ERROR)


def _ids(record: ObservedTurn) -> dict[str, str]:
    return {"gen_ai.conversation.id": record.session.id, "tark.turn.id": record.id}


def _model(ref: str) -> dict[str, str]:
    """`ref` is `<provider>/<model>`, or empty if it is not known yet."""
    provider, _, model = ref.partition("/")
    return {"gen_ai.provider.name": PROVIDERS.get(provider, provider), "gen_ai.request.model": model} if model else {}


def _usage(usage: Usage) -> dict[str, int | float]:
    found: dict[str, int | float] = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
    }
    known = {name: value for name, value in found.items() if value}
    return known if usage.cost_usd is None else {**known, "tark.usage.cost_usd": usage.cost_usd}
