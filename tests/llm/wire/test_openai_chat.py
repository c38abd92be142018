"""Chat Completions in both directions: histories to bodies, and streams of many servers to events; one row per case."""

import json
import re
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.errors import BadRequest, ModelError, ProtocolError, RateLimited, ServerError, StreamCut
from tark_lsp.llm.events import Done, Echo, StreamEvent, UsageUpdate, WireStop
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.openai_chat import WIRE
from tark_lsp.llm.wire.wire import Quirks, TargetModel
from tark_lsp.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolDefinition, ToolResult, Usage
from tests.exhaustive import examples
from tests.llm.asking import built, parse_body

TARGET = TargetModel("openai/gpt", "gpt")
USER = Message("user", (Text("Do it."),))


def assistant(*parts: Part, model: str = "openai/gpt") -> Message:
    return Message("assistant", parts, model)


def results(*parts: ToolResult) -> Message:
    return Message("tool", parts)


def body_of(*messages: Message, target: TargetModel = TARGET, **request: Any) -> dict[str, Any]:
    return dict(json.loads(WIRE.encode(ChatRequest("", messages, **request), target)))


CALL = ToolCall("call_1", "read_file", '{"path":"a"}')
CALL_SENT = {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"a"}'}}
NO_RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "Error: No result: this call did not run."}
USER_SENT = {"role": "user", "content": "Do it."}
PICTURE = Image("image/png", "QUJD")
PICTURE_SENT = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}

HISTORIES: dict[str, tuple[tuple[Message, ...], list[dict[str, Any]]]] = {
    "text": ((USER,), [USER_SENT]),
    "call and result": (
        (USER, assistant(Text("Well."), CALL), results(ToolResult("call_1", "text"))),
        [
            USER_SENT,
            {"role": "assistant", "content": "Well.", "tool_calls": [CALL_SENT]},
            {"role": "tool", "tool_call_id": "call_1", "content": "text"},
        ],
    ),
    "a call without its result gets one": (
        (USER, assistant(CALL), USER),
        [USER_SENT, {"role": "assistant", "content": None, "tool_calls": [CALL_SENT]}, NO_RESULT, USER_SENT],
    ),
    "stray and double results are dropped, the calls' order is kept": (
        (
            USER,
            results(ToolResult("call_9", "stray")),
            assistant(CALL, replace(CALL, id="call_2")),
            results(ToolResult("call_2", "two"), ToolResult("call_7", "stray"), ToolResult("call_1", "one")),
            results(ToolResult("call_1", "again")),
        ),
        [
            USER_SENT,
            {"role": "assistant", "content": None, "tool_calls": [CALL_SENT, {**CALL_SENT, "id": "call_2"}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "one"},
            {"role": "tool", "tool_call_id": "call_2", "content": "two"},
        ],
    ),
    "an error is said in the text": (
        (assistant(CALL), results(ToolResult("call_1", "boom", is_error=True))),
        [
            {"role": "assistant", "content": None, "tool_calls": [CALL_SENT]},
            {"role": "tool", "tool_call_id": "call_1", "content": "Error: boom"},
        ],
    ),
    "our own failures say it themselves": (
        (assistant(CALL), results(ToolResult("call_1", '{"ok": false, "error": {}}', is_error=True))),
        [
            {"role": "assistant", "content": None, "tool_calls": [CALL_SENT]},
            {"role": "tool", "tool_call_id": "call_1", "content": '{"ok": false, "error": {}}'},
        ],
    ),
    "empty arguments": (
        (assistant(replace(CALL, arguments=" ")), results(ToolResult("call_1", "ok"))),
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{**CALL_SENT, "function": {"name": "read_file", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
        ],
    ),
    "images of the user and of results": (
        (
            Message("user", (Text("Look."), PICTURE)),
            assistant(CALL),
            results(ToolResult("call_1", "seen", images=(PICTURE,))),
        ),
        [
            {"role": "user", "content": [{"type": "text", "text": "Look."}, PICTURE_SENT]},
            {"role": "assistant", "content": None, "tool_calls": [CALL_SENT]},
            {"role": "tool", "tool_call_id": "call_1", "content": "seen"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "The images of the tool results above:"},
                    PICTURE_SENT,
                ],
            },
        ],
    ),
    "thinking is not sent, its echo is": (
        (assistant(Thinking("hm", {"reasoning_details": [{"type": "reasoning.text"}]}), Text("Yes.")),),
        [{"role": "assistant", "content": "Yes.", "reasoning_details": [{"type": "reasoning.text"}]}],
    ),
    "of an echo only the fields of this wire are sent": (
        (assistant(Thinking("hm", {"signature": "s", "id": "rs_1", "encrypted_content": "x"}), Text("Yes.")),),
        [{"role": "assistant", "content": "Yes."}],
    ),
    "an echo that names a call follows it when its id changes": (
        (
            assistant(
                Thinking("", {"reasoning_details": [{"type": "reasoning.encrypted", "id": "functions.add:0"}]}),
                replace(CALL, id="functions.add:0"),
            ),
            results(ToolResult("functions.add:0", "ok")),
        ),
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{**CALL_SENT, "id": "call_fkvsxhtlcd7hojaammvmtet43e"}],
                "reasoning_details": [{"type": "reasoning.encrypted", "id": "call_fkvsxhtlcd7hojaammvmtet43e"}],
            },
            {"role": "tool", "tool_call_id": "call_fkvsxhtlcd7hojaammvmtet43e", "content": "ok"},
        ],
    ),
    "thinking and opaque parts of another model are dropped, and a message of nothing else with them": (
        (
            assistant(Thinking("hm", {"signature": "s"}), Opaque({"type": "x"}), Text("Yes."), model="anthropic/c"),
            assistant(Thinking("hm", {"signature": "s"}), model="anthropic/c"),
        ),
        [{"role": "assistant", "content": "Yes."}],
    ),
    "a foreign id is made to fit, in both places": (
        (assistant(replace(CALL, id="functions.add:0")), results(ToolResult("functions.add:0", "ok"))),
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{**CALL_SENT, "id": "call_fkvsxhtlcd7hojaammvmtet43e"}],
            },
            {"role": "tool", "tool_call_id": "call_fkvsxhtlcd7hojaammvmtet43e", "content": "ok"},
        ],
    ),
    "an id that comes again gets a number": (
        (assistant(CALL), results(ToolResult("call_1", "a")), assistant(CALL), results(ToolResult("call_1", "b"))),
        [
            {"role": "assistant", "content": None, "tool_calls": [CALL_SENT]},
            {"role": "tool", "tool_call_id": "call_1", "content": "a"},
            {"role": "assistant", "content": None, "tool_calls": [{**CALL_SENT, "id": "call_1_2"}]},
            {"role": "tool", "tool_call_id": "call_1_2", "content": "b"},
        ],
    ),
    "a lone surrogate does not break the request": (
        (Message("user", (Text("a\ud83db"),)),),
        [{"role": "user", "content": "a?b"}],
    ),
}


