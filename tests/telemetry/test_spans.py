"""The spans made of a turn's events: their names, attributes and times, and what none of them contains."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from tark_lsp.agent.events import AgentEvent, Answered, CallChanged, CallStatus, Requested, TextChunk
from tark_lsp.messages import Usage
from tark_lsp.telemetry.spans import TurnSpans
from tests.telemetry.turns import END, Record, session

MODEL = "gemini/gemini-3.8-flash"
USAGE = Usage(1000, 400, 100, 50, 20, 0.25)
SECOND = 10**9
FAILED = json.dumps({"error": {"code": "not_found", "message": "no file /home/me/secret.py"}})
UNKNOWN = json.dumps({"error": {"code": "unknown_tool", "message": "there is no tool 'rm the secret'"}})
PENDING, WAITING, RUNNING = CallStatus.PENDING, CallStatus.WAITING, CallStatus.IN_PROGRESS
DONE, REJECTED, CANCELLED = CallStatus.COMPLETED, CallStatus.REJECTED, CallStatus.CANCELLED


def spans_of(
    *events: AgentEvent, end: Mapping[str, Any] = END, record: Record | None = None
) -> dict[str, ReadableSpan]:
    """The spans by name. The turn begins at second 0; each event and the end follow one second later."""
    memory, provider, record = InMemorySpanExporter(), TracerProvider(), record or Record()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    spans = TurnSpans(provider.get_tracer("test"))
    spans.accepted(0, record)
    for second, event in enumerate(events, 1):
        spans.event(second * SECOND, record, event)
    spans.ended((len(events) + 1) * SECOND, record, end)
    spans.event(99 * SECOND, record, Requested(9, MODEL))  # too late
    return {span.name: span for span in memory.get_finished_spans()}


def seconds(span: ReadableSpan) -> tuple[float, float]:
    assert span.start_time is not None
    assert span.end_time is not None
    return span.start_time / SECOND, span.end_time / SECOND


def test_a_request_is_a_chat_below_its_turn() -> None:
    spans = spans_of(Requested(1, MODEL), TextChunk("words"), Answered(1, MODEL, USAGE, 2.0, "end_turn"))
    turn, chat = spans["invoke_agent tark-lsp"], spans["chat gemini-3.8-flash"]
    ids = {"gen_ai.conversation.id": "session-0123456789ab", "tark.turn.id": "turn-0123456789ab"}
    model = {"gen_ai.provider.name": "gcp.gemini", "gen_ai.request.model": "gemini-3.8-flash"}
    usage = {
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.cache_read.input_tokens": 400,
        "gen_ai.usage.cache_creation.input_tokens": 100,
        "gen_ai.usage.output_tokens": 50,
        "gen_ai.usage.reasoning.output_tokens": 20,
        "tark.usage.cost_usd": 0.25,
    }
    assert dict(chat.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.stream": True,
        "gen_ai.response.finish_reasons": ("end_turn",),
        "tark.request.number": 1,
        "tark.request.purpose": "turn",
        **ids,
        **model,
        **usage,
    }
    assert dict(turn.attributes or {}) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "tark-lsp",
        "gen_ai.agent.version": (turn.attributes or {})["gen_ai.agent.version"],
        "tark.stop_reason": "end_turn",
        **ids,
        **model,
        **usage,
    }
    assert (turn.kind, chat.kind) == (SpanKind.INTERNAL, SpanKind.CLIENT)
    assert (seconds(turn), seconds(chat)) == ((0, 4), (1, 3))
    assert chat.parent is not None
    assert turn.context is not None
    assert (turn.parent, chat.parent.span_id) == (None, turn.context.span_id)


def test_the_model_may_be_known_with_the_first_request_only() -> None:
    record = Record(session=session(None))
    spans = spans_of(Requested(1, "openai/gpt-5"), Answered(1, "openai/gpt-5", Usage(), 1.0, "other"), record=record)
    attributes = spans["invoke_agent tark-lsp"].attributes or {}
    assert (attributes["gen_ai.provider.name"], attributes["gen_ai.request.model"]) == ("openai", "gpt-5")
    assert not [name for name in attributes if "usage" in name]  # unknown, which is not zero


@pytest.mark.parametrize(
    ("stop", "told"),
    [
        ("tool_calls", {"gen_ai.response.finish_reasons": ("tool_calls",)}),
        ("rate_limited", {"error.type": "rate_limited"}),
        ("cancelled", {"tark.stop_reason": "cancelled"}),
    ],
)
def test_how_a_request_ends(stop: str, told: Mapping[str, object]) -> None:
    chat = spans_of(Requested(1, MODEL), Answered(1, MODEL, USAGE, 1.0, stop))["chat gemini-3.8-flash"]
    names = {"gen_ai.response.finish_reasons", "error.type", "tark.stop_reason"}
    assert {name: value for name, value in (chat.attributes or {}).items() if name in names} == told
    assert (chat.status.status_code is StatusCode.ERROR) == ("error.type" in told)


CALLS: dict[str, tuple[list[CallChanged], str, tuple[float, float], dict[str, object]]] = {
    "it runs": (
        [CallChanged("c", PENDING, "read_file"), CallChanged("c", RUNNING), CallChanged("c", DONE)],
        "execute_tool read_file",
        (2, 3),
        {"tark.tool.status": "completed"},
    ),
    "it waits for the person first": (
        [CallChanged("c", PENDING, "run_command"), *(CallChanged("c", status) for status in (WAITING, RUNNING, DONE))],
        "execute_tool run_command",
        (2, 4),
        {"tark.tool.status": "completed", "tark.tool.waited_seconds": 1.0},
    ),
    "an edit that is asked about": (
        [CallChanged("c", PENDING, "edit_file"), CallChanged("c", WAITING), CallChanged("c", REJECTED, text="{")],
        "execute_tool edit_file",
        (2, 3),
        {"tark.tool.status": "rejected", "tark.tool.waited_seconds": 1.0, "error.type": "_OTHER"},
    ),
    "it never runs": (
        [CallChanged("c", PENDING, "read_file"), CallChanged("c", CallStatus.FAILED, "read_file", text=FAILED)],
        "execute_tool read_file",
        (2, 2),
        {"tark.tool.status": "failed", "error.type": "not_found"},
    ),
    "its tool is made up": (
        [
            CallChanged("c", PENDING, "rm the secret"),
            CallChanged("c", CallStatus.FAILED, "rm the secret", text=UNKNOWN),
        ],
        "execute_tool _OTHER",
        (2, 2),
        {"tark.tool.status": "failed", "error.type": "unknown_tool", "gen_ai.tool.name": "_OTHER"},
    ),
    "it is cancelled": (
        [CallChanged("c", PENDING, "read_file"), CallChanged("c", RUNNING), CallChanged("c", CANCELLED)],
        "execute_tool read_file",
        (2, 3),
        {"tark.tool.status": "cancelled"},
    ),
    "the turn ends before it": (
        [CallChanged("c", PENDING, "read_file"), CallChanged("c", RUNNING)],
        "execute_tool read_file",
        (2, 3),
        {"tark.stop_reason": "cancelled"},
    ),
}


@pytest.mark.parametrize(("events", "name", "times", "told"), CALLS.values(), ids=CALLS.keys())
def test_a_call(events: list[CallChanged], name: str, times: tuple[float, float], told: dict[str, object]) -> None:
    spans = spans_of(*events)
    span = spans[name]
    fixed = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name.split()[1],
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c",
        "gen_ai.conversation.id": "session-0123456789ab",
        "tark.turn.id": "turn-0123456789ab",
    }
    assert dict(span.attributes or {}) == {**fixed, **told}
    assert seconds(span) == times
    assert (span.status.status_code is StatusCode.ERROR) == ("error.type" in told)
    assert len(spans) == 2


def test_a_call_that_only_was_written_has_no_span() -> None:
    assert list(spans_of(CallChanged("c", PENDING, "read_file"))) == ["invoke_agent tark-lsp"]


def test_no_words_of_anybody_s_are_in_a_span() -> None:
    secret = "the secret"
    call = CallChanged("c", RUNNING, "edit_file", f"edit {secret}.py", arguments=f'{{"path": "{secret}"}}', text=secret)
    error = {"code": "authentication", "message": f"{secret} key", "hint": secret}
    spans = spans_of(
        Requested(1, MODEL),
        TextChunk(secret),
        Answered(1, MODEL, USAGE, 1.0, "tool_calls"),
        call,
        CallChanged("c", CallStatus.FAILED, "edit_file", text=UNKNOWN),
        end={**END, "stopReason": "error", "error": error},
    )
    assert len(spans) == 3
    assert "secret" not in "".join(span.to_json() for span in spans.values())
    assert (spans["invoke_agent tark-lsp"].attributes or {})["error.type"] == "authentication"
