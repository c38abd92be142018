"""Anthropic Messages in both directions: histories to bodies, and streams of the provider and its proxies to events."""

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest

from tark_lsp.errors import BadRequest, ModelError, Overloaded, ProtocolError, ServerError, StreamCut
from tark_lsp.llm.events import Done, Echo, StreamEvent, TextDelta, ToolCallComplete, WireStop
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.anthropic_messages import WIRE
from tark_lsp.llm.wire.wire import Quirks, TargetModel, ThinkingStyle
from tark_lsp.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolDefinition, ToolResult, Usage
from tests.llm.asking import built, parse_body

REF = "anthropic/claude"
PLAIN = TargetModel(REF, "claude", Quirks(cache_control=False))
USER = Message("user", (Text("Do it."),))
CALL = ToolCall("toolu_1", "read_file", '{"path":"a"}')
USE = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}}
PICTURE = Image("image/png", "QUJD")
PICTURE_SENT = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
SIGNED = Thinking("hm", {"signature": "s"})


def assistant(*parts: Part, model: str = REF) -> Message:
    return Message("assistant", parts, model)


def results(*parts: ToolResult) -> Message:
    return Message("tool", parts)


def result(call_id: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": [{"type": "text", "text": text}], **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def body_of(*messages: Message, target: TargetModel = PLAIN, system: str = "", **request: Any) -> dict[str, Any]:
    return dict(json.loads(WIRE.encode(ChatRequest(system, messages, **request), target)))


HISTORIES: dict[str, tuple[tuple[Message, ...], list[tuple[str, list[Any]]]]] = {
    "text": ((USER,), [("user", [text("Do it.")])]),
    "call and result, then words in the same message": (
        (USER, assistant(Text("Well."), CALL), results(ToolResult("toolu_1", "ok")), USER),
        [
            ("user", [text("Do it.")]),
            ("assistant", [text("Well."), USE]),
            ("user", [result("toolu_1", "ok"), text("Do it.")]),
        ],
    ),
    "a call without its result gets one": (
        (assistant(CALL), USER),
        [
            ("assistant", [USE]),
            ("user", [result("toolu_1", "No result: this call did not run.", is_error=True), text("Do it.")]),
        ],
    ),
    "thinking goes back signed, in its place; unsigned it is dropped": (
        (assistant(SIGNED, Text("a"), Thinking("no"), Thinking("no", {"signature": ""}), CALL), results()),
        [
            ("assistant", [{"type": "thinking", "thinking": "hm", "signature": "s"}, text("a"), USE]),
            ("user", [result("toolu_1", "No result: this call did not run.", is_error=True)]),
        ],
    ),
    "omitted thinking goes back, too": (
        (assistant(Thinking("", {"signature": "s"}), Text("a")), USER),
        [
            ("assistant", [{"type": "thinking", "thinking": "", "signature": "s"}, text("a")]),
            ("user", [text("Do it.")]),
        ],
    ),
    "redacted thinking and unknown blocks go back verbatim": (
        (assistant(Opaque({"type": "redacted_thinking", "data": "x"}), Opaque({"type": "new", "a": [1]})), USER),
        [
            ("assistant", [{"type": "redacted_thinking", "data": "x"}, {"type": "new", "a": [1]}]),
            ("user", [text("Do it.")]),
        ],
    ),
    "but not to another model": (
        (assistant(SIGNED, Opaque({"type": "new"}), Text("a", {"citations": []}), model="anthropic/other"), USER),
        [("assistant", [text("a")]), ("user", [text("Do it.")])],
    ),
    "empty texts are left out": (
        (Message("user", (Text(""), Text(" \n"), Text("a"))), assistant(Text("")), USER),
        [("user", [text("a"), text("Do it.")])],
    ),
    "white space at the very end": (
        (USER, assistant(Text("So \n"))),
        [("user", [text("Do it.")]), ("assistant", [text("So")])],
    ),
    "arguments that are no object": (
        (assistant(replace(CALL, arguments='{"path":')), results(ToolResult("toolu_1", "bad", is_error=True))),
        [
            ("assistant", [{**USE, "input": {"invalid_arguments": '{"path":'}}]),
            ("user", [result("toolu_1", "bad", is_error=True)]),
        ],
    ),
    "empty arguments": (
        (assistant(replace(CALL, arguments="")), results(ToolResult("toolu_1", "ok"))),
        [("assistant", [{**USE, "input": {}}]), ("user", [result("toolu_1", "ok")])],
    ),
    "images": (
        (Message("user", (PICTURE,)), assistant(CALL), results(ToolResult("toolu_1", "ok", images=(PICTURE,)))),
        [
            ("user", [PICTURE_SENT]),
            ("assistant", [USE]),
            ("user", [{**result("toolu_1", "ok"), "content": [text("ok"), PICTURE_SENT]}]),
        ],
    ),
}


@pytest.mark.parametrize(("history", "expected"), HISTORIES.values(), ids=HISTORIES.keys())
def test_history(history: tuple[Message, ...], expected: list[tuple[str, list[Any]]]) -> None:
    sent = body_of(*history)["messages"]
    assert sent == [{"role": role, "content": content} for role, content in expected]


THINKING: dict[str, tuple[ThinkingStyle, str, tuple[Message, ...], Any, Any]] = {
    # style, asked for, history -> thinking, output_config
    "adaptive, auto": ("adaptive", "auto", (USER,), {"type": "adaptive", "display": "summarized"}, None),
    "adaptive, high": (
        "adaptive",
        "high",
        (USER,),
        {"type": "adaptive", "display": "summarized"},
        {"effort": "high"},
    ),
    "adaptive, minimal, which there is not": (
        "adaptive",
        "minimal",
        (USER,),
        {"type": "adaptive", "display": "summarized"},
        {"effort": "low"},
    ),
    "adaptive, off": ("adaptive", "off", (USER,), {"type": "disabled"}, None),
    "budget, off": ("budget", "off", (USER,), None, None),
    "unknown, high": ("unknown", "high", (USER,), {"type": "enabled", "budget_tokens": 20000 - 1024}, None),
    "budget, auto": ("budget", "auto", (USER,), None, None),
    "budget, low": ("budget", "low", (USER,), {"type": "enabled", "budget_tokens": 4096}, None),
    "budget, max, under max_tokens": (
        "budget",
        "max",
        (USER,),
        {"type": "enabled", "budget_tokens": 20000 - 1024},
        None,
    ),
    "budget, in a loop that began without": (
        "budget",
        "low",
        (USER, assistant(CALL), results(ToolResult("toolu_1", "ok"))),
        None,
        None,
    ),
    "budget, in a loop that began with it": (
        "budget",
        "low",
        (USER, assistant(SIGNED, CALL), results(ToolResult("toolu_1", "ok"))),
        {"type": "enabled", "budget_tokens": 4096},
        None,
    ),
    "none": ("none", "high", (USER,), None, None),
    "unknown, auto": ("unknown", "auto", (USER,), None, None),
}


@pytest.mark.parametrize(("style", "asked", "history", "thinking", "output"), THINKING.values(), ids=THINKING.keys())
def test_thinking(style: ThinkingStyle, asked: str, history: tuple[Message, ...], thinking: Any, output: Any) -> None:
    target = replace(PLAIN, thinking=style, max_output_tokens=20_000)
    body = body_of(*history, target=target, thinking=asked)
    assert body.get("thinking") == thinking
    assert body.get("output_config") == output


def test_efforts_use_the_model_s_words() -> None:
    target = replace(PLAIN, thinking="adaptive", efforts=("low", "medium", "high", "xhigh", "max"))
    for level, effort in {"minimal": "low", "medium": "medium", "max": "max"}.items():
        assert body_of(USER, target=target, thinking=level)["output_config"] == {"effort": effort}
    narrow = replace(target, efforts=("low", "high"))
    assert body_of(USER, target=narrow, thinking="max")["output_config"] == {"effort": "high"}


def test_a_budget_that_is_too_large_is_left_out() -> None:
    target = replace(PLAIN, thinking="budget", max_output_tokens=2000)
    assert "thinking" not in body_of(USER, target=target, thinking="high")


@pytest.mark.parametrize(("asked", "known", "sent"), [(None, None, 8192), (None, 64_000, 64_000), (500, 64_000, 500)])
def test_max_tokens(asked: int | None, known: int | None, sent: int) -> None:
    assert body_of(USER, target=replace(PLAIN, max_output_tokens=known), max_output_tokens=asked)["max_tokens"] == sent


READ, WRITE = ToolDefinition("read", "Reads.", {"type": "object"}), ToolDefinition("write", "Writes.")
MARK = {"cache_control": {"type": "ephemeral"}}
LOOP = tuple(
    message
    for number in range(5)
    for message in (
        USER if number == 0 else results(ToolResult(f"toolu_{number}", "ok")),
        assistant(replace(CALL, id=f"toolu_{number + 1}")),
    )
)[:-1]
"""Each request of this loop ends after a message that is not the assistant's."""


def marked_paths(body: dict[str, Any]) -> list[tuple[str, int]]:
    """Of every mark, where it is; in `messages` the message's place."""
    return [
        (section, place)
        for section in ("tools", "system", "messages")
        for place, block in enumerate(body.get(section, ()))
        if "cache_control" in json.dumps(block)
    ]


def test_tools_system_and_the_ends_of_the_last_two_requests_are_marked_for_the_cache() -> None:
    body = body_of(*LOOP, target=TargetModel(REF, "c"), system="Be brief.", tools=(READ, WRITE))
    assert marked_paths(body) == [("tools", 1), ("system", 0), ("messages", 6), ("messages", 8)]
    assert body["system"] == [{**text("Be brief."), **MARK}]
    assert body["messages"][-1]["content"] == [{**result("toolu_4", "ok"), **MARK}]
    assert json.dumps(body).count("cache_control") == 4


def test_in_a_loop_each_request_marks_the_end_of_the_one_before() -> None:
    def prefix(body: dict[str, Any]) -> str:
        bare = json.dumps([body["tools"], body["system"], body["messages"]])
        return bare.replace(f", {json.dumps(MARK)[1:-1]}", "").rstrip("]")

    bodies = [
        body_of(*LOOP[: end + 1], target=TargetModel(REF, "c"), system="Be brief.", tools=(READ, WRITE))
        for end in range(0, len(LOOP), 2)
    ]
    for before, after in itertools.pairwise(bodies):
        assert ("messages", len(before["messages"]) - 1) in marked_paths(after)
        assert prefix(after).startswith(prefix(before))
        assert json.dumps(after).count("cache_control") <= 4


def test_nothing_is_marked_if_the_server_rejects_marks() -> None:
    assert marked_paths(body_of(*LOOP, system="Be brief.", tools=(READ, WRITE))) == []


def test_a_model_without_image_input_gets_a_note() -> None:
    target = replace(PLAIN, quirks=Quirks(cache_control=False, images=False))
    history = (Message("user", (PICTURE,)), assistant(CALL), results(ToolResult("toolu_1", "ok", images=(PICTURE,))))
    sent = body_of(*history, target=target)["messages"]
    note = text("[1 image(s) left out: this model does not accept images]")
    assert sent[0]["content"] == [note]
    assert sent[2]["content"] == [{**result("toolu_1", "ok"), "content": [text("ok"), note]}]


def test_the_body_is_the_same_whatever_the_order_of_the_tools() -> None:
    one = WIRE.encode(ChatRequest("s", (USER,), (READ, WRITE)), PLAIN)
    assert one == WIRE.encode(ChatRequest("s", (USER,), (WRITE, READ)), PLAIN)
    assert json.loads(one)["tools"] == [
        {"name": "read", "description": "Reads.", "input_schema": {"type": "object"}},
        {"name": "write", "description": "Writes.", "input_schema": {"type": "object", "properties": {}}},
    ]


def test_encoding_leaves_the_history_alone() -> None:
    history = (USER, assistant(Opaque({"type": "new"})))
    first = body_of(*history, target=TargetModel(REF, "c"))
    assert body_of(*history, target=TargetModel(REF, "c")) == first
    assert history[1].parts == (Opaque({"type": "new"}),)


# --- bytes -> events ---------------------------------------------------------------------------------------------

START = {"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}
PING = {"type": "ping"}
STOP = {"type": "message_stop"}


def end(reason: str, **usage: int) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage or {"output_tokens": 5}}


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def words(content: str) -> dict[str, Any]:
    return {"type": "text_delta", "text": content}


def pieces(*parts: str) -> list[dict[str, Any]]:
    return [{"type": "input_json_delta", "partial_json": part} for part in parts]


TEXT = block(0, text(""), words("Hi"), words("!"))
TOOL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}