@pytest.mark.parametrize(("history", "expected"), HISTORIES.values(), ids=HISTORIES.keys())
def test_history(history: tuple[Message, ...], expected: list[dict[str, Any]]) -> None:
    assert body_of(*history)["messages"] == expected


READ = ToolDefinition("read_file", "Reads.", {"type": "object", "properties": {"z": {}, "a": {}}})
WRITE = ToolDefinition("write_file", "Writes.", {"type": "object"})

FIELDS: dict[str, tuple[TargetModel, dict[str, Any], dict[str, Any]]] = {
    "plain": (TARGET, {}, {"model": "gpt", "stream": True, "stream_options": {"include_usage": True}}),
    "without stream_options": (TargetModel("a/b", "b", Quirks(stream_usage=False)), {}, {"stream_options": None}),
    "max tokens": (TARGET, {"max_output_tokens": 9}, {"max_tokens": 9}),
    "max tokens of reasoning models": (
        TargetModel("a/b", "b", Quirks(max_tokens_field="max_completion_tokens")),
        {"max_output_tokens": 9},
        {"max_completion_tokens": 9, "max_tokens": None},
    ),
    "effort": (TARGET, {"thinking": "high"}, {"reasoning_effort": "high"}),
    "effort at OpenRouter": (
        TargetModel("a/b", "b", Quirks(effort_field="reasoning")),
        {"thinking": "low"},
        {"reasoning": {"effort": "low"}, "reasoning_effort": None},
    ),
    "no effort for a model that does not think": (
        TargetModel("a/b", "b", thinking="none"),
        {"thinking": "high"},
        {"reasoning_effort": None},
    ),
    "no effort by default": (TARGET, {"thinking": "auto"}, {"reasoning_effort": None}),
    "an effort in the words the model takes": (
        TargetModel("a/b", "b", efforts=("low", "high")),
        {"thinking": "medium"},
        {"reasoning_effort": "low"},
    ),
    "off is the least the model can": (
        TargetModel("a/b", "b", efforts=("minimal", "low")),
        {"thinking": "off"},
        {"reasoning_effort": "minimal"},
    ),
    "off where nothing is known of the model": (TARGET, {"thinking": "off"}, {"reasoning_effort": None}),
    "off at OpenRouter": (
        TargetModel("a/b", "b", Quirks(effort_field="reasoning")),
        {"thinking": "off"},
        {"reasoning": {"enabled": False}},
    ),
    "off at OpenRouter, for a model that cannot but think": (
        TargetModel("a/b", "b", Quirks(effort_field="reasoning"), efforts=("low", "high")),
        {"thinking": "off"},
        {"reasoning": {"effort": "low"}},
    ),
    "auto at OpenRouter": (TargetModel("a/b", "b", Quirks(effort_field="reasoning")), {}, {"reasoning": None}),
    "off at DeepSeek": (
        TargetModel("a/b", "b", Quirks(effort_field="thinking"), efforts=("none", "high")),
        {"thinking": "off"},
        {"thinking": {"type": "disabled"}, "reasoning_effort": None},
    ),
    "an effort at DeepSeek": (
        TargetModel("a/b", "b", Quirks(effort_field="thinking")),
        {"thinking": "high"},
        {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
    ),
    "off in the template (vLLM, llama.cpp)": (
        TargetModel("a/b", "b", Quirks(effort_field="chat_template_kwargs")),
        {"thinking": "off"},
        {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": None},
    ),
    "an effort beside the template": (
        TargetModel("a/b", "b", Quirks(effort_field="chat_template_kwargs")),
        {"thinking": "low"},
        {"reasoning_effort": "low", "chat_template_kwargs": None},
    ),
    "no limit where none may be sent (Copilot)": (
        TargetModel("a/b", "b", Quirks(max_tokens_field="")),
        {"max_output_tokens": 9},
        {"max_tokens": None, "": None},
    ),
    "the session, for the cache": (
        TargetModel("a/b", "b", Quirks(cache_key=True)),
        {"session_id": "s1"},
        {"prompt_cache_key": "s1"},
    ),
    "no session": (TARGET, {"session_id": "s1"}, {"prompt_cache_key": None}),
    "no tools": (TARGET, {}, {"tools": None}),
}


@pytest.mark.parametrize(("target", "request_fields", "expected"), FIELDS.values(), ids=FIELDS.keys())
def test_fields(target: TargetModel, request_fields: dict[str, Any], expected: dict[str, Any]) -> None:
    body = body_of(USER, target=target, **request_fields)
    assert {name: body.get(name) for name in expected} == expected


def test_the_system_prompt_has_the_model_s_role() -> None:
    for role in ("system", "developer"):
        target = TargetModel("a/b", "b", Quirks(system_role=role))
        body = json.loads(WIRE.encode(ChatRequest("Be brief.", (USER,)), target))
        assert body["messages"][0] == {"role": role, "content": "Be brief."}


def test_reasoning_is_sent_back_on_messages_with_calls() -> None:
    target = TargetModel("deepseek/r", "r", Quirks(reasoning_field="reasoning_content"))
    mine = assistant(Thinking("hm"), CALL, model="deepseek/r")
    foreign = assistant(Thinking("no"), CALL, model="x/y")
    words = assistant(Thinking("so"), Text("Yes."), model="deepseek/r")
    sent = body_of(mine, foreign, words, target=target)["messages"]
    assert [message.get("reasoning_content") for message in sent if message["role"] == "assistant"] == ["hm", "", None]


MISTRAL = TargetModel("mistral/m", "m", Quirks(call_id_length=9))
GIVEN_IDS = ("yBvJuId6u", "call_1", "call_2", "yBvJuId6u", "toolu_01AVRkzbigpMbNJ3zjnuQ6ZE", "a")


def test_ids_of_an_exact_length_still_pair() -> None:
    history = [
        message
        for number, given in enumerate(GIVEN_IDS)
        for message in (assistant(replace(CALL, id=given)), results(ToolResult(given, f"result {number}")))
    ]
    sent = body_of(*history, target=MISTRAL)["messages"]
    ids = [message["tool_calls"][0]["id"] for message in sent[::2]]
    assert ids[0] == "yBvJuId6u"
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", call_id) for call_id in ids)
    assert len(set(ids)) == len(ids)
    assert [message["tool_call_id"] for message in sent[1::2]] == ids
    assert [message["content"] for message in sent[1::2]] == [f"result {number}" for number in range(len(ids))]
    assert body_of(*history, target=MISTRAL)["messages"] == sent


@given(st.lists(st.text(max_size=50), max_size=6), st.sampled_from([0, 5, 9]))
@settings(max_examples=examples(100))
def test_calls_and_results_pair_with_any_ids(given_ids: list[str], length: int) -> None:
    calls = [replace(CALL, id=given) for given in given_ids]
    answered = {given: ToolResult(given, f"of {number}") for number, given in enumerate(given_ids)}
    target = TargetModel("a/b", "b", Quirks(call_id_length=length))
    sent = body_of(assistant(*calls), results(*answered.values()), target=target)["messages"]
    ids = [call["id"] for message in sent for call in message.get("tool_calls", ())]
    told = [(message["tool_call_id"], message["content"]) for message in sent if message["role"] == "tool"]
    assert told == [(new, answered[given].content) for new, given in zip(ids, given_ids, strict=True)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(f"[a-zA-Z0-9]{{{length}}}" if length else "[a-zA-Z0-9_-]{1,40}", new) for new in ids)


def test_with_strict_roles_an_assistant_message_follows_the_results() -> None:
    answered = (USER, assistant(CALL), results(ToolResult("call_1", "ok", images=(PICTURE,))), USER)
    for bridged in (False, True):
        sent = body_of(*answered, target=TargetModel("a/b", "b", Quirks(bridge_results=bridged)))["messages"]
        between = ["assistant"] if bridged else []
        assert [message["role"] for message in sent] == ["user", "assistant", "tool", *between, "user", "user"]


MARK = {"type": "ephemeral"}
LOOP = (
    USER,
    assistant(CALL, replace(CALL, id="call_2")),
    results(ToolResult("call_1", "one"), ToolResult("call_2", "two")),
    assistant(replace(CALL, id="call_3")),
    results(ToolResult("call_3", "three", images=(PICTURE,))),
)


def marked(field: Literal["cache_control", "copilot_cache_control"], *messages: Message) -> list[dict[str, Any]]:
    target = TargetModel("p/m", "m", Quirks(cache_field=field))
    body = json.loads(WIRE.encode(ChatRequest("Be brief.", messages), target))
    return list(body["messages"])


def test_the_prefix_is_marked_on_parts_for_openrouter() -> None:
    sent = marked("cache_control", *LOOP)
    assert sent[0] == {"role": "system", "content": [{"type": "text", "text": "Be brief.", "cache_control": MARK}]}
    places = [place for place, message in enumerate(sent) if "cache_control" in json.dumps(message.get("content"))]
    assert [sent[place]["role"] for place in places] == ["system", "tool", "user"]
    assert places == [0, 4, len(sent) - 1]  # 4: what the request before this one ended with
    assert [part.get("cache_control") for part in sent[-1]["content"]] == [MARK, None]  # text takes it, pictures not
    assert not any("cache_control" in message for message in sent)


def test_copilot_marks_whole_messages() -> None:
    sent = marked("copilot_cache_control", *LOOP)
    places = [place for place, message in enumerate(sent) if message.get("copilot_cache_control") == MARK]
    assert places == [0, 4, len(sent) - 1]
    assert sent[0]["content"] == "Be brief."


def test_only_marks_change_between_requests_of_a_loop() -> None:
    def without(messages: list[dict[str, Any]]) -> list[Any]:
        return list(json.loads(json.dumps(messages).replace(', "cache_control": {"type": "ephemeral"}', "")))

    for count in range(1, len(LOOP)):
        one, next_one = marked("cache_control", *LOOP[:count]), marked("cache_control", *LOOP)
        if LOOP[count - 1].role != "assistant":
            assert without(next_one)[: len(one)] == without(one)


def test_empty_text_is_not_sent() -> None:
    fields: tuple[Literal["cache_control", "copilot_cache_control"], ...] = ("cache_control", "copilot_cache_control")
    for field in fields:
        assert [message["role"] for message in marked(field, Message("user", (Text(""),)))] == ["system"]


def test_a_tool_without_parameters_still_has_a_schema() -> None:
    body = json.loads(WIRE.encode(ChatRequest("", (USER,), (ToolDefinition("now", "Tells the time."),)), TARGET))
    assert body["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}


def test_a_model_without_image_input_gets_a_note() -> None:
    target = TargetModel("a/b", "b", Quirks(images=False))
    (sent,) = body_of(Message("user", (Text("Look."), PICTURE)), target=target)["messages"]
    assert sent["content"] == "Look.\n[1 image(s) left out: this model does not accept images]"


def test_bodies_are_the_same_to_the_byte_whatever_the_order_of_the_tools() -> None:
    one = WIRE.encode(ChatRequest("s", (USER,), (READ, WRITE)), TARGET)
    other = WIRE.encode(ChatRequest("s", (USER,), (WRITE, READ)), TARGET)
    assert one == other
    tools = json.loads(one)["tools"]
    assert [tool["function"]["name"] for tool in tools] == ["read_file", "write_file"]
    assert list(tools[0]["function"]["parameters"]["properties"]) == ["z", "a"]


def test_an_answer_is_sent_back_unchanged() -> None:
    events, _ = parse(
        delta(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "a", "format": None}]),
        delta(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "b", "signature": "s", "format": "f"}]),
        delta(reasoning_details=[{"type": "reasoning.encrypted", "index": 1, "id": "call_1", "data": "x"}]),
        delta(content="Yes."),
        finish("stop"),
    )
    message, _ = built(events, "openai/gpt")
    (sent,) = body_of(message)["messages"]
    assert sent["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "ab", "format": "f", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "id": "call_1", "data": "x"},
    ]


