"""Ollama's wire in both directions: histories to messages, the requested window, lines to events; one row per rule."""

import json
import random
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import ContextOverflow, ModelError, ProtocolError, StreamCut
from tark_lsp.llm.events import (
    Done,
    Echo,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallComplete,
    ToolCallStart,
    UsageUpdate,
    WireStop,
)
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.ollama_chat import WIRE
from tark_lsp.llm.wire.wire import Quirks, TargetModel, ThinkingStyle
from tark_lsp.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolDefinition, ToolResult, Usage
from tests.llm.asking import built, parse, single_bytes
from tests.llm.wire.recordings import SHARED, needs_shared

REF = "ollama/qwen3:14b"
TARGET = TargetModel(REF, "qwen3:14b")
USER = Message("user", (Text("Do it."),))
USER_SENT = {"role": "user", "content": "Do it."}
CALL = ToolCall("call_1", "read_file", '{"path":"a"}')
CALL_SENT = {"function": {"name": "read_file", "arguments": {"path": "a"}}}
NO_RESULT = {"role": "tool", "tool_name": "read_file", "content": "Error: No result: this call did not run."}
PICTURE = Image("image/png", "QUJD")


def assistant(*parts: Part, model: str = REF) -> Message:
    return Message("assistant", parts, model)


def results(*parts: ToolResult) -> Message:
    return Message("tool", parts)


def body_of(*messages: Message, target: TargetModel = TARGET, system: str = "", **request: Any) -> dict[str, Any]:
    return dict(json.loads(WIRE.encode(ChatRequest(system, messages, **request), target)))


HISTORIES: dict[str, tuple[tuple[Message, ...], list[dict[str, Any]]]] = {
    "text": ((USER,), [USER_SENT]),
    "parallel calls, results in the calls' order, an error that says so": (
        (
            USER,
            assistant(Text("Well."), CALL, ToolCall("call_2", "list", "")),
            results(ToolResult("call_2", "b", is_error=True), ToolResult("call_1", "a")),
        ),
        [
            USER_SENT,
            {
                "role": "assistant",
                "content": "Well.",
                "tool_calls": [CALL_SENT, {"function": {"name": "list", "arguments": {}}}],
            },
            {"role": "tool", "tool_name": "read_file", "content": "a"},
            {"role": "tool", "tool_name": "list", "content": "Error: b"},
        ],
    ),
    "an id goes back where the server gave one": (
        (assistant(replace(CALL, id="x9", echo={"id": "x9"})), results(ToolResult("x9", "a"))),
        [
            {"role": "assistant", "content": "", "tool_calls": [{"id": "x9", **CALL_SENT}]},
            {"role": "tool", "tool_name": "read_file", "tool_call_id": "x9", "content": "a"},
        ],
    ),
    "our failures say so themselves": (
        (assistant(CALL), results(ToolResult("call_1", '{"ok": false}', is_error=True))),
        [
            {"role": "assistant", "content": "", "tool_calls": [CALL_SENT]},
            {"role": "tool", "tool_name": "read_file", "content": '{"ok": false}'},
        ],
    ),
    "its own thinking": (
        (assistant(Thinking("Hm. "), Text("a"), Thinking("So.")),),
        [{"role": "assistant", "content": "a", "thinking": "Hm. So."}],
    ),
    "another's thinking": (
        (assistant(Thinking("Hm."), Text("a"), model="openai/gpt"),),
        [{"role": "assistant", "content": "a"}],
    ),
    "arguments that are no object never ran, and the model sees them": (
        (assistant(replace(CALL, arguments='{"path":')),),
        [
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"function": {"name": "read_file", "arguments": {"invalid_arguments": '{"path":'}}},
                ],
            },
            NO_RESULT,
        ],
    ),
    "pictures": (
        (
            Message("user", (Text("Look."), PICTURE)),
            assistant(CALL),
            results(ToolResult("call_1", "seen", images=(PICTURE,))),
        ),
        [
            {"role": "user", "content": "Look.", "images": ["QUJD"]},
            {"role": "assistant", "content": "", "tool_calls": [CALL_SENT]},
            {"role": "tool", "tool_name": "read_file", "content": "seen"},
            {"role": "user", "content": "The images of the tool results above:", "images": ["QUJD"]},
        ],
    ),
}