def parse(*events: dict[str, Any] | str) -> tuple[list[StreamEvent], ModelError | None]:
    return parse_body(WIRE, (event if isinstance(event, str) else json.dumps(event) for event in events))


ANSWERS: dict[str, tuple[list[dict[str, Any] | str], tuple[Part, ...]]] = {
    "text, with pings anywhere": ([PING, START, PING, *TEXT, PING, end("end_turn"), STOP], (Text("Hi!"),)),
    "unknown events, [DONE] and all": (
        [START, {"type": "brand_new", "index": 9}, {"no": "type"}, *TEXT, end("end_turn"), STOP, "[DONE]"],
        (Text("Hi!"),),
    ),
    "text that stands in the start": (
        [START, *block(0, text("Hi"), words("!")), end("end_turn"), STOP],
        (Text("Hi!"),),
    ),
    "thinking, its signature set and not added": (
        [
            START,
            *block(
                0,
                {"type": "thinking", "thinking": "", "signature": ""},
                {"type": "thinking_delta", "thinking": "h"},
                {"type": "thinking_delta", "thinking": "m"},
                {"type": "signature_delta", "signature": "old"},
                {"type": "signature_delta", "signature": "s"},
            ),
            *block(1, text(""), words("Hi")),
            end("end_turn"),
            STOP,
        ],
        (SIGNED, Text("Hi")),
    ),
    "two thoughts stay two": (
        [
            START,
            *block(0, {"type": "thinking", "thinking": "a"}),
            *block(1, {"type": "thinking", "thinking": ""}, {"type": "signature_delta", "signature": "s"}),
            end("end_turn"),
            STOP,
        ],
        (Thinking("a", {"signature": ""}), Thinking("", {"signature": "s"})),
    ),
    "redacted thinking": (
        [START, *block(0, {"type": "redacted_thinking", "data": "x"}), end("end_turn"), STOP],
        (Opaque({"type": "redacted_thinking", "data": "x"}),),
    ),
    "a server's tool keeps its input": (
        [
            START,
            *block(0, {"type": "server_tool_use", "id": "s", "name": "web", "input": {}}, *pieces("", '{"q":', '"a"}')),
            *block(1, {"type": "web_search_tool_result", "content": [1]}),
            end("pause_turn"),
            STOP,
        ],
        (
            Opaque({"type": "server_tool_use", "id": "s", "name": "web", "input": {"q": "a"}}),
            Opaque({"type": "web_search_tool_result", "content": [1]}),
        ),
    ),
    "fields of a delta nobody knows": (
        [START, *block(0, {"type": "compaction"}, {"type": "compaction_delta", "content": "c"}), end("end_turn"), STOP],
        (Opaque({"type": "compaction", "content": "c"}),),
    ),
    "citations": (
        [
            START,
            *block(0, text(""), words("Hi"), {"type": "citations_delta", "citation": {"n": 1}}),
            end("end_turn"),
            STOP,
        ],
        (Text("Hi", {"citations": [{"n": 1}]}),),
    ),
    "calls": (
        [
            START,
            *block(0, TOOL, *pieces("", '{"x"', ":1}")),
            *block(1, {**TOOL, "id": "toolu_2"}, *pieces("")),
            *block(2, {**TOOL, "id": "toolu_3", "input": {"y": 2}}),
            end("tool_use"),
            STOP,
        ],
        (ToolCall("toolu_1", "f", '{"x":1}'), ToolCall("toolu_2", "f", "{}"), ToolCall("toolu_3", "f", '{"y":2}')),
    ),
}