# --- bytes -> events ---------------------------------------------------------------------------------------------


DONE = "[DONE]"


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def finish(reason: str | None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], **fields}


def call(**fields: Any) -> dict[str, Any]:
    return delta(tool_calls=[fields])


def parse(*chunks: dict[str, Any] | str) -> tuple[list[StreamEvent], ModelError | None]:
    return parse_body(WIRE, (chunk if isinstance(chunk, str) else json.dumps(chunk) for chunk in chunks))


F = {"name": "f", "arguments": "{}"}
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}

ANSWERS: dict[str, tuple[list[dict[str, Any] | str], str, str, list[tuple[str, str, str]]]] = {
    # chunks, text, thinking, calls
    "text": ([delta(role="assistant", content=""), delta(content="Hi"), finish("stop"), DONE], "Hi", "", []),
    "no [DONE]": ([delta(content="Hi"), finish("stop")], "Hi", "", []),
    "no finish reason": ([delta(content="Hi"), DONE], "Hi", "", []),
    "nothing after [DONE] counts": (
        [delta(content="Hi"), DONE, {"type": "ping", "cost": "0"}, "nonsense"],
        "Hi",
        "",
        [],
    ),
    "content as a list": (
        [
            delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}, {"type": "odd"}]),
            delta(content=[{"type": "text", "text": "Hi"}]),
            finish("stop"),
        ],
        "Hi",
        "Hm",
        [],
    ),
    "null everywhere": (
        [
            {"choices": None},
            {"choices": [{"index": 0, "delta": None}]},
            delta(content=None, tool_calls=None),
            {"choices": [], "usage": None},
            delta(content="Hi"),
            finish("stop"),
        ],
        "Hi",
        "",
        [],
    ),
    "another choice is not ours": (
        [delta(content="Hi"), {"choices": [{"index": 1, "delta": {"content": "no"}}]}, finish("stop")],
        "Hi",
        "",
        [],
    ),
    "a refusal is words": ([delta(refusal="I won't."), finish("stop")], "I won't.", "", []),
    "reasoning_content": ([delta(reasoning_content="Hm"), delta(content="Hi"), finish("stop")], "Hi", "Hm", []),
    "reasoning": ([delta(reasoning="Hm", content=""), delta(content="Hi"), finish("stop")], "Hi", "Hm", []),
    "reasoning with its details is shown once": (
        [delta(reasoning="Hm", reasoning_details=[{"type": "reasoning.text", "text": "Hm"}]), finish("stop")],
        "",
        "Hm",
        [],
    ),
    "details alone": (
        [delta(reasoning_details=[{"type": "reasoning.summary", "summary": "Hm"}]), finish("stop")],
        "",
        "Hm",
        [],
    ),
    "a call in pieces, finish reason stop": (
        [
            call(index=0, id="a", type="function", function={"name": "f", "arguments": ""}),
            call(index=0, function={"arguments": '{"x"'}),
            call(index=0, id="", function={"name": None, "arguments": ":1}"}),
            finish("stop"),
        ],
        "",
        "",
        [("a", "f", '{"x":1}')],
    ),
    "all calls at index 0 (Copilot)": (
        [call(index=0, id="a", function=F), call(index=0, id="b", function=F), finish("tool_calls")],
        "",
        "",
        [("a", "f", "{}"), ("b", "f", "{}")],
    ),
    "no index (Mistral)": (
        [delta(tool_calls=[{"id": "a", "function": F}, {"id": "b", "function": F}]), finish("tool_calls")],
        "",
        "",
        [("a", "f", "{}"), ("b", "f", "{}")],
    ),
    "first index 1": ([call(index=1, id="a", function=F), finish("tool_calls")], "", "", [("a", "f", "{}")]),
    "arguments as an object": (
        [call(index=0, id="a", function={"name": "f", "arguments": {"x": 1}}), finish("stop")],
        "",
        "",
        [("a", "f", '{"x":1}')],
    ),
    "the name after the arguments": (
        [
            call(index=0, id="a", function={"arguments": '{"x"'}),
            call(index=0, function={"arguments": ":1}"}),
            call(index=0, function={"name": "f"}),
            finish("tool_calls"),
        ],
        "",
        "",
        [("a", "f", '{"x":1}')],
    ),
    "id and name again and again, or empty, in later pieces (Alibaba, Mistral, Copilot)": (
        [
            call(index=0, id="a", function={"name": "f", "arguments": '{"x"'}),
            call(index=0, id="", function={"name": "", "arguments": ":"}),
            call(index=0, id="a", function={"name": "f", "arguments": "1"}),
            call(index=0, id="null", function={"arguments": "}"}),
            finish("tool_calls"),
        ],
        "",
        "",
        [("a", "f", '{"x":1}')],
    ),
    "no id at all: a second name after whole arguments is a second call": (
        [
            call(index=0, function={"name": "f", "arguments": "{}"}),
            call(index=0, function={"name": "f", "arguments": '{"x":1}'}),
            finish("tool_calls"),
        ],
        "",
        "",
        [("call_1", "f", "{}"), ("call_2", "f", '{"x":1}')],
    ),
    "all pieces at index 0, told apart by id (Copilot with Claude)": (
        [
            call(index=0, id="a", function={"name": "f", "arguments": ""}),
            call(index=0, function={"arguments": '{"x":'}),
            call(index=0, function={"arguments": "1}"}),
            call(index=0, id="b", function={"name": "f", "arguments": ""}),
            call(index=0, function={"arguments": '{"x":2}'}),
            finish("tool_calls", usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}),
            "[DONE]",
        ],
        "",
        "",
        [("a", "f", '{"x":1}'), ("b", "f", '{"x":2}')],
    ),
    "several calls in one piece, each with its index (Mistral)": (
        [
            delta(tool_calls=[{"index": 0, "id": "a", "function": F}, {"index": 1, "id": "b", "function": F}]),
            finish("tool_calls"),
        ],
        "",
        "",
        [("a", "f", "{}"), ("b", "f", "{}")],
    ),
    "the whole call in the chunk that ends the answer (Mistral)": (
        [{"choices": [{"delta": {"tool_calls": [{"id": "a", "function": F}]}, "finish_reason": "tool_calls"}]}],
        "",
        "",
        [("a", "f", "{}")],
    ),
    "a call of the time before tools": (
        [
            delta(function_call={"name": "f", "arguments": ""}, content=None),
            delta(function_call={"arguments": "{}"}, content=None),
            finish("function_call"),
        ],
        "",
        "",
        [("call_1", "f", "{}")],
    ),
    "what Copilot sends beside the answer": (
        [
            {"choices": [], "created": 0, "id": "", "prompt_filter_results": [{"prompt_index": 0}]},
            {"choices": None, "copilot_references": [{"type": "x"}], "copilot_errors": []},
            delta(content="Hi", copilot_annotations={"CodeVulnerability": []}),
            finish("stop"),
            delta(content="!"),
            DONE,
        ],
        "Hi!",
        "",
        [],
    ),
    "llama.cpp's timings, OpenAI's padding, a ping": (
        [
            {**delta(content="Hi"), "obfuscation": "xyz", "p": "abc"},
            {"type": "ping", "cost": "0"},
            finish("stop", timings={"predicted_n": 3}),
            {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}, "timings": {}},
            DONE,
        ],
        "Hi",
        "",
        [],
    ),
    "reasoning_content and reasoning with the same words are shown once": (
        [delta(reasoning_content="Hm", reasoning="Hm"), delta(content="Hi"), finish("stop")],
        "Hi",
        "Hm",
        [],
    ),
    "reasoning_text": ([delta(reasoning_text="Hm"), delta(content="Hi"), finish("stop")], "Hi", "Hm", []),
    "cot_summary (Copilot's Azure models)": (
        [delta(cot_id="c1", cot_summary="Hm"), delta(content="Hi"), finish("stop")],
        "Hi",
        "Hm",
        [],
    ),
    "no arguments": ([call(index=0, id="a", function={"name": "f"}), finish("stop")], "", "", [("a", "f", "{}")]),
    "a lone surrogate": (['{"choices":[{"delta":{"content":"a\\ud83db"}}]}', finish("stop")], "a?b", "", []),
}


