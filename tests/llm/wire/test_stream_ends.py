"""How streams end: errors in an SSE field, ends without a reason, words of other vendors, what follows the end."""

import json
from typing import Any

import pytest

from tark_lsp.errors import ContextOverflow, ModelError, ProtocolError, ServerError, StreamCut
from tark_lsp.llm.answer import AnswerDecoder
from tark_lsp.llm.client import ProviderOverride
from tark_lsp.llm.events import Done, StreamEvent, TextDelta, ToolCallComplete, WireStop
from tark_lsp.llm.provider import load_providers
from tark_lsp.llm.scripted.answer import answer_frames
from tark_lsp.llm.scripted.scenario import Reply
from tark_lsp.llm.wire.sse import SseDecoder
from tark_lsp.llm.wire.wire import NO_QUIRKS, WIRES, Quirks, Wire, load_wire
from tests.llm.asking import ask, built, models_at
from tests.loopback import Loopback, Raw

CHAT = load_wire("openai-chat")
SSE_WIRES = [name for name in WIRES if load_wire(name).framing == "sse"]
NO_REASON = Quirks(finish_reason=False)


def read(
    wire: Wire, body: bytes, quirks: Quirks = NO_QUIRKS, size: int = 1 << 20
) -> tuple[list[StreamEvent], ModelError | None]:
    """Feeds the body in pieces of `size` bytes."""
    answer = AnswerDecoder(wire.parser(quirks), wire.framing)
    events: list[StreamEvent] = []
    for start in range(0, len(body), size):
        events += answer.feed_bytes(body[start : start + size])
        if answer.failure:
            return events, answer.failure
    return events + answer.close(), answer.failure