@pytest.mark.parametrize(("messages", "sent"), HISTORIES.values(), ids=HISTORIES)
def test_history(messages: tuple[Message, ...], sent: list[dict[str, Any]]) -> None:
    body = body_of(*messages)
    assert body.pop("messages") == sent
    assert body.pop("options") == {"num_ctx": 16384 if "QUJD" in json.dumps(sent) else 8192}
    assert body == {"model": "qwen3:14b", "stream": True, "truncate": False, "shift": False}


def test_a_note_replaces_images_that_a_model_does_not_accept() -> None:
    body = body_of(
        Message("user", (PICTURE, PICTURE)),
        assistant(CALL),
        results(ToolResult("call_1", "seen", images=(PICTURE,))),
        target=replace(TARGET, quirks=Quirks(images=False)),
    )
    assert "QUJD" not in json.dumps(body)
    assert body["messages"][0]["content"] == "[2 image(s) left out: this model does not accept images]"
    assert "[1 image(s) left out" in body["messages"][-1]["content"]


def test_tools_and_system() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    tools = (ToolDefinition("b", "B.", schema), ToolDefinition("a", "A."))
    body = body_of(USER, system="Be brief.", tools=tools, max_output_tokens=100)
    assert body["messages"] == [{"role": "system", "content": "Be brief."}, USER_SENT]
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "a", "description": "A.", "parameters": {"type": "object", "properties": {}}},
        },
        {"type": "function", "function": {"name": "b", "description": "B.", "parameters": schema}},
    ]
    assert body["options"] == {"num_ctx": 8192, "num_predict": 100}


@pytest.mark.parametrize(
    ("style", "efforts", "level", "sent"),
    [
        ("switch", (), "auto", None),
        ("switch", (), "off", False),
        ("switch", (), "low", True),
        ("switch", (), "max", True),
        ("effort", (), "auto", None),
        ("effort", (), "off", "low"),
        ("effort", (), "minimal", "low"),
        ("effort", (), "max", "high"),
        ("effort", ("none", "low", "max"), "off", False),
        ("effort", ("none", "low", "max"), "max", "max"),
        ("none", (), "high", None),
        ("none", (), "off", None),
        ("unknown", (), "high", None),
    ],
)
def test_thinking(style: ThinkingStyle, efforts: tuple[str, ...], level: str, sent: Any) -> None:
    body = body_of(USER, target=replace(TARGET, thinking=style, efforts=efforts), thinking=level)
    assert body.get("think") == sent
    assert ("think" in body) == (sent is not None)


@pytest.mark.parametrize(
    ("letter", "times", "known", "limit", "pictures", "window"),
    [
        ("x", 10, None, None, 0, 8192),
        ("x", 12_000, None, None, 0, 8192),  # 4,000 tokens and 4,096 for the answer
        ("x", 12_500, None, None, 0, 16384),
        ("x", 12_500, None, 1000, 0, 8192),
        ("x", 10, None, 9000, 0, 16384),
        ("x", 10, None, None, 1, 8192),
        ("x", 10, None, None, 2, 16384),
        ("字", 4_000, None, None, 0, 8192),
        ("字", 4_100, None, None, 0, 16384),
        ("x", 300_000, None, None, 0, 131_072),
        ("x", 300_000, 40_960, None, 0, 40_960),  # and the server refuses
        ("x", 10, 4096, None, 0, 4096),
    ],
)
def test_window(letter: str, times: int, known: int | None, limit: int | None, pictures: int, window: int) -> None:
    message = Message("user", (Text(letter * times), *([Image("image/png", "A" * 100_000)] * pictures)))
    body = body_of(message, target=replace(TARGET, context_window=known), max_output_tokens=limit)
    assert body["options"]["num_ctx"] == window