@pytest.mark.parametrize(("chunks", "text", "thinking", "calls"), ANSWERS.values(), ids=ANSWERS.keys())
def test_answer(chunks: list[Any], text: str, thinking: str, calls: list[tuple[str, str, str]]) -> None:
    events, failure = parse(*chunks)
    assert failure is None
    message, builder = built(events)
    assert message.text == text
    assert "".join(part.text for part in message.parts if isinstance(part, Thinking)) == thinking
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == calls
    assert builder.incomplete_calls == ()
    assert sum(isinstance(event, Done) for event in events) == 1
    assert isinstance(events[-1], Done)


STOPS = [
    ("stop", WireStop.END_TURN),
    ("tool_calls", WireStop.TOOL_CALLS),
    ("length", WireStop.MAX_TOKENS),
    ("content_filter", WireStop.REFUSAL),
    ("something new", WireStop.OTHER),
]


@pytest.mark.parametrize(("reason", "stop"), STOPS)
def test_stop(reason: str, stop: WireStop) -> None:
    events, _ = parse(delta(content="Hi"), finish(reason), finish(reason, usage=USAGE), DONE)
    assert events[-1] == Done(stop, reason)


def test_a_call_cut_off_by_length_is_not_complete() -> None:
    first, second = call(index=0, id="a", function=F), call(index=1, id="b", function={"name": "f", "arguments": '{"x'})
    events, failure = parse(first, second, finish("length"))
    assert failure is None
    assert built(events)[1].incomplete_calls == ("b",)