def sse(*datas: object) -> bytes:
    return b"".join(
        b"data: " + (data if isinstance(data, str) else json.dumps(data)).encode() + b"\n\n" for data in datas
    )


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def finish(reason: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def call(number: int, arguments: str) -> dict[str, Any]:
    function = {"name": f"f{number}", "arguments": arguments}
    return delta(tool_calls=[{"index": number, "id": f"call_{number}", "function": function}])


# --- an error in an SSE field (llama.cpp until 2025, and servers built on it) ----------------------------------------

OVERFLOW = {
    "code": 400,
    "message": "the request exceeds the available context size. try increasing the context size",
    "type": "exceed_context_size_error",
    "n_prompt_tokens": 14429,
    "n_ctx": 8192,
}
FELL_OVER = {"code": 500, "message": "failed to decode, ret = -3", "type": "server_error"}
DONE = b"data: [DONE]\n\n"


def error_field(error: object, line_end: bytes = b"\n", space: bytes = b" ") -> bytes:
    return b"error:" + space + json.dumps(error).encode() + line_end * 2


@pytest.mark.parametrize("wire", SSE_WIRES)
@pytest.mark.parametrize("end", [DONE, b""], ids=["[DONE]", "no end"])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_an_error_in_a_field_is_an_error_on_every_wire(wire: str, end: bytes, line_end: bytes) -> None:
    started = b"".join([*answer_frames(Reply(text="Half of it", cut=True), wire, b'{"model":"m"}', 1)])
    whole = started.rstrip(b"\r\n") + line_end * 2 + error_field(FELL_OVER, line_end) + end
    for size in (1, 7, 1 << 20):
        events, failure = read(load_wire(wire), whole, size=size)
        assert built(events)[0].text == "Half of it"
        assert not any(isinstance(event, Done) for event in events)
        assert failure is not None
        assert "failed to decode, ret = -3" in failure.message


@pytest.mark.parametrize("wire", SSE_WIRES)
def test_an_overflow_in_a_field_is_an_overflow(wire: str) -> None:
    events, failure = read(load_wire(wire), error_field(OVERFLOW) + DONE)
    assert events == []
    assert type(failure) is ContextOverflow


def test_half_a_call_before_an_error_in_a_field_never_completes() -> None:
    events, failure = read(CHAT, sse(call(0, '{"path": "a')) + error_field(FELL_OVER) + DONE)
    assert failure is not None
    assert not any(isinstance(event, ToolCallComplete | Done) for event in events)


FIELDS = [
    (b'error: {"message": "x"}\n\n', [b'{"error":{"message": "x"}}']),
    (b'error:{"message":"x"}\n\n', [b'{"error":{"message":"x"}}']),
    (b"error: {}\n\ndata: a\n\n", [b'{"error":{"message":"no reason given"}}', b"a"]),
    (b'error: {"message": "data: x"}\n\n', [b'{"error":{"message": "data: x"}}']),
    (b'data: a\nerror: {"message": "x"}\ndata: b\n\n', [b"a", b'{"error":{"message": "x"}}', b"b"]),
    (b'event: x\nerror: {"message": "x"}\n\n', [b'{"error":{"message": "x"}}']),
    (b': note\nerror: {"a": 1}\n\ndata: b\n\n', [b'{"error":{"a": 1}}', b"b"]),
    # Not an object, so not more than an unknown field.
    (b"error: it fell over\n\ndata: a\n\n", [b"a"]),
    (b'error: "text"\n\ndata: a\n\n', [b"a"]),
    (b'error: [{"message": "x"}]\n\ndata: a\n\n', [b"a"]),
    (b'error: {"message": "cut\n\ndata: a\n\n', [b"a"]),
    (b"error: {not json}\n\ndata: a\n\n", [b"a"]),
    (b"error\n\ndata: a\n\n", [b"a"]),
    (b'errors: {"message": "x"}\n\ndata: a\n\n', [b"a"]),
]


@pytest.mark.parametrize(("body", "expected"), FIELDS)
def test_what_counts_as_an_error_field(body: bytes, expected: list[bytes]) -> None:
    for split in range(len(body) + 1):
        decoder = SseDecoder()
        events = [*decoder.feed_bytes(body[:split]), *decoder.feed_bytes(body[split:]), *decoder.close()]
        assert [event.data for event in events] == expected


def test_half_an_error_field_at_the_end_is_a_cut_stream() -> None:
    _, failure = read(CHAT, sse(delta(content="Hi")) + b'error: {"code": 500, "mess')
    assert type(failure) is StreamCut


# --- [DONE] without a finish reason ----------------------------------------------------------------------------------

CALLS = {
    "whole": ('{"path": "a"}', True, True),
    "an empty object": ("{}", True, True),
    "empty": ("", False, True),
    "blank": (" \n", False, True),
    "half": ('{"path": "a', False, False),
    "half of a nested one": ('{"edits": [{"a": 1}', False, False),
    "a whole string": ('"a"', False, False),
    "two objects": ("{}{}", False, False),
}
"""Arguments; whether such a call completes; whether it does if the provider never sends a finish reason."""


@pytest.mark.parametrize(("arguments", "completes", "completes_with_flag"), CALLS.values(), ids=CALLS.keys())
@pytest.mark.parametrize("before", ['{"x": 1}', ""], ids=["after a whole call", "after an empty call"])
def test_calls_without_a_finish_reason(arguments: str, completes: bool, completes_with_flag: bool, before: str) -> None:
    body = sse(call(0, before), call(1, arguments), "[DONE]")
    for quirks, whole, first in ((NO_QUIRKS, completes, bool(before)), (NO_REASON, completes_with_flag, True)):
        events, failure = read(CHAT, body, quirks)
        assert failure is None
        done = {event.id: event.arguments for event in events if isinstance(event, ToolCallComplete)}
        assert ("call_0" in done, "call_1" in done) == (first, whole)
        if whole:
            assert done["call_1"] == (arguments if arguments.strip() else "{}")


def test_text_without_a_finish_reason_ends_for_an_unknown_reason() -> None:
    events, failure = read(CHAT, sse(delta(content="Hi"), "[DONE]"))
    assert failure is None
    assert events == [TextDelta("Hi"), Done(WireStop.OTHER, "")]


def test_a_provider_that_never_sends_a_reason_ends_normally() -> None:
    events, failure = read(CHAT, sse(delta(content="Hi"), "[DONE]"), NO_REASON)
    assert failure is None
    assert events == [TextDelta("Hi"), Done(WireStop.END_TURN, "")]


def test_the_flag_does_not_hide_a_reason() -> None:
    events, _ = read(CHAT, sse(call(0, '{"a'), finish("length"), "[DONE]"), NO_REASON)
    assert events[-1] == Done(WireStop.MAX_TOKENS, "length")
    assert not any(isinstance(event, ToolCallComplete) for event in events)


def test_the_rows_of_copilot_have_the_flag_and_no_others() -> None:
    for name, provider in load_providers().items():
        for route in provider.routes:
            sends = name != "copilot" or route.wire != "openai-chat"
            assert route.quirks.finish_reason is sends, (name, route)


@pytest.mark.parametrize(("ref", "stop"), [("own/m", WireStop.OTHER), ("copilot/some-model", WireStop.END_TURN)])
async def test_the_parser_gets_the_row_s_flag(ref: str, stop: WireStop) -> None:
    async with Loopback([Raw([sse(delta(content="Hi"), "[DONE]")])]) as server:
        more = {
            "own": ProviderOverride(f"{server.url}/v1", wire="openai-chat"),
            "copilot": ProviderOverride(server.url, wire="openai-chat"),
        }
        models = models_at(server, more=more, environ={"COPILOT_GITHUB_TOKEN": "gho_test"})
        events, error = await ask(await models.open_model(ref))
        await models.aclose()
    assert error is None
    assert events[-1] == Done(stop, "")


# --- the reasons of other vendors ------------------------------------------------------------------------------------

REASONS = {
    WireStop.END_TURN: ("stop", "eos", "eos_token", "stop_sequence", "end_turn", "STOP", "COMPLETE"),
    WireStop.TOOL_CALLS: ("tool_calls", "function_call", "tool_use", "tool_call", "TOOL_CALLS"),
    WireStop.MAX_TOKENS: ("length", "max_tokens", "MAX_TOKENS", "model_length", "model_context_window_exceeded"),
    WireStop.REFUSAL: ("content_filter", "refusal", "SAFETY", "sensitive"),
    WireStop.OTHER: ("something_new", "unknown", "tool_error"),
}
"""OpenAI, Together, Hugging Face, Mistral, z.ai, and gateways that pass on the words of Anthropic, Cohere, Gemini."""


@pytest.mark.parametrize(
    ("stop", "reason"), [(stop, reason) for stop, reasons in REASONS.items() for reason in reasons]
)
def test_the_reasons_of_vendors(stop: WireStop, reason: str) -> None:
    events, failure = read(CHAT, sse(delta(content="Hi"), call(0, ""), finish(reason), "[DONE]"))
    assert failure is None
    assert events[-1] == Done(stop, reason)
    whole = any(isinstance(event, ToolCallComplete) for event in events)
    assert whole is (stop in (WireStop.END_TURN, WireStop.TOOL_CALLS))


@pytest.mark.parametrize("reason", ["error", "network_error", "insufficient_system_resource", "abort"])
def test_a_reason_that_is_a_failure_is_an_error(reason: str) -> None:
    """OpenRouter and Copilot, z.ai, DeepSeek, vLLM: the server gave up."""
    events, failure = read(CHAT, sse(delta(content="Hi"), finish(reason), "[DONE]"))
    assert events == [TextDelta("Hi")]
    assert isinstance(failure, ServerError)
    assert f"`{reason}`" in failure.message


# --- after the end ---------------------------------------------------------------------------------------------------

START = {"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 3, "output_tokens": 1}}}
TEXT_START = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
TEXT = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
STOP = {"type": "content_block_stop", "index": 0}
REASON = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}
END = {"type": "message_stop"}
MESSAGE = (START, TEXT_START, TEXT, STOP, REASON)
MESSAGES = load_wire("anthropic-messages")
TOOL_START = {
    "type": "content_block_start",
    "index": 1,
    "content_block": {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
}


@pytest.mark.parametrize("place", range(1, len(MESSAGE) + 1))
@pytest.mark.parametrize("second", [START, {"type": "message_start"}, {"type": "message_start", "message": {}}])
def test_a_second_message_inside_a_stream_is_an_error(place: int, second: dict[str, Any]) -> None:
    """A proxy has put two answers into one: their blocks would be mixed, and the usage of one would be lost."""
    body = sse(*MESSAGE[:place], second, *MESSAGE[1:], END)
    for size in (1, 1 << 20):
        events, failure = read(MESSAGES, body, size=size)
        assert type(failure) is ProtocolError
        assert "second" in failure.message
        assert not any(isinstance(event, Done) for event in events)
        assert built(events)[0].text in ("", "Hi")


AFTER: dict[str, object] = {
    "a second message": START,
    "text": TEXT,
    "a block": TEXT_START,
    "a call": TOOL_START,
    "the end of a block": STOP,
    "another reason": {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}},
    "another end": END,
    "an error": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    "a ping": {"type": "ping"},
    "nonsense": "nonsense",
    "[DONE]": "[DONE]",
}


@pytest.mark.parametrize("after", AFTER.values(), ids=AFTER.keys())
def test_nothing_is_read_after_message_stop(after: object) -> None:
    whole, _ = read(MESSAGES, sse(*MESSAGE, END))
    for size in (1, 1 << 20):
        events, failure = read(MESSAGES, sse(*MESSAGE, END, after, after), size=size)
        assert failure is None
        assert events == whole
    assert whole[-1] == Done(WireStop.END_TURN, "end_turn")


ENDINGS = {
    "openai-chat": sse(delta(content="Hi"), finish("stop"), "[DONE]"),
    "openai-responses": sse(
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hi"},
        {"type": "response.completed", "response": {"status": "completed"}},
    ),
    "anthropic-messages": sse(*MESSAGE, END),
    "ollama-chat": b'{"message":{"content":"Hi"},"done":false}\n{"done":true,"done_reason":"stop"}\n',
}


@pytest.mark.parametrize("wire", ENDINGS)
def test_nothing_is_read_after_the_end_of_any_wire(wire: str) -> None:
    """Gemini has no end but that of the connection."""
    whole, failure = read(load_wire(wire), ENDINGS[wire])
    assert failure is None
    twice = ENDINGS[wire] * 2
    for size in (1, 1 << 20):
        assert read(load_wire(wire), twice, size=size) == (whole, None)
    error = b'{"error":"x"}\n' if wire == "ollama-chat" else sse({"type": "error", "error": {"message": "x"}})
    assert read(load_wire(wire), ENDINGS[wire] + error) == (whole, None)
