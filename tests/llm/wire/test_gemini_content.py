"""Gemini's wire in both directions: histories to contents, thinking by model, streams to events; one row per rule."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.errors import ModelError, Overloaded, ProtocolError, RateLimited, StreamCut
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
from tark_lsp.llm.fallbacks import find_fallback
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.gemini_content import PLACEHOLDER_SIGNATURE, WIRE
from tark_lsp.llm.wire.wire import Quirks, TargetModel, ThinkingStyle
from tark_lsp.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolDefinition, ToolResult, Usage
from tests.exhaustive import examples
from tests.llm.asking import built, parse, parse_body, single_bytes

REF = "gemini/gemini-3-pro"
TARGET = TargetModel(REF, "gemini-3-pro")
OLDER = replace(TARGET, model="gemini-2.5-flash")
USER = Message("user", (Text("Do it."),))
USER_SENT = {"role": "user", "parts": [{"text": "Do it."}]}
CALL = ToolCall("call_1", "read_file", '{"path":"a"}', {"thoughtSignature": "S1"})
CALL_SENT = {"functionCall": {"name": "read_file", "args": {"path": "a"}}, "thoughtSignature": "S1"}
OTHER_CALL = ToolCall("call_2", "list_files", "{}")
OTHER_CALL_SENT = {"functionCall": {"name": "list_files", "args": {}}}
PICTURE = Image("image/png", "QUJD")
PICTURE_SENT = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}


def assistant(*parts: Part, model: str = REF) -> Message:
    return Message("assistant", parts, model)


def results(*parts: ToolResult) -> Message:
    return Message("tool", parts)


def body_of(*messages: Message, target: TargetModel = TARGET, system: str = "", **request: Any) -> dict[str, Any]:
    return dict(json.loads(WIRE.encode(ChatRequest(system, messages, **request), target)))


def answered(name: str, said: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"functionResponse": {**more, "name": name, "response": said}}


def model_says(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def user_says(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


HISTORIES: dict[str, tuple[tuple[Message, ...], list[dict[str, Any]]]] = {
    "text": ((USER,), [USER_SENT]),
    "parallel calls: all results in one content, in the calls' order": (
        (
            USER,
            assistant(Text("Well."), CALL, OTHER_CALL),
            results(ToolResult("call_2", "b", is_error=True), ToolResult("call_1", "a")),
        ),
        [
            USER_SENT,
            model_says({"text": "Well."}, CALL_SENT, OTHER_CALL_SENT),
            user_says(answered("read_file", {"output": "a"}), answered("list_files", {"error": "b"})),
        ],
    ),
    "an id goes back where Gemini gave one": (
        (USER, assistant(replace(CALL, id="x9", echo={"id": "x9", "thoughtSignature": "S"})), results()),
        [
            USER_SENT,
            model_says(
                {"functionCall": {"id": "x9", "name": "read_file", "args": {"path": "a"}}, "thoughtSignature": "S"}
            ),
            user_says(answered("read_file", {"error": "No result: this call did not run."}, id="x9")),
        ],
    ),
    "calls of another model are signed as such, the first of each step": (
        (
            assistant(CALL, OTHER_CALL, model="openai/gpt"),
            results(ToolResult("call_1", "a"), ToolResult("call_2", "b")),
            assistant(replace(CALL, id="call_3"), model="openai/gpt"),
            results(ToolResult("call_3", "c")),
        ),
        [
            model_says({**CALL_SENT, "thoughtSignature": PLACEHOLDER_SIGNATURE}, OTHER_CALL_SENT),
            user_says(answered("read_file", {"output": "a"}), answered("list_files", {"output": "b"})),
            model_says({**CALL_SENT, "thoughtSignature": PLACEHOLDER_SIGNATURE}),
            user_says(answered("read_file", {"output": "c"})),
        ],
    ),
    "one role after another is one content": (
        (USER, USER, assistant(Text("a")), assistant(Text("b")), assistant(CALL), results(), USER),
        [
            user_says({"text": "Do it."}, {"text": "Do it."}),
            model_says({"text": "a"}, {"text": "b"}, CALL_SENT),
            user_says(answered("read_file", {"error": "No result: this call did not run."}), {"text": "Do it."}),
        ],
    ),
    "signatures go back on their parts, empty ones too": (
        (
            assistant(
                Thinking("Hm."),
                Thinking("So.", {"thoughtSignature": "S1"}),
                Text("a", {}),
                Text("b", {"thoughtSignature": "S2"}),
                Text(""),
                Opaque({"text": "", "thoughtSignature": "S3"}),
                Opaque({"executableCode": {"code": "1+1"}}),
            ),
        ),
        [
            model_says(
                {"text": "Hm.", "thought": True},
                {"text": "So.", "thought": True, "thoughtSignature": "S1"},
                {"text": "a"},
                {"text": "b", "thoughtSignature": "S2"},
                {"text": "", "thoughtSignature": "S3"},
                {"executableCode": {"code": "1+1"}},
            )
        ],
    ),
    "nothing of another wire goes back": (
        (
            assistant(
                Thinking("Hm.", {"signature": "x"}),
                Text("a", {"citations": []}),
                Opaque({"type": "redacted_thinking", "data": "x"}),
                Text(""),
            ),
        ),
        [model_says({"text": "a"})],
    ),
    "arguments that are no object never ran, and the model sees them": (
        (assistant(replace(CALL, arguments='{"path":')), results()),
        [
            model_says({**CALL_SENT, "functionCall": {"name": "read_file", "args": {"invalid_arguments": '{"path":'}}}),
            user_says(answered("read_file", {"error": "No result: this call did not run."})),
        ],
    ),
    "pictures": (
        (
            Message("user", (Text("Look."), PICTURE)),
            assistant(CALL),
            results(ToolResult("call_1", "seen", images=(PICTURE,))),
        ),
        [
            user_says({"text": "Look."}, PICTURE_SENT),
            model_says(CALL_SENT),
            user_says(answered("read_file", {"output": "seen"}, parts=[PICTURE_SENT])),
        ],
    ),
}


@pytest.mark.parametrize(("messages", "sent"), HISTORIES.values(), ids=HISTORIES)
def test_history(messages: tuple[Message, ...], sent: list[dict[str, Any]]) -> None:
    body = body_of(*messages)
    contents = [
        {
            **content,
            "parts": [
                {**part, "functionResponse": dict(sorted(part["functionResponse"].items()))}
                if "functionResponse" in part
                else part
                for part in content["parts"]
            ],
        }
        for content in body.pop("contents")
    ]
    assert contents == sent
    assert body == {}


def test_before_gemini_3_images_come_after_the_results() -> None:
    body = body_of(
        assistant(CALL, OTHER_CALL),
        results(ToolResult("call_1", "seen", images=(PICTURE,)), ToolResult("call_2", "b")),
        target=OLDER,
    )
    assert body["contents"][1] == user_says(
        answered("read_file", {"output": "seen"}),
        answered("list_files", {"output": "b"}),
        {"text": "The images of the result of read_file:"},
        PICTURE_SENT,
    )


def test_a_note_replaces_images_that_a_model_does_not_accept() -> None:
    body = body_of(
        Message("user", (PICTURE,)),
        assistant(CALL),
        results(ToolResult("call_1", "seen", images=(PICTURE,))),
        target=replace(TARGET, quirks=Quirks(images=False)),
    )
    assert "inlineData" not in json.dumps(body)
    assert json.dumps(body).count("image(s) left out") == 2


def test_a_history_whose_signatures_were_refused() -> None:
    """For example after a change of key: the history is sent as if another model had written it."""
    history = (assistant(Thinking("Hm."), Text("a", {"thoughtSignature": "S"}), CALL, OTHER_CALL), results())
    refused = "Corrupted thought signature."
    without = find_fallback(TARGET, refused)
    assert without is not None
    [said, _] = body_of(*history, target=without[0])["contents"]
    assert said == model_says({"text": "a"}, {**CALL_SENT, "thoughtSignature": PLACEHOLDER_SIGNATURE}, OTHER_CALL_SENT)
    assert find_fallback(without[0], refused, [without[1]]) is None


@pytest.mark.parametrize(
    "message",
    [
        "Thinking level MINIMAL is not supported for this model.",
        "Unable to submit request because thinking_budget is only supported when thinking is enabled.",
        "Thinking_config.include_thoughts is only enabled when thinking is enabled.",
    ],
)
def test_a_refused_thinking_level_is_left_out(message: str) -> None:
    without = find_fallback(replace(TARGET, thinking="effort"), message)
    assert without is not None
    assert "generationConfig" not in body_of(USER, target=without[0], thinking="high")


def test_tools_and_system() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}
    tools = (
        ToolDefinition("b", "B.", schema),
        ToolDefinition("a", "A.", {"type": "object", "properties": {}, "additionalProperties": False}),
        ToolDefinition("c", "C.", {"type": "object", "additionalProperties": True}),
    )
    body = body_of(USER, system="Be brief.", tools=tools, max_output_tokens=100)
    assert body.pop("contents") == [USER_SENT]
    assert body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "a", "description": "A."},
                    {"name": "b", "description": "B.", "parametersJsonSchema": schema},
                    {"name": "c", "description": "C.", "parametersJsonSchema": tools[2].parameters},
                ]
            }
        ],
        "generationConfig": {"maxOutputTokens": 100},
    }


@pytest.mark.parametrize(
    ("model", "style", "efforts", "level", "limit", "sent"),
    [
        ("gemini-2.5-flash", "budget", (), "auto", None, {"includeThoughts": True}),
        ("gemini-2.5-flash", "budget", (), "off", None, {"thinkingBudget": 0}),
        ("gemini-2.5-pro", "budget", (), "off", None, {"thinkingBudget": 128}),
        ("gemini-2.5-pro", "budget", (), "minimal", None, {"includeThoughts": True, "thinkingBudget": 512}),
        ("gemini-2.5-pro", "budget", (), "high", None, {"includeThoughts": True, "thinkingBudget": 24576}),
        ("gemini-2.5-pro", "budget", (), "high", 4000, {"includeThoughts": True, "thinkingBudget": 2000}),
        ("gemini-2.5-pro", "budget", (), "high", 100, {"includeThoughts": True, "thinkingBudget": 512}),
        ("gemini-3-pro", "effort", ("low", "high"), "auto", None, {"includeThoughts": True}),
        ("gemini-3-pro", "effort", ("low", "high"), "off", None, {"thinkingLevel": "LOW"}),
        ("gemini-3-pro", "effort", (), "medium", None, {"includeThoughts": True, "thinkingLevel": "LOW"}),
        (
            "gemini-3-flash",
            "effort",
            ("minimal", "low", "medium", "high"),
            "medium",
            None,
            {"includeThoughts": True, "thinkingLevel": "MEDIUM"},
        ),
        ("gemini-3-pro", "effort", ("low", "high"), "max", None, {"includeThoughts": True, "thinkingLevel": "HIGH"}),
        ("gemini-2.0-flash", "none", (), "high", None, None),
        ("gemini-9", "unknown", (), "auto", None, None),
        ("gemini-9", "unknown", (), "off", None, None),
        ("gemini-9", "unknown", (), "high", None, {"includeThoughts": True, "thinkingLevel": "HIGH"}),
        ("gemini-flash-latest", "unknown", (), "low", None, {"includeThoughts": True, "thinkingLevel": "LOW"}),
        ("gemini-2.5-x", "unknown", (), "low", None, {"includeThoughts": True, "thinkingBudget": 2048}),
    ],
)
def test_thinking(
    model: str,
    style: ThinkingStyle,
    efforts: tuple[str, ...],
    level: str,
    limit: int | None,
    sent: dict[str, Any] | None,
) -> None:
    target = TargetModel(f"gemini/{model}", model, thinking=style, efforts=efforts)
    body = body_of(USER, target=target, thinking=level, max_output_tokens=limit)
    assert body.get("generationConfig", {}).get("thinkingConfig") == sent


def test_a_longer_history_has_the_same_beginning() -> None:
    steps = (USER, assistant(CALL, model="openai/gpt"), results(ToolResult("call_1", "a")), assistant(Text("Done.")))
    short, long = body_of(*steps)["contents"], body_of(*steps, USER, assistant(Text("Yes.")), USER)["contents"]
    assert long[: len(short)] == short


# --- streams ------------------------------------------------------------------------------------------------------


def chunk(*parts: dict[str, Any], finish: str = "", message: str = "", **more: Any) -> str:
    ending = {"finishReason": finish, **({"finishMessage": message} if message else {})} if finish else {}
    return json.dumps({"candidates": [{"content": {"role": "model", "parts": list(parts)}, **ending}], **more})


def call_part(name: str = "", signature: str = "", **fields: Any) -> dict[str, Any]:
    call = {**({"name": name} if name else {}), **fields}
    return {"functionCall": call, **({"thoughtSignature": signature} if signature else {})}


def piece(path: str, *, more: bool = False, goes_on: bool = True, **value: Any) -> dict[str, Any]:
    continues = {"willContinue": True} if more else {}
    call: dict[str, Any] = {"willContinue": True} if goes_on else {}
    return call_part(partialArgs=[{"jsonPath": path, **value, **continues}], **call)


END = chunk(finish="STOP")
STOPPED = Done(WireStop.END_TURN, "STOP")
ADD = ToolCallStart("call_1", "add")

STREAMS: dict[str, tuple[list[str], list[StreamEvent]]] = {
    "parts add up": (
        [chunk({"text": "a"}), chunk({"text": "b"}, {"text": "c"}), END],
        [TextDelta("a"), TextDelta("b"), TextDelta("c"), STOPPED],
    ),
    "thinking": (
        [chunk({"text": "Hm.", "thought": True}), chunk({"text": "a"}, finish="STOP")],
        [ThinkingDelta("Hm."), TextDelta("a"), STOPPED],
    ),
    "a signature is no thought": (
        [chunk({"text": "a", "thoughtSignature": "S"}, finish="STOP")],
        [TextDelta("a"), Echo("text", {"thoughtSignature": "S"}), STOPPED],
    ),
    "a signed part is not added to the words before it": (
        [
            chunk({"text": "a"}, {"text": "b", "thoughtSignature": "S1"}),
            chunk({"text": "c"}, {"text": "", "thoughtSignature": "S2"}),
            END,
        ],
        [
            TextDelta("a"),
            Echo("text", {}),
            TextDelta("b"),
            Echo("text", {"thoughtSignature": "S1"}),
            TextDelta("c"),
            Echo("opaque", {"text": "", "thoughtSignature": "S2"}),
            STOPPED,
        ],
    ),
    "thoughts that are signed": (
        [
            chunk({"text": "a", "thought": True}, {"text": "b", "thought": True, "thoughtSignature": "S1"}),
            chunk({"text": "", "thought": True, "thoughtSignature": "S2"}, {"thoughtSignature": "S3"}),
            END,
        ],
        [
            ThinkingDelta("a"),
            Echo("thinking", {}),
            ThinkingDelta("b"),
            Echo("thinking", {"thoughtSignature": "S1"}),
            Echo("opaque", {"text": "", "thought": True, "thoughtSignature": "S2"}),
            Echo("opaque", {"text": "", "thoughtSignature": "S3"}),
            STOPPED,
        ],
    ),
    "calls without ids": (
        [chunk(call_part("add", "S", args={"a": [1, 2.5]}), call_part("list")), END],
        [
            ADD,
            Echo("call", {"thoughtSignature": "S"}, "call_1"),
            ToolCallComplete("call_1", '{"a":[1,2.5]}'),
            ToolCallStart("call_2", "list"),
            ToolCallComplete("call_2", "{}"),
            STOPPED,
        ],
    ),
    "calls with ids, the second time the same": (
        [chunk(call_part("add", id="x", args={})), chunk(call_part("add", id="x", args={}), finish="STOP")],
        [
            ToolCallStart("x", "add"),
            Echo("call", {"id": "x"}, "x"),
            ToolCallComplete("x", "{}"),
            ToolCallStart("x_2", "add"),
            Echo("call", {"id": "x"}, "x_2"),
            ToolCallComplete("x_2", "{}"),
            STOPPED,
        ],
    ),
    "arguments in pieces": (
        [
            chunk(call_part("add", willContinue=True)),
            chunk(piece("$.a.b[1].c", stringValue="x", more=True)),
            chunk(piece("$.a.b[1].c", stringValue="y", more=True)),
            chunk(piece("$.a.b[1].c", stringValue="")),
            chunk(call_part(willContinue=True)),
            chunk(piece("$['d e'][0]", numberValue=2)),
            chunk(piece('$["f"]', boolValue=False)),
            chunk(piece("$.g", nullValue="NULL_VALUE")),
            chunk(call_part(), finish="STOP"),
        ],
        [ADD, ToolCallComplete("call_1", '{"a":{"b":[null,{"c":"xy"}]},"d e":[2],"f":false,"g":null}'), STOPPED],
    ),
    "arguments in pieces, the last says so itself": (
        [
            chunk(call_part("add", willContinue=True)),
            chunk(piece("$.a", stringValue="x", goes_on=False)),
            chunk(call_part("list", willContinue=True)),
            chunk(call_part("list", willContinue=True)),
            chunk(piece("$.b", numberValue=0.5)),
            END,
        ],
        [
            ADD,
            ToolCallComplete("call_1", '{"a":"x"}'),
            ToolCallStart("call_2", "list"),
            ToolCallComplete("call_2", "{}"),
            ToolCallStart("call_3", "list"),
            ToolCallComplete("call_3", '{"b":0.5}'),
            STOPPED,
        ],
    ),
    "a call that was cut off is not complete": (
        [chunk(call_part("add", willContinue=True)), chunk(piece("$.a", stringValue="x"), finish="MAX_TOKENS")],
        [ADD, Done(WireStop.MAX_TOKENS, "MAX_TOKENS")],
    ),
    "an end of a call that is none says nothing": ([chunk(call_part(), finish="STOP")], [STOPPED]),
    "parts after the finish reason count, and the last reason": (
        [chunk({"text": "a"}, finish="STOP"), chunk({"text": "b"}, finish="RECITATION")],
        [TextDelta("a"), TextDelta("b"), Done(WireStop.REFUSAL, "RECITATION")],
    ),
    "chunks with less in them": (
        [
            '{"candidates":[{"content":{"role":"model"}}]}',
            '{"candidates":[{"content":{}}]}',
            '{"candidates":null,"usageMetadata":{"trafficType":"ON_DEMAND"}}',
            '{"candidates":[{"index":1,"content":{"parts":[{"text":"the other answer"}]}}]}',
            chunk({"text": ""}, {"thought": True}),
            '{"candidates":[{"finishReason":"STOP"}]}',
        ],
        [STOPPED],
    ),
    "what is not known is kept as it is": (
        [chunk({"text": "a"}, {"executableCode": {"code": "1", "language": "PYTHON"}}, {"text": "b"}), END],
        [
            TextDelta("a"),
            Echo("opaque", {"executableCode": {"code": "1", "language": "PYTHON"}}),
            TextDelta("b"),
            STOPPED,
        ],
    ),
    "usage: each replaces the one before": (
        [
            chunk({"text": "a"}, usageMetadata={"promptTokenCount": 9}),
            chunk({"text": "b"}, usageMetadata={"promptTokenCount": 9}),
            chunk(
                finish="STOP",
                usageMetadata={
                    "promptTokenCount": 10,
                    "cachedContentTokenCount": 4,
                    "toolUsePromptTokenCount": 100,
                    "candidatesTokenCount": 5,
                    "thoughtsTokenCount": 7,
                    "totalTokenCount": 122,
                },
            ),
        ],
        [
            UsageUpdate(Usage(input_tokens=9)),
            TextDelta("a"),
            TextDelta("b"),
            UsageUpdate(Usage(input_tokens=110, cached_tokens=4, output_tokens=12, reasoning_tokens=7)),
            STOPPED,
        ],
    ),
    "a prompt that was blocked": (
        ['{"promptFeedback":{"blockReason":"SAFETY","blockReasonMessage":"Reasons"}}'],
        [TextDelta("Gemini blocked this request: SAFETY. Reasons", is_refusal=True), Done(WireStop.REFUSAL, "SAFETY")],
    ),
    "a refusal without words gets some": (
        [chunk(finish="PROHIBITED_CONTENT")],
        [
            TextDelta("Gemini withheld its answer: PROHIBITED_CONTENT.", is_refusal=True),
            Done(WireStop.REFUSAL, "PROHIBITED_CONTENT"),
        ],
    ),
    "feedback that blocks nothing": (
        ['{"promptFeedback":{"safetyRatings":[]}}', chunk({"text": "a"}, finish="STOP")],
        [TextDelta("a"), STOPPED],
    ),
    "what went wrong after something of use": (
        [chunk({"text": "a"}), chunk(finish="MALFORMED_FUNCTION_CALL", message="Malformed function call: add(")],
        [TextDelta("a"), Done(WireStop.OTHER, "MALFORMED_FUNCTION_CALL")],
    ),
    "a reason nobody knows": ([chunk({"text": "a"}, finish="NEW")], [TextDelta("a"), Done(WireStop.OTHER, "NEW")]),
}


@pytest.mark.parametrize(("frames", "expected"), STREAMS.values(), ids=STREAMS)
def test_stream(frames: list[str], expected: list[StreamEvent]) -> None:
    events, failure = parse_body(WIRE, frames)
    assert failure is None
    assert events == expected


BARE_ERROR = (
    b'{\r\n  "error": {\r\n    "code": 503,\r\n    "message": "overloaded",\r\n    "status": "UNAVAILABLE"\r\n  }\r\n}'
)

FAILURES: dict[str, tuple[bytes, type[ModelError], str]] = {
    "no finish reason": (b"data: " + chunk({"text": "a"}).encode() + b"\r\n\r\n", StreamCut, "before its end"),
    "no finish reason, and nothing else": (
        b'data: {"candidates":[{"content":{}}]}\r\n\r\n',
        StreamCut,
        "before its end",
    ),
    "an error as an event": (
        b'data: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"slow down"}}\r\n\r\n',
        RateLimited,
        "slow down",
    ),
    "an error without its event": (
        b"data: " + chunk({"text": "a"}).encode() + b"\r\n\r\n" + BARE_ERROR + b"\r\n",
        Overloaded,
        "overloaded",
    ),
    "half such an error": (
        b"data: " + chunk({"text": "a"}).encode() + b"\r\n\r\n" + BARE_ERROR[:40],
        StreamCut,
        "middle of an event",
    ),
    "a call that could not be read, and nothing else": (
        b"data: " + chunk(finish="MALFORMED_FUNCTION_CALL", message="Malformed function call: f(").encode(),
        StreamCut,
        r"answer failed .* MALFORMED_FUNCTION_CALL\. Malformed function call: f\(",
    ),
    "only thinking, then nothing": (
        b"data: " + chunk({"text": "Hm.", "thought": True}, finish="MALFORMED_RESPONSE").encode(),
        StreamCut,
        "MALFORMED_RESPONSE",
    ),
    "half an event": (b"data: " + chunk({"text": "a"}, finish="STOP").encode()[:-3], StreamCut, "middle of an event"),
    "not this wire": (b'data: {"candidates":"x"}\r\n\r\n', ProtocolError, "candidates"),
    "nested too deeply": (
        b"data: "
        + chunk(call_part("f", args={})).encode().replace(b"{}", b'{"a":' * 100_000 + b"1" + b"}" * 100_000)
        + b"\n\n",
        ProtocolError,
        "does not match",
    ),
    "arguments of no call": (f"data: {chunk(call_part(args={'a': 1}))}\n\n".encode(), ProtocolError, "without a name"),
}
PATHS = ("a", "$", "$.a[", "$[0]", "$..a", "$.a[99999]", "$.a[9999999]", "$.x.y")


@pytest.mark.parametrize(("body", "error", "words"), FAILURES.values(), ids=FAILURES)
def test_failure(body: bytes, error: type[ModelError], words: str) -> None:
    events, failure = parse(WIRE, [body])
    assert type(failure) is error
    assert re.search(words, failure.message)
    again, failure_again = parse(WIRE, single_bytes(body))
    assert (again, repr(failure_again)) == (events, repr(failure))
    assert not any(isinstance(event, Done | ToolCallComplete) for event in events)


@pytest.mark.parametrize("path", PATHS)
def test_an_invalid_argument_path(path: str) -> None:
    frames = [chunk(call_part("add", args={"x": 1}, willContinue=True)), chunk(piece(path, stringValue="x"))]
    events, failure = parse_body(WIRE, frames)
    assert isinstance(failure, ProtocolError)
    assert events == [ADD]


def test_an_answer_is_sent_back_part_by_part() -> None:
    parts: list[dict[str, Any]] = [
        {"text": "Hm.", "thought": True},
        {"text": "a"},
        {"text": "b", "thoughtSignature": "S1"},
        {"executableCode": {"code": "1"}},
        {"text": "c"},
        {"functionCall": {"id": "x", "name": "add", "args": {"a": "é"}}, "thoughtSignature": "S2"},
        {"functionCall": {"id": "y", "name": "add", "args": {}}},
        {"text": "", "thoughtSignature": "S3"},
    ]
    events, failure = parse_body(WIRE, [*(chunk(part) for part in parts), END])
    assert failure is None
    message, _ = built(events, REF)
    [sent, _] = body_of(message)["contents"]
    assert sent == {"role": "model", "parts": parts}


PARTS = st.sampled_from(
    [
        {"text": "a\u2028b"},
        {"text": ""},
        {"text": "c", "thought": True},
        {"text": "d", "thoughtSignature": "S"},
        {"text": "", "thoughtSignature": "S"},
        {"text": "e", "thought": True, "thoughtSignature": "S"},
        {"inlineData": {"data": "QUJD", "mimeType": "image/png"}},
        {"functionCall": {"name": "add", "args": {"a": "{}"}}, "thoughtSignature": "S"},
    ]
)


@settings(max_examples=examples(150))
@given(st.lists(st.lists(PARTS, max_size=3), max_size=6), st.lists(st.integers(1, 60), min_size=1, max_size=5))
def test_any_cut_gives_the_same_events(chunks: list[list[dict[str, Any]]], sizes: list[int]) -> None:
    body = "".join(f"data: {chunk(*parts)}\r\n\r\n" for parts in [*chunks, []]).encode()
    body = body + f"data: {END}\r\n\r\n".encode()
    pieces, place, turn = [], 0, 0
    while place < len(body):
        pieces.append(body[place : place + sizes[turn % len(sizes)]])
        place, turn = place + len(pieces[-1]), turn + 1
    whole = parse(WIRE, [body])
    assert whole[1] is None
    assert parse(WIRE, pieces) == whole
    sent = [part for parts in chunks for part in parts if part != {"text": ""}]
    words = "".join(part["text"] for part in sent if "text" in part and not part.get("thought"))
    assert built(whole[0])[0].text == words
    message, _ = built(whole[0], REF)
    assert body_of(message)["contents"][:1] == ([model_says(*joined(sent))] if sent else [])


def joined(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Unsigned text is joined; nothing else is."""
    result: list[dict[str, Any]] = []
    for part in parts:
        last = result[-1] if result else {}
        if part.keys() == last.keys() and part.keys() <= {"text", "thought"}:
            last["text"] += part["text"]
        else:
            result.append(dict(part))
    return result