USAGES: dict[str, tuple[dict[str, Any], Usage]] = {
    "plain": (USAGE, Usage(10, 0, 0, 5)),
    "cached": ({**USAGE, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(10, 4, 0, 5)),
    "reasoning within the completion": (
        {**USAGE, "completion_tokens_details": {"reasoning_tokens": 3}},
        Usage(10, 0, 0, 5, 3),
    ),
    "reasoning beside it (xAI)": (
        {**USAGE, "total_tokens": 18, "completion_tokens_details": {"reasoning_tokens": 3}},
        Usage(10, 0, 0, 8, 3),
    ),
    "more reasoning than completion (Vercel, of Gemini)": (
        {**USAGE, "completion_tokens_details": {"reasoning_tokens": 7}},
        Usage(10, 0, 0, 12, 7),
    ),
    "with its cost and the person's own key (OpenRouter)": (
        {**USAGE, "cost": 0.5, "is_byok": True, "cost_details": {"upstream_inference_cost": 9.5}},
        Usage(10, 0, 0, 5, 0, 10.0),
    ),
    "with that key, and nobody says what its owner pays": ({**USAGE, "cost": 0.5, "is_byok": True}, Usage(10, 0, 0, 5)),
    "not with it": (
        {**USAGE, "cost": 0.5, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.5}},
        Usage(10, 0, 0, 5, 0, 0.5),
    ),
    "with its cost (Perplexity)": ({**USAGE, "cost": {"total_cost": 0.5}}, Usage(10, 0, 0, 5, 0, 0.5)),
    "a cost that is none": ({**USAGE, "cost": True}, Usage(10, 0, 0, 5)),
    "with its cost (OpenRouter)": (
        {**USAGE, "cost": 0.5, "prompt_tokens_details": {"cache_write_tokens": 2}},
        Usage(10, 0, 2, 5, 0, 0.5),
    ),
    "cached, as DeepSeek says it": ({**USAGE, "prompt_cache_hit_tokens": 4}, Usage(10, 4, 0, 5)),
    "cached, as Moonshot says it": ({**USAGE, "cached_tokens": 4}, Usage(10, 4, 0, 5)),
    "null details": ({**USAGE, "prompt_tokens_details": None, "cost": {"odd": 1}}, Usage(10, 0, 0, 5)),
}