@pytest.mark.parametrize(("events", "parts"), ANSWERS.values(), ids=ANSWERS.keys())
def test_answer(events: list[Any], parts: tuple[Part, ...]) -> None:
    parsed, failure = parse(*events)
    assert failure is None
    message, builder = built(parsed)
    assert message.parts == parts
    assert builder.incomplete_calls == ()
    assert [event for event in parsed if isinstance(event, Done)] == [parsed[-1]]


STOPS = [
    ("end_turn", WireStop.END_TURN),
    ("stop_sequence", WireStop.END_TURN),
    ("tool_use", WireStop.TOOL_CALLS),
    ("max_tokens", WireStop.MAX_TOKENS),
    ("model_context_window_exceeded", WireStop.MAX_TOKENS),
    ("refusal", WireStop.REFUSAL),
    ("pause_turn", WireStop.PAUSED),
]


@pytest.mark.parametrize(("reason", "stop"), STOPS)
def test_stop(reason: str, stop: WireStop) -> None:
    assert parse(START, *TEXT, end(reason), STOP)[0][-1] == Done(stop, reason)


def test_a_call_cut_off_is_not_complete() -> None:
    events, failure = parse(START, *block(0, TOOL, *pieces('{"x"')), end("max_tokens"), STOP)
    assert failure is None
    assert built(events)[1].incomplete_calls == ("toolu_1",)
    assert not any(isinstance(event, ToolCallComplete) for event in events)