# --- streams ------------------------------------------------------------------------------------------------------


def line(message: "dict[str, Any] | None" = None, **fields: Any) -> str:
    said = {"message": {"role": "assistant", "content": "", **message}} if message is not None else {}
    return json.dumps({"model": "m", "created_at": "2026-01-01T00:00:00Z", **said, "done": False, **fields})


def called(name: str, arguments: Any, call_id: str = "", **place: int) -> dict[str, Any]:
    given = {"id": call_id} if call_id else {}
    return {**given, "function": {**place, "name": name, "arguments": arguments}}


END = line({}, done=True, done_reason="stop", prompt_eval_count=10, eval_count=5)
COUNTED = UsageUpdate(Usage(input_tokens=10, output_tokens=5))
STOPPED = Done(WireStop.END_TURN, "stop")

STREAMS: dict[str, tuple[list[str], list[StreamEvent]]] = {
    "text": ([line({"content": "a"}), line({"content": "b"}), END], [TextDelta("a"), TextDelta("b"), COUNTED, STOPPED]),
    "thinking": (
        [line({"thinking": "Hm."}), line({"thinking": "So.", "content": "a"}), END],
        [ThinkingDelta("Hm."), ThinkingDelta("So."), TextDelta("a"), COUNTED, STOPPED],
    ),
    "parallel calls over several lines, without ids": (
        [
            line({"tool_calls": [called("add", {"a": [1, 2.5]})]}),
            line({"tool_calls": [called("add", {"a": "é"}, index=1)]}),
            line({"tool_calls": [called("list", {}, index=2), called("list", None, index=3)]}),
            END,
        ],
        [
            ToolCallStart("call_1", "add"),
            ToolCallComplete("call_1", '{"a":[1,2.5]}'),
            ToolCallStart("call_2", "add"),
            ToolCallComplete("call_2", '{"a":"é"}'),
            ToolCallStart("call_3", "list"),
            ToolCallComplete("call_3", "{}"),
            ToolCallStart("call_4", "list"),
            ToolCallComplete("call_4", "{}"),
            COUNTED,
            STOPPED,
        ],
    ),
    "a call with an id, and arguments as text": (
        [line({"tool_calls": [called("add", '{"a": 1}', "x")]}), END],
        [
            ToolCallStart("x", "add"),
            Echo("call", {"id": "x"}, "x"),
            ToolCallComplete("x", '{"a": 1}'),
            COUNTED,
            STOPPED,
        ],
    ),
    "cut off": (
        [line({"content": "a"}), line({}, done=True, done_reason="length")],
        [TextDelta("a"), UsageUpdate(Usage()), Done(WireStop.MAX_TOKENS, "length")],
    ),
    "words in the last line": (
        [line({"content": "a"}, done=True, done_reason="stop")],
        [TextDelta("a"), UsageUpdate(Usage()), STOPPED],
    ),
    "a model that was only loaded": (
        [line({}, done=True, done_reason="load")],
        [UsageUpdate(Usage()), Done(WireStop.OTHER, "load")],
    ),
    "an older server gives no reason": (
        [line({}, done=True, eval_count=5)],
        [UsageUpdate(Usage(output_tokens=5)), Done(WireStop.END_TURN)],
    ),
    "nothing counts after the end": ([END, line({"content": "a"}), END], [COUNTED, STOPPED]),
    "lines with less in them": (
        [line(), line({"content": None, "tool_calls": None}), "{}", END],
        [COUNTED, STOPPED],
    ),
}


def parse_lines(lines: list[str], end: str = "\n") -> tuple[list[StreamEvent], ModelError | None]:
    """Whole, byte by byte with other line ends, and without the last one: it must make no difference."""
    events, failure = parse(WIRE, ["".join(line + end for line in lines).encode()])
    other = "\r\n\r\n".join(lines).encode()
    again, failure_again = parse(WIRE, single_bytes(other))
    assert again == events
    assert repr(failure_again) == repr(failure)
    return events, failure