@pytest.mark.parametrize(("sent", "expected"), USAGES.values(), ids=USAGES.keys())
@pytest.mark.parametrize("place", ["finish", "choices", "every", "choice", "twice"])
def test_usage_in_any_chunk(sent: dict[str, Any], expected: Usage, place: str) -> None:
    chunks: dict[str, list[dict[str, Any] | str]] = {
        "finish": [delta(content="Hi"), finish("stop", usage=sent), DONE],
        "choices": [delta(content="Hi"), finish("stop"), {"choices": [], "usage": sent}, DONE],
        "every": [{**delta(content="Hi"), "usage": USAGE}, finish("stop", usage=sent)],
        "choice": [{"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop", "usage": sent}]}],
        "twice": [delta(content="Hi"), finish("stop"), finish("stop", usage=sent), DONE],  # OpenRouter's two ends
    }
    events, _ = parse(*chunks[place])
    assert built(events)[1].usage == expected
    assert isinstance([event for event in events if isinstance(event, UsageUpdate)][-1], UsageUpdate)


FAILURES: dict[str, tuple[dict[str, Any] | str, type[ModelError], str]] = {
    "an object": ({"error": {"message": "busy", "type": "server_error"}}, ServerError, "busy"),
    "words (xAI)": ({"code": "x", "error": "too many requests"}, RateLimited, "too many"),
    "vLLM": ({"object": "error", "message": "bad", "code": 400}, BadRequest, "bad"),
    "detail": ({"detail": "internal_error"}, ServerError, "internal"),
    "OpenRouter": (
        {
            "error": {"code": 502, "message": "Provider returned error", "metadata": {"raw": "it fell over"}},
            "choices": [],
        },
        ServerError,
        "it fell over",
    ),
    "beside a choice": ({**delta(content=""), "error": {"code": 400, "message": "limit"}}, BadRequest, "limit"),
    "no JSON": ("oops", ProtocolError, "oops"),
    "not this wire": ({"choices": "none"}, ProtocolError, "choices"),
}