USAGES: dict[str, tuple[dict[str, int], dict[str, int], Usage]] = {
    "the end replaces the start": ({"input_tokens": 9, "output_tokens": 1}, {"output_tokens": 5}, Usage(9, 0, 0, 5)),
    "the end may say it all": ({"input_tokens": 9}, {"input_tokens": 20, "output_tokens": 5}, Usage(20, 0, 0, 5)),
    "cached tokens count as input": (
        {"input_tokens": 9, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 50},
        {"output_tokens": 5},
        Usage(159, 100, 50, 5),
    ),
}


@pytest.mark.parametrize(("start", "last", "expected"), USAGES.values(), ids=USAGES.keys())
def test_usage(start: dict[str, int], last: dict[str, int], expected: Usage) -> None:
    events, _ = parse({"type": "message_start", "message": {"usage": start}}, *TEXT, end("end_turn", **last), STOP)
    assert built(events)[1].usage == expected


OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
FAILURES: dict[str, tuple[dict[str, Any] | str, type[ModelError]]] = {
    "overloaded": (OVERLOADED, Overloaded),
    "api error": ({"type": "error", "error": {"type": "api_error", "message": "oops"}}, ServerError),
    "an error without its type": ({"error": {"code": 400, "message": "oops"}}, BadRequest),
    "no JSON": ("oops", ProtocolError),
}