@pytest.mark.parametrize(("lines", "expected"), STREAMS.values(), ids=STREAMS)
def test_stream(lines: list[str], expected: list[StreamEvent]) -> None:
    events, failure = parse_lines(lines)
    assert failure is None
    assert events == expected


@pytest.mark.parametrize(
    ("lines", "error", "words"),
    [
        ([line({"content": "a"})], StreamCut, "before its end"),
        ([], StreamCut, "before its end"),
        ([line({"content": "a"}), '{"error":"an error was encountered"}'], ModelError, "an error was encountered"),
        (['{"error":"the input length exceeds the context length"}'], ContextOverflow, "context length"),
        ([line({"tool_calls": [{"function": {"arguments": {}}}]})], ProtocolError, "without a name"),
        ([line({"tool_calls": [{"id": "x"}]})], ProtocolError, "without a name"),
        (['{"message":3}'], ProtocolError, "does not match"),
        (["<html>"], ProtocolError, "does not match"),
        ([line({"content": "a"})[:-5]], StreamCut, "middle"),
    ],
)
def test_failure(lines: list[str], error: type[ModelError], words: str) -> None:
    whole = "\n".join(lines).encode()
    events, failure = parse(WIRE, [whole])
    if error is StreamCut or not isinstance(failure, StreamCut):
        assert type(failure) is error
    again, failure_again = parse(WIRE, single_bytes(whole + (b"" if error is StreamCut else b"\n")))
    assert type(failure_again) is error
    assert re.search(words, failure_again.message)
    assert again == events
    assert not any(isinstance(event, Done) for event in events)


def test_an_answer_is_sent_back() -> None:
    calls = [called("add", {"a": 1}, "x"), called("add", {"a": 2}, "y")]
    events, failure = parse_lines([line({"thinking": "Hm."}), line({"content": "a"}), line({"tool_calls": calls}), END])
    assert failure is None
    message, _ = built(events, REF)
    sent = body_of(message)["messages"]
    assert sent[0] == {"role": "assistant", "content": "a", "thinking": "Hm.", "tool_calls": calls}
    assert [result["tool_call_id"] for result in sent[1:]] == ["x", "y"]


# --- recordings ---------------------------------------------------------------------------------------------------

RECORDED = sorted((SHARED / "streams" / "ollama").glob("*.ndjson"))


def naive(body: bytes) -> dict[str, Any]:
    """The answer as a person would read it off the lines."""
    lines = [json.loads(text) for text in body.decode().splitlines()]
    messages = [one["message"] for one in lines if "message" in one]
    calls = [call["function"] for message in messages for call in message.get("tool_calls", [])]
    return {
        "text": "".join(message["content"] for message in messages),
        "thinking": "".join(message.get("thinking", "") for message in messages),
        "calls": [(call["name"], call["arguments"]) for call in calls],
        "stop": lines[-1].get("done_reason", ""),
        "usage": (lines[-1].get("prompt_eval_count", 0), lines[-1]["eval_count"]),
    }


@needs_shared
def test_there_are_recordings() -> None:
    assert len(RECORDED) == 12


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_recorded(path: Path) -> None:
    body = path.read_bytes()
    events, failure = parse(WIRE, [body])
    assert failure is None
    message, builder = built(events)
    assert {
        "text": message.text,
        "thinking": "".join(part.text for part in message.parts if isinstance(part, Thinking)),
        "calls": [(call.name, json.loads(call.arguments)) for call in message.tool_calls],
        "stop": builder.raw_stop,
        "usage": (builder.usage.input_tokens, builder.usage.output_tokens),
    } == naive(body)
    assert len({call.id for call in message.tool_calls}) == len(message.tool_calls)
    seeded = random.Random(path.name)
    for _ in range(5):
        places = [0, *sorted(seeded.sample(range(len(body)), min(40, len(body)))), len(body)]
        assert parse(WIRE, [body[a:b] for a, b in pairwise(places)]) == (events, None)
    assert parse(WIRE, single_bytes(body)) == (events, None)