@pytest.mark.parametrize(("chunk", "kind", "words"), FAILURES.values(), ids=FAILURES.keys())
def test_errors_in_the_stream(chunk: dict[str, Any] | str, kind: type[ModelError], words: str) -> None:
    events, failure = parse(delta(content="Hi"), chunk)
    assert built(events)[0].text == "Hi"
    assert type(failure) is kind
    assert words in failure.message


def test_the_end_without_a_terminal_event_is_an_error() -> None:
    events, failure = parse(delta(content="Hi"), {"choices": [], "usage": USAGE})
    assert built(events)[0].text == "Hi"
    assert isinstance(failure, StreamCut)


ENDS: dict[str, tuple[list[dict[str, Any] | str], type[ModelError] | None]] = {
    "a finish reason and the end of the stream": ([delta(content="Hi"), finish("stop")], None),
    "[DONE] without a finish reason": ([delta(content="Hi"), DONE], None),
    "neither": ([delta(content="Hi")], StreamCut),
    "neither, in the middle of a call": ([call(index=0, id="a", function={"name": "f"})], StreamCut),
    "[DONE] and not one choice": ([{"choices": []}, DONE], StreamCut),
    "nothing": ([], StreamCut),
    "the finish reason `error` and no error": ([delta(content="Hi"), finish("error"), DONE], ServerError),
    "the same without [DONE]": ([delta(content="Hi"), finish("error")], ServerError),
    "an error after the finish reason `error`": (
        [delta(content="Hi"), finish("error"), {"error": {"code": 429, "message": "slow down"}}, DONE],
        RateLimited,
    ),
}