@pytest.mark.parametrize(("event", "kind"), FAILURES.values(), ids=FAILURES.keys())
def test_errors_in_the_stream(event: dict[str, Any] | str, kind: type[ModelError]) -> None:
    events, failure = parse(START, *TEXT[:2], event)
    assert events[-1] == TextDelta("Hi")
    assert type(failure) is kind


@pytest.mark.parametrize("seen", range(6))
def test_only_message_stop_ends_an_answer(seen: int) -> None:
    _, failure = parse(*[START, *TEXT, end("end_turn")][:seen])
    assert isinstance(failure, StreamCut)


def test_thinking_is_sent_back_unchanged() -> None:
    thinking = block(0, {"type": "thinking", "thinking": ""}, {"type": "signature_delta", "signature": "s"})
    events, _ = parse(START, *thinking, *block(1, TOOL), end("tool_use"), STOP)
    assert Echo("thinking", {"signature": "s"}) in events
    message, _ = built(events, REF)
    sent = body_of(USER, message, results(ToolResult("toolu_1", "ok")))["messages"][1]
    assert sent["content"] == [
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
    ]


def test_thinking_at_the_end_is_not_sent() -> None:
    """The wire rejects an answer that ends in thinking, so the session could not continue."""
    history = (USER, assistant(SIGNED), USER, assistant(Text("Yes."), SIGNED), USER)
    sent = json.loads(WIRE.encode(ChatRequest("", history), PLAIN))["messages"]
    kinds = [[block["type"] for block in message["content"]] for message in sent if message["role"] == "assistant"]
    assert kinds == [["text"]]


def test_a_call_that_was_refused_before_its_arguments_is_not_complete() -> None:
    start = {"type": "tool_use", "id": "toolu_1", "name": "list_directory", "input": {}}
    events, failure = parse_body(
        WIRE,
        [
            json.dumps({"type": "content_block_start", "index": 0, "content_block": start}),
            json.dumps({"type": "message_delta", "delta": {"stop_reason": "refusal"}}),
            json.dumps({"type": "message_stop"}),
        ],
    )
    assert failure is None
    assert built(events)[1].incomplete_calls == ("toolu_1",)
