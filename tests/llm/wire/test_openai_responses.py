"""OpenAI Responses in both directions: histories to items, and streams of OpenAI and compatible servers to events."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tark_lsp.errors import ModelError, Overloaded, ProtocolError, QuotaExceeded, RateLimited, ServerError, StreamCut
from tark_lsp.llm.events import Done, Echo, StreamEvent, TextDelta, ThinkingDelta, ToolCallComplete, WireStop
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.openai_responses import WIRE
from tark_lsp.llm.wire.wire import Quirks, TargetModel, ThinkingStyle
from tark_lsp.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolDefinition, ToolResult, Usage
from tests.llm.asking import built, parse_body

REF = "openai/gpt"
PLAIN = TargetModel(REF, "gpt")
OPENAI = replace(PLAIN, quirks=Quirks(cache_key=True, encrypted_reasoning=True), thinking="effort")
USER = Message("user", (Text("Do it."),))
USER_SENT = {"role": "user", "content": "Do it."}
CALL = ToolCall("call_1", "read_file", '{"path":"a"}')
CALL_SENT = {"type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": '{"path":"a"}'}
OK = ToolResult("call_1", "ok")
OK_SENT = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
NO_RESULT = {**OK_SENT, "output": "Error: No result: this call did not run."}
PICTURE = Image("image/png", "QUJD")
PICTURE_SENT = {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "auto"}
SUMMARY = [{"type": "summary_text", "text": "hm"}]
SEALED = {"type": "reasoning", "id": "rs_1", "summary": SUMMARY, "encrypted_content": "x"}
SEALED_SENT = {"type": "reasoning", "summary": SUMMARY, "encrypted_content": "x"}
CLEAR = {"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}
WAITING = [Opaque({"type": kind, "id": "i"}) for kind in ("mcp_approval_request", "custom_tool_call", "new")]
SHELL = {"type": "local_shell_call", "id": "lsh_1", "call_id": "call_9", "action": {}}


def assistant(*parts: Part, model: str = REF) -> Message:
    return Message("assistant", parts, model)


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def body_of(*messages: Message, target: TargetModel = PLAIN, system: str = "", **request: Any) -> dict[str, Any]:
    return dict(json.loads(WIRE.encode(ChatRequest(system, messages, **request), target)))


HISTORIES: dict[str, tuple[tuple[Message, ...], list[dict[str, Any]]]] = {
    "text": ((USER,), [USER_SENT]),
    "texts of the user are one": ((Message("user", (Text("a"), Text("b"))),), [{"role": "user", "content": "ab"}]),
    "nothing is not said": ((Message("user", (Text(""),)), assistant(Text("")), USER), [USER_SENT]),
    "words, call, result: items of their own": (
        (USER, assistant(Text("Well."), CALL), Message("tool", (OK,))),
        [USER_SENT, said("Well."), CALL_SENT, OK_SENT],
    ),
    "parallel calls, then their results in the calls' order": (
        (
            assistant(CALL, replace(CALL, id="call_2")),
            Message("tool", (ToolResult("call_2", "second"), OK)),
        ),
        [CALL_SENT, {**CALL_SENT, "call_id": "call_2"}, OK_SENT, {**OK_SENT, "call_id": "call_2", "output": "second"}],
    ),
    "a call without its result gets one": ((assistant(CALL), USER), [CALL_SENT, NO_RESULT, USER_SENT]),
    "reasoning goes back encrypted, in its place, without its id": (
        (assistant(Thinking("hm", SEALED), CALL, Thinking("", SEALED), Text("a")), Message("tool", (OK,))),
        [SEALED_SENT, CALL_SENT, SEALED_SENT, said("a"), OK_SENT],
    ),
    "reasoning in clear keeps its id": ((assistant(Thinking("hm", CLEAR), Text("a")),), [CLEAR, said("a")]),
    "reasoning that the server would have to remember stays here": (
        (assistant(Thinking("hm", {"type": "reasoning", "id": "rs_1", "summary": []}), Thinking("m"), Text("a")),),
        [said("a")],
    ),
    "reasoning without what it led to stays here": (
        (USER, assistant(Text("a"), Thinking("hm", SEALED))),
        [USER_SENT, said("a")],
    ),
    "empty words between reasoning and its call do not part them": (
        (assistant(Thinking("hm", SEALED), Text(""), CALL), Message("tool", (OK,))),
        [SEALED_SENT, CALL_SENT, OK_SENT],
    ),
    "reasoning before a call that gets no answer goes with it": (
        (assistant(Thinking("hm", SEALED), Opaque(SHELL), Text("a")),),
        [said("a")],
    ),
    "an echo of another wire is not sent": (
        (
            assistant(
                Opaque({"type": "redacted_thinking", "data": "x"}),
                Opaque({"type": "compaction", "content": "c"}),
                Thinking("hm", {"signature": "s", "content": ["hm"]}),
                Text("a", {"citations": []}),
            ),
        ),
        [said("a")],
    ),
    "the phase goes back": (
        (assistant(Text("a", {"phase": "commentary"}), Text("b", {"phase": "final_answer"})),),
        [said("a", phase="commentary"), said("b", phase="final_answer")],
    ),
    "finished items of the server go back verbatim, reasoning before them too": (
        (assistant(Thinking("hm", SEALED), Opaque(SEARCH), Text("a")),),
        [SEALED_SENT, SEARCH, said("a")],
    ),
    "items that wait for us, or that nobody knows, do not": (
        (assistant(*WAITING, Text("a")),),
        [said("a")],
    ),
    "what another model made is words and calls": (
        (assistant(Thinking("hm", SEALED), Opaque(SEARCH), Text("a", {"phase": "commentary"}), model="openai/other"),),
        [said("a")],
    ),
    "arguments that are no object go in one": (
        (assistant(replace(CALL, arguments='{"pa')), Message("tool", (OK,))),
        [{**CALL_SENT, "arguments": '{"invalid_arguments":"{\\"pa"}'}, OK_SENT],
    ),
    "blank arguments": (
        (assistant(replace(CALL, arguments=" ")), Message("tool", (OK,))),
        [{**CALL_SENT, "arguments": "{}"}, OK_SENT],
    ),
    "an error is said in words": (
        (assistant(CALL), Message("tool", (ToolResult("call_1", "no such file", is_error=True),))),
        [CALL_SENT, {**OK_SENT, "output": "Error: no such file"}],
    ),
    "our own errors say it themselves": (
        (assistant(CALL), Message("tool", (ToolResult("call_1", '{"ok": false}', is_error=True),))),
        [CALL_SENT, {**OK_SENT, "output": '{"ok": false}'}],
    ),
    "images of the user": (
        (Message("user", (Text("See"), Text(""), PICTURE)),),
        [{"role": "user", "content": [{"type": "input_text", "text": "See"}, PICTURE_SENT]}],
    ),
    "images in a result": (
        (assistant(CALL), Message("tool", (replace(OK, images=(PICTURE,)),))),
        [CALL_SENT, {**OK_SENT, "output": [{"type": "input_text", "text": "ok"}, PICTURE_SENT]}],
    ),
    "a result that is an image alone": (
        (assistant(CALL), Message("tool", (ToolResult("call_1", "", images=(PICTURE,)),))),
        [CALL_SENT, {**OK_SENT, "output": [PICTURE_SENT]}],
    ),
}


@pytest.mark.parametrize(("history", "expected"), HISTORIES.values(), ids=HISTORIES.keys())
def test_history(history: tuple[Message, ...], expected: list[dict[str, Any]]) -> None:
    assert body_of(*history)["input"] == expected


def test_images_left_out_are_mentioned() -> None:
    history = (Message("user", (PICTURE,)), assistant(CALL), Message("tool", (replace(OK, images=(PICTURE, PICTURE)),)))
    sent = body_of(*history, target=replace(PLAIN, quirks=Quirks(images=False)))["input"]
    assert sent == [
        {"role": "user", "content": "[1 image(s) left out: this model does not accept images]"},
        CALL_SENT,
        {**OK_SENT, "output": "ok\n[2 image(s) left out: this model does not accept images]"},
    ]


def test_the_least_request() -> None:
    assert body_of(USER) == {"model": "gpt", "input": [USER_SENT], "store": False, "stream": True}


def test_the_whole_request() -> None:
    tools = (ToolDefinition("write", "Writes.", {"type": "object"}), ToolDefinition("read", "Reads."))
    body = body_of(
        USER, target=OPENAI, system="Be brief.", tools=tools, max_output_tokens=99, thinking="high", session_id="s1"
    )
    function = {"type": "function", "strict": False}
    assert body == {
        "model": "gpt",
        "instructions": "Be brief.",
        "tools": [
            {**function, "name": "read", "description": "Reads.", "parameters": {"type": "object", "properties": {}}},
            {**function, "name": "write", "description": "Writes.", "parameters": {"type": "object"}},
        ],
        "input": [USER_SENT],
        "store": False,
        "stream": True,
        "reasoning": {"effort": "high", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 99,
        "prompt_cache_key": "s1",
    }


def test_the_body_is_the_same_whatever_the_order_of_the_tools() -> None:
    read, write = ToolDefinition("read", "Reads.", {"type": "object"}), ToolDefinition("write", "Writes.", {})
    one = WIRE.encode(ChatRequest("s", (USER,), (read, write)), PLAIN)
    assert one == WIRE.encode(ChatRequest("s", (USER,), (write, read)), PLAIN)


def test_no_limit_is_sent_if_the_server_accepts_none() -> None:
    target = replace(PLAIN, quirks=Quirks(max_tokens_field=""))
    assert "max_output_tokens" not in body_of(USER, target=target, max_output_tokens=99)


WORDS = ("none", "low", "high")
THINKING_OPTIONS: dict[str, tuple[ThinkingStyle, tuple[str, ...], str, dict[str, str] | None]] = {
    # style, the words it takes, asked for -> reasoning
    "auto is the model's own default, with a summary": ("effort", WORDS, "auto", {"summary": "auto"}),
    "a level": ("effort", WORDS, "high", {"effort": "high", "summary": "auto"}),
    "off": ("effort", WORDS, "off", {"effort": "none"}),
    "as little as it can": ("effort", ("minimal", "low"), "off", {"effort": "minimal"}),
    "the nearest word": ("effort", WORDS, "minimal", {"effort": "low", "summary": "auto"}),
    "nothing known, nothing asked for": ("unknown", (), "auto", None),
    "nothing known, a level": ("unknown", (), "low", {"effort": "low", "summary": "auto"}),
    "nothing known, off": ("unknown", (), "off", None),
    "does not think": ("none", WORDS, "high", None),
}


@pytest.mark.parametrize(
    ("style", "efforts", "asked", "expected"), THINKING_OPTIONS.values(), ids=THINKING_OPTIONS.keys()
)
def test_thinking(style: ThinkingStyle, efforts: tuple[str, ...], asked: str, expected: dict[str, str] | None) -> None:
    body = body_of(USER, target=replace(OPENAI, thinking=style, efforts=efforts), thinking=asked)
    assert body.get("reasoning") == expected
    assert ("include" in body) == (style != "none")


def test_no_summary_is_requested_if_the_account_gets_none() -> None:
    target = replace(OPENAI, quirks=Quirks(reasoning_summary=False))
    assert body_of(USER, target=target, thinking="low")["reasoning"] == {"effort": "low"}
    assert "reasoning" not in body_of(USER, target=target)


# --- bytes -> events ---------------------------------------------------------------------------------------------

CREATED = {"type": "response.created", "response": {"status": "in_progress", "output": []}}
PING = {"type": "ping", "cost": "0"}


def completed(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"status": "completed", "output": list(output), **more}}


def incomplete(reason: str) -> dict[str, Any]:
    response = {"status": "incomplete", "incomplete_details": {"reason": reason}, "output": []}
    return {"type": "response.incomplete", "response": response}


def added(index: int, item: dict[str, Any]) -> dict[str, Any]:
    start = {"content": [], "summary": [], "arguments": "", "status": "in_progress"}
    return {"type": "response.output_item.added", "output_index": index, "item": {**item, **start}}


def ended(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": {"status": "completed", **item}}


def pieces(kind: str, index: int, *deltas: str, **more: Any) -> list[dict[str, Any]]:
    """Each from an item of another id, as Copilot has it."""
    return [
        {"type": f"response.{kind}.delta", "output_index": index, "item_id": f"new-{n}", "delta": delta, **more}
        for n, delta in enumerate(deltas)
    ]


def spoken(*texts: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": t} for t in texts],
    } | more


def function_call(arguments: str, number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": "fc",
        "call_id": f"call_{number}",
        "name": "f",
        "arguments": arguments,
    } | more


def message(index: int, *deltas: str, **more: Any) -> list[dict[str, Any]]:
    item = spoken("".join(deltas), **more)
    return [
        added(index, item),
        {"type": "response.content_part.added", "output_index": index, "content_index": 0, "part": {"text": ""}},
        *pieces("output_text", index, *deltas, content_index=0),
        {"type": "response.output_text.done", "output_index": index, "content_index": 0, "text": "".join(deltas)},
        ended(index, item),
    ]


def call(index: int, *deltas: str, number: int = 1) -> list[dict[str, Any]]:
    item = function_call("".join(deltas), number)
    done = {"type": "response.function_call_arguments.done", "output_index": index, "arguments": "".join(deltas)}
    return [added(index, item), *pieces("function_call_arguments", index, *deltas), done, ended(index, item)]


def without_index(event: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name != "output_index"}


def refusal_part(text: str) -> dict[str, Any]:
    return {"type": "message", "content": [{"type": "refusal", "refusal": text}]}


TEXT = message(0, "Hi", "!")
THOUGHT = pieces("reasoning_summary_text", 0, "h", "m", summary_index=0)


def parse(*events: dict[str, Any] | str) -> tuple[list[StreamEvent], ModelError | None]:
    return parse_body(WIRE, (event if isinstance(event, str) else json.dumps(event) for event in events))


ANSWERS: dict[str, tuple[list[dict[str, Any] | str], tuple[Part, ...]]] = {
    "text, with pings anywhere": ([PING, CREATED, PING, *TEXT, PING, completed(), PING], (Text("Hi!"),)),
    "unknown events, [DONE] and all": (
        [CREATED, {"type": "response.brand_new", "delta": {"a": 1}}, "[DONE]", *TEXT, completed(), "[DONE]"],
        (Text("Hi!"),),
    ),
    "an item's end without its index": (
        [*TEXT, *message(3, "a", "b")[:-1], without_index(message(3, "ab")[-1]), completed()],
        (Text("Hi!ab"),),
    ),
    "no index, no ends of items": (
        [*map(without_index, [*TEXT[:-1], TEXT[0], {**TEXT[-2], "text": " Ho!"}]), completed()],
        (Text("Hi! Ho!"),),
    ),
    "no index anywhere": (
        [*map(without_index, [*TEXT, *call(1, '{"x":1}'), *call(2, "{}", number=2)]), completed()],
        (Text("Hi!"), ToolCall("call_1", "f", '{"x":1}'), ToolCall("call_2", "f", "{}")),
    ),
    "deltas alone": ([*pieces("output_text", 1, "Hi", "!"), completed(spoken("Hi!"))], (Text("Hi!"),)),
    "text that comes only when it is done": (
        [{"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "Hi!"}, completed()],
        (Text("Hi!"),),
    ),
    "several such parts": (
        [
            *({**TEXT[-2], "content_index": part, "text": text} for part, text in enumerate(("Hi", "!"))),
            ended(0, spoken("Hi", "!")),
            completed(),
        ],
        (Text("Hi!"),),
    ),
    "text that comes only with its item": ([ended(0, spoken("Hi", "!")), completed()], (Text("Hi!"),)),
    "text that comes only at the end": (
        [CREATED, completed(spoken("Hi!"), function_call('{"x":1}'))],
        (Text("Hi!"), ToolCall("call_1", "f", '{"x":1}')),
    ),
    "what the end repeats is not read": ([*TEXT, completed(spoken("Else"), function_call("{}"))], (Text("Hi!"),)),
    "phases part messages": (
        [*message(0, "a", phase="commentary"), *message(1, "b", phase="final_answer"), completed()],
        (Text("a", {"phase": "commentary"}), Text("b", {"phase": "final_answer"})),
    ),
    "a phase of nothing": ([*message(0, phase="commentary"), *message(1, "b"), completed()], (Text("b"),)),
    "reasoning with the seal that came last": (
        [
            added(0, {**SEALED, "encrypted_content": "half"}),
            *THOUGHT,
            {"type": "response.reasoning_summary_text.done", "output_index": 0, "summary_index": 0, "text": "hm"},
            ended(0, SEALED),
            *message(1, "Hi"),
            completed(),
        ],
        (Thinking("hm", SEALED), Text("Hi")),
    ),
    "a blank line between parts of a summary": (
        [
            *THOUGHT,
            *pieces("reasoning_summary_text", 0, "so", "!", summary_index=1),
            ended(0, SEALED),
            completed(),
        ],
        (Thinking("hm\n\nso!", SEALED),),
    ),
    "reasoning that nobody saw": (
        [added(0, SEALED), ended(0, {**SEALED, "summary": []}), *call(1, "{}"), completed()],
        (Thinking("", {**SEALED, "summary": []}), ToolCall("call_1", "f", "{}")),
    ),
    "reasoning that comes only with its item": (
        [ended(0, {**SEALED, "summary": [*SUMMARY, *SUMMARY]}), completed()],
        (Thinking("hm\n\nhm", {**SEALED, "summary": [*SUMMARY, *SUMMARY]}),),
    ),
    "reasoning in clear": (
        [*pieces("reasoning_text", 0, "h", "m", content_index=0), ended(0, CLEAR), *message(1, "Hi"), completed()],
        (Thinking("hm", CLEAR), Text("Hi")),
    ),
    "reasoning that ends after the text": (
        [*pieces("reasoning_text", 0, "h", "m", content_index=0), *message(1, "Hi"), ended(0, CLEAR), completed()],
        (Thinking("hm", CLEAR), Text("Hi")),
    ),
    "reasoning that cannot go back still ends": (
        [
            *THOUGHT,
            ended(0, {"type": "reasoning", "id": "a", "summary": SUMMARY, "content": [], "encrypted_content": None}),
            *pieces("reasoning_summary_text", 1, "so", summary_index=0),
            ended(1, SEALED),
            completed(),
        ],
        (Thinking("hm", {}), Thinking("so", SEALED)),
    ),
    "reasoning of which nothing is left": (
        [ended(0, {"type": "reasoning", "id": "a", "summary": []}), *message(1, "Hi"), completed()],
        (Text("Hi"),),
    ),
    "calls": (
        [*call(0, '{"x"', ":1}"), *call(1, number=2), completed()],
        (ToolCall("call_1", "f", '{"x":1}'), ToolCall("call_2", "f", "{}")),
    ),
    "calls of one id": (
        [*call(0, '{"x":1}'), *call(1, '{"x":2}'), completed()],
        (ToolCall("call_1", "f", '{"x":1}'), ToolCall("call_1_2", "f", '{"x":2}')),
    ),
    "interleaved calls": (
        [
            *[
                event
                for pair in zip(call(0, '{"x"', ":1}"), call(1, '{"y"', ":2}", number=2), strict=True)
                for event in pair
            ],
            completed(),
        ],
        (ToolCall("call_1", "f", '{"x":1}'), ToolCall("call_2", "f", '{"y":2}')),
    ),
    "the item's arguments count": (
        [*call(0, '{"x":1}')[:-1], ended(0, function_call('{"x":2}')), completed()],
        (ToolCall("call_1", "f", '{"x":2}'),),
    ),
    "an item that leaves them out": (
        [*call(0, '{"x":1}')[:-1], ended(0, function_call("")), completed()],
        (ToolCall("call_1", "f", '{"x":1}'),),
    ),
    "arguments that come only when they are done": (
        [call(0)[0], {**call(0)[1], "arguments": '{"x":1}'}, completed()],
        (ToolCall("call_1", "f", '{"x":1}'),),
    ),
    "a call that comes only with its item": (
        [ended(0, function_call('{"x":1}')), completed()],
        (ToolCall("call_1", "f", '{"x":1}'),),
    ),
    "a broken call that comes only with its item": (
        [ended(0, function_call('{"x"')), completed()],
        (ToolCall("call_1", "f", '{"x"'),),
    ),
    "a name that comes after the arguments": (
        [*pieces("function_call_arguments", 0, '{"x":1}'), ended(0, function_call('{"x":1}')), completed()],
        (ToolCall("call_1", "f", '{"x":1}'),),
    ),
    "broken arguments of a complete answer": (
        [*call(0, '{"x"'), completed()],
        (ToolCall("call_1", "f", '{"x"'),),
    ),
    "items of the server and of later days": (
        [added(0, SEARCH), ended(0, SEARCH), ended(1, {"type": "new", "a": [1]}), *message(2, "Hi"), completed()],
        (Opaque(SEARCH), Opaque({"status": "completed", "type": "new", "a": [1]}), Text("Hi")),
    ),
    "the arguments of a server's own call are not a call": (
        [
            *pieces("mcp_call_arguments", 0, "{}"),
            *pieces("custom_tool_call_input", 1, "x"),
            *message(2, "Hi"),
            completed(),
        ],
        (Text("Hi"),),
    ),
}


@pytest.mark.parametrize(("events", "parts"), ANSWERS.values(), ids=ANSWERS.keys())
def test_answer(events: list[Any], parts: tuple[Part, ...]) -> None:
    parsed, failure = parse(*events)
    assert failure is None
    answer, builder = built(parsed)
    assert answer.parts == parts
    assert builder.incomplete_calls == ()
    assert [event for event in parsed if isinstance(event, Done)] == [parsed[-1]]


def test_a_refusal_is_text_and_a_stop_reason() -> None:
    for events in (
        pieces("refusal", 0, "No", ".", content_index=0),
        [{"type": "response.refusal.done", "output_index": 0, "content_index": 0, "refusal": "No."}],
        [ended(0, refusal_part("No."))],
        [*pieces("refusal", 0, "No."), ended(0, refusal_part("No."))],
    ):
        parsed, _ = parse(*events, completed())
        assert built(parsed)[0].text == "No."
        assert parsed[-1] == Done(WireStop.REFUSAL, "completed")


STOPS: dict[str, tuple[list[dict[str, Any]], Done]] = {
    "text": ([*TEXT, completed()], Done(WireStop.END_TURN, "completed")),
    "nothing": ([CREATED, completed()], Done(WireStop.END_TURN, "completed")),
    "calls": ([*call(0, "{}"), completed()], Done(WireStop.TOOL_CALLS, "completed")),
    "length": ([*TEXT, incomplete("max_output_tokens")], Done(WireStop.MAX_TOKENS, "max_output_tokens")),
    "filter": ([*TEXT, incomplete("content_filter")], Done(WireStop.REFUSAL, "content_filter")),
    "another reason": ([*TEXT, incomplete("steered")], Done(WireStop.OTHER, "steered")),
    "incomplete by its status alone": ([*TEXT, completed(status="incomplete")], Done(WireStop.OTHER, "incomplete")),
    "no status": ([*TEXT, {"type": "response.completed", "response": {}}], Done(WireStop.END_TURN, "")),
}


@pytest.mark.parametrize(("events", "done"), STOPS.values(), ids=STOPS.keys())
def test_stop(events: list[dict[str, Any]], done: Done) -> None:
    assert parse(*events)[0][-1] == done


CUT_OFF = [
    added(1, function_call("")),
    *pieces("function_call_arguments", 1, '{"x"'),
    {"type": "response.function_call_arguments.done", "output_index": 1, "arguments": '{"x"'},
]
CUT_OFF_CALLS: dict[str, list[dict[str, Any]]] = {
    "by its status": [*CUT_OFF, ended(1, function_call('{"x"', status="incomplete")), incomplete("max_output_tokens")],
    "by the answer's end": [*CUT_OFF, ended(1, function_call('{"x"')), incomplete("max_output_tokens")],
    "by a filter": [*CUT_OFF, incomplete("content_filter")],
    "without its item's end": [*CUT_OFF, incomplete("max_output_tokens")],
    "before its arguments": [
        added(1, function_call("")),
        ended(1, function_call("", status="incomplete")),
        incomplete("max_output_tokens"),
    ],
    "in an answer said to be complete": [*CUT_OFF, ended(1, function_call('{"x"', status="incomplete")), completed()],
}


@pytest.mark.parametrize("events", CUT_OFF_CALLS.values(), ids=CUT_OFF_CALLS.keys())
def test_a_call_cut_off_is_not_complete(events: list[dict[str, Any]]) -> None:
    parsed, failure = parse(*call(0, '{"y":1}', number=9), *events)
    assert failure is None
    builder = built(parsed)[1]
    assert builder.incomplete_calls == ("call_1",)
    assert [event.id for event in parsed if isinstance(event, ToolCallComplete)] == ["call_9"]
    assert isinstance(parsed[-1], Done)


USAGES: dict[str, tuple[dict[str, Any], Usage]] = {
    "all of it": (
        {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
            "output_tokens": 50,
            "output_tokens_details": {"reasoning_tokens": 40},
            "total_tokens": 150,
        },
        Usage(100, 60, 30, 50, 40),
    ),
    "no details": ({"input_tokens": 100, "output_tokens": 50, "input_tokens_details": None}, Usage(100, 0, 0, 50)),
    "a fee beside what the owner of the key pays": (
        {
            "input_tokens": 1,
            "output_tokens": 1,
            "cost": 0.5,
            "is_byok": True,
            "cost_details": {"upstream_inference_cost": 2},
        },
        Usage(1, 0, 0, 1, cost_usd=2.5),
    ),
    "a cost": ({"input_tokens": 1, "output_tokens": 1, "cost": 0.5}, Usage(1, 0, 0, 1, cost_usd=0.5)),
}


@pytest.mark.parametrize(("sent", "expected"), USAGES.values(), ids=USAGES.keys())
def test_usage(sent: dict[str, Any], expected: Usage) -> None:
    assert built(parse(*TEXT, completed(usage=sent))[0])[1].usage == expected


def failed(error: Any) -> dict[str, Any]:
    return {"type": "response.failed", "response": {"status": "failed", "error": error}}


FAILURES: dict[str, tuple[dict[str, Any] | str, type[ModelError]]] = {
    "nested": ({"type": "error", "error": {"code": "rate_limit_exceeded", "message": "slow"}}, RateLimited),
    "flat": ({"type": "error", "code": "insufficient_quota", "message": "pay", "param": None}, QuotaExceeded),
    "flat and empty": ({"type": "error", "code": None, "message": None}, ModelError),
    "without a type": ({"error": {"message": "server_is_overloaded"}}, Overloaded),
    "in words": ({"detail": "too many requests"}, RateLimited),
    "failed": (failed({"code": "server_error", "message": "oops"}), ServerError),
    "failed without a word": (failed(None), ModelError),
    "an error in a complete answer": (completed(error={"code": "server_error", "message": "oops"}), ServerError),
    "no JSON": ("oops", ProtocolError),
    "no object": ("[]", ProtocolError),
    "an item that is none": ({"type": "response.output_item.done", "item": "oops"}, ProtocolError),
    "a message of another shape": (ended(1, {"type": "message", "content": "oops"}), ProtocolError),
    "an end of another shape": ({"type": "response.completed", "response": {"usage": "oops"}}, ProtocolError),
}


@pytest.mark.parametrize(("event", "kind"), FAILURES.values(), ids=FAILURES.keys())
def test_errors_in_the_stream(event: dict[str, Any] | str, kind: type[ModelError]) -> None:
    events, failure = parse(CREATED, *pieces("output_text", 0, "Hi"), event, completed())
    assert events == [TextDelta("Hi")]
    assert type(failure) is kind


def test_a_call_that_never_gets_a_name_is_an_error() -> None:
    _, failure = parse(*pieces("function_call_arguments", 0, "{}"), completed())
    assert isinstance(failure, ProtocolError)


WHOLE = [CREATED, *THOUGHT, ended(0, SEALED), *message(1, "Hi"), *call(2, '{"x":1}')]


@pytest.mark.parametrize("seen", range(len(WHOLE) + 1))
def test_only_the_closing_event_ends_an_answer(seen: int) -> None:
    events, failure = parse(*WHOLE[:seen], "[DONE]", PING)
    assert isinstance(failure, StreamCut)
    assert not any(isinstance(event, Done) for event in events)


def test_nothing_comes_after_the_end() -> None:
    events, failure = parse(*TEXT, completed(), *message(1, "more"), completed(), failed({"message": "late"}))
    assert failure is None
    assert [event for event in events if isinstance(event, Done)] == [events[-1]]
    assert built(events)[0].text == "Hi!"


def test_an_answer_is_sent_back_unchanged() -> None:
    """Encrypted reasoning, the phase, the call: the second request of a tool loop."""
    events, _ = parse(
        CREATED, *THOUGHT, ended(0, SEALED), *message(1, "Hi", phase="commentary"), *call(2, "{}"), completed()
    )
    assert ThinkingDelta("h") in events
    assert Echo("thinking", SEALED) in events
    answer, _ = built(events, REF)
    sent = body_of(USER, answer, Message("tool", (OK,)), target=OPENAI)["input"]
    assert sent == [
        USER_SENT,
        SEALED_SENT,
        said("Hi", phase="commentary"),
        {**CALL_SENT, "name": "f", "arguments": "{}"},
        OK_SENT,
    ]