@pytest.mark.parametrize(("chunks", "kind"), ENDS.values(), ids=ENDS.keys())
def test_what_ends_an_answer(chunks: list[Any], kind: type[ModelError] | None) -> None:
    events, failure = parse(*chunks)
    assert type(failure) is (kind or type(None))
    assert any(isinstance(event, Done) for event in events) == (kind is None)


def test_copilots_opaque_reasoning_is_sent_back_unchanged() -> None:
    events, _ = parse(
        delta(reasoning_text="H"),
        delta(reasoning_text="m"),
        delta(reasoning_opaque="zzz", content=""),
        call(index=0, id="call_1", function=F),
        finish("tool_calls"),
    )
    assert Echo("thinking", {"reasoning_opaque": "zzz", "reasoning_text": "Hm"}) in events
    message, _ = built(events, "openai/gpt")
    sent = body_of(message)["messages"][0]
    assert (sent["reasoning_text"], sent["reasoning_opaque"]) == ("Hm", "zzz")
    assert "reasoning_text" not in body_of(message, target=TargetModel("copilot/other", "other"))["messages"][0]


def test_details_without_an_index_are_identified_by_id() -> None:
    events, _ = parse(
        delta(reasoning_details=[{"type": "reasoning.encrypted", "id": "a", "data": "x"}]),
        delta(reasoning_details=[{"type": "reasoning.encrypted", "id": "b", "data": "y"}]),
        delta(content="Yes."),
        finish("stop"),
    )
    message, _ = built(events, "openai/gpt")
    assert [detail["data"] for detail in body_of(message)["messages"][0]["reasoning_details"]] == ["x", "y"]


def test_a_detail_that_starts_with_null() -> None:
    events, failure = parse(
        delta(content="Hi", reasoning_details=[{"type": "reasoning.text", "index": [], "text": None}]),
        delta(reasoning_details=[{"type": "reasoning.text", "index": [], "text": "a"}]),
        delta(reasoning_details=[{"type": "reasoning.text", "index": [], "text": "b", "signature": "s"}]),
        finish("stop"),
    )
    assert failure is None
    message, _ = built(events, "openai/gpt")
    [detail] = body_of(message)["messages"][0]["reasoning_details"]
    assert (detail["text"], detail["signature"]) == ("ab", "s")
