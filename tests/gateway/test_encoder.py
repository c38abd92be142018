"""The events of a model as events of the Responses API: their order, and every one against the SDK's types."""

import itertools
import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.errors import ServerError
from tark_lsp.gateway.encoder import ResponseEncoder
from tark_lsp.gateway.history import read_history
from tark_lsp.gateway.problems import problem_of
from tark_lsp.gateway.reasoning_state import read_state
from tark_lsp.gateway.response import new_response
from tark_lsp.gateway.tools import ToolSet, read_tools
from tark_lsp.llm.events import (
    Done,
    Echo,
    MessageBuilder,
    Notice,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
    UsageUpdate,
    WireStop,
)
from tark_lsp.messages import Message, Text, ToolCall, Usage
from tests.gateway.sdk import REPEATED, assembled, check_events

pytestmark = pytest.mark.slow  # the SDK takes seconds to import

NO_TOOLS = ToolSet({})
CALL_DONE = Done(WireStop.TOOL_CALLS, "tool_calls")
END = Done(WireStop.END_TURN, "stop")


def new_encoder(tools: ToolSet = NO_TOOLS) -> ResponseEncoder:
    count = itertools.count(1)
    return ResponseEncoder(
        new_response("resp_1", 1, "p/m", REPEATED), "p/m", tools, lambda kind: f"{kind}_{next(count)}", lambda: 9.5
    )


def encoded(*events: StreamEvent, tools: ToolSet = NO_TOOLS) -> list[dict[str, Any]]:
    encoder = new_encoder(tools)
    made = [*encoder.begin(), *(made for event in events for made in encoder.feed(event))]
    check_events(made)
    assert assembled(made) == made[-1]["response"]["output"]
    return made


@pytest.mark.parametrize(("stop", "at"), [(WireStop.END_TURN, 9), (WireStop.MAX_TOKENS, None)])
def test_only_a_complete_response_has_the_time_of_its_completion(stop: WireStop, at: int | None) -> None:
    assert encoded(TextDelta("Hi"), Done(stop, "x"))[-1]["response"]["completed_at"] == at


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events[2:]]


def output(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(events[-1]["response"]["output"])


def call(call_id: str, name: str, arguments: str) -> list[StreamEvent]:
    return [ToolCallStart(call_id, name), ToolCallDelta(call_id, arguments), ToolCallComplete(call_id, arguments)]


def test_text() -> None:
    events = encoded(TextDelta("Hel"), TextDelta("lo"), UsageUpdate(Usage(9, 4, 1, 5, 2)), END)
    assert kinds(events) == [
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert output(events)[0]["content"][0]["text"] == "Hello"
    usage = events[-1]["response"]["usage"]
    assert usage["input_tokens_details"] == {"cached_tokens": 4, "cache_write_tokens": 1}
    assert (usage["output_tokens_details"], usage["total_tokens"]) == ({"reasoning_tokens": 2}, 14)


def test_thinking_then_text_then_calls() -> None:
    events = encoded(
        ThinkingDelta("Hm"),
        Echo("thinking", {"signature": "s"}),
        TextDelta("I look."),
        *call("a", "look", '{"x":1}'),
        *call("b", "look", '{"x":2}'),
        CALL_DONE,
    )
    assert [item["type"] for item in output(events)] == ["reasoning", "message", "function_call", "function_call"]
    assert output(events)[0]["summary"] == [{"type": "summary_text", "text": "Hm"}]
    state = read_state(output(events)[0]["encrypted_content"])
    assert state is not None
    assert state.model == "p/m"
    assert state.echoes == (Echo("thinking", {"signature": "s"}),)
    assert [item["arguments"] for item in output(events)[2:]] == ['{"x":1}', '{"x":2}']
    assert output(events)[2]["call_id"] != output(events)[3]["call_id"]


def test_calls_that_are_completed_only_at_the_end() -> None:
    """As on Chat Completions: the first call ends when the second begins, so that its client can run it."""
    events = encoded(
        ToolCallStart("a", "look"),
        ToolCallDelta("a", '{"x":'),
        ToolCallDelta("a", "1}"),
        ToolCallStart("b", "look"),
        ToolCallDelta("b", '{"x":2}'),
        ToolCallComplete("a", '{"x":1}'),
        ToolCallComplete("b", '{"x":2}'),
        CALL_DONE,
    )
    assert [item["arguments"] for item in output(events)] == ['{"x":1}', '{"x":2}']


def test_calls_that_overlap_are_streamed_one_by_one() -> None:
    events = encoded(
        ToolCallStart("a", "look"),
        ToolCallStart("b", "look"),
        ToolCallDelta("b", '{"x":2}'),
        TextDelta("Meanwhile"),
        ToolCallDelta("a", '{"x":1}'),
        ToolCallComplete("b", '{"x":2}'),
        ToolCallComplete("a", '{"x":1}'),
        CALL_DONE,
    )
    assert [item.get("arguments", "text") for item in output(events)] == ['{"x":1}', '{"x":2}', "text"]


def test_a_call_without_arguments() -> None:
    events = encoded(ToolCallStart("a", "look"), ToolCallComplete("a", "{}"), CALL_DONE)
    assert kinds(events)[:4] == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ]


def test_the_state_of_a_call_comes_before_it() -> None:
    """Gemini signs the first call of a step."""
    events = encoded(
        ToolCallStart("call_1", "look"),
        Echo("call", {"thoughtSignature": "s"}, "call_1"),
        ToolCallComplete("call_1", "{}"),
        CALL_DONE,
    )
    reasoning, made = output(events)
    assert (reasoning["type"], reasoning["summary"], made["type"]) == ("reasoning", [], "function_call")
    state = read_state(reasoning["encrypted_content"])
    assert state is not None
    assert state.echoes == (Echo("call", {"thoughtSignature": "s"}, made["call_id"]),)


def test_state_that_comes_late_is_an_item_of_its_own() -> None:
    """OpenRouter sends details at the end; they can name a call, whose id is ours now."""
    details = {"reasoning_details": [{"type": "reasoning.encrypted", "id": "call_1", "data": "d"}]}
    events = encoded(ThinkingDelta("Hm"), *call("call_1", "look", "{}"), Echo("thinking", details), CALL_DONE)
    assert [item["type"] for item in output(events)] == ["reasoning", "function_call", "reasoning"]
    state = read_state(output(events)[2]["encrypted_content"])
    assert state is not None
    assert state.echoes[0].echo["reasoning_details"][0]["id"] == output(events)[1]["call_id"]


def test_the_phase_of_a_message() -> None:
    events = encoded(TextDelta("Hi"), Echo("text", {"phase": "final_answer"}), TextDelta("Again"), END)
    assert [item.get("phase") for item in output(events)] == ["final_answer", None]


@pytest.mark.parametrize(
    ("stop", "raw", "status", "reason"),
    [
        (WireStop.END_TURN, "stop", "completed", None),
        (WireStop.TOOL_CALLS, "tool_calls", "completed", None),
        (WireStop.PAUSED, "pause_turn", "completed", None),
        (WireStop.REFUSAL, "completed", "completed", None),
        (WireStop.REFUSAL, "content_filter", "incomplete", "content_filter"),
        (WireStop.MAX_TOKENS, "length", "incomplete", "max_output_tokens"),
        (WireStop.OTHER, "", "incomplete", None),
    ],
)
def test_ends(stop: WireStop, raw: str, status: str, reason: str | None) -> None:
    events = encoded(TextDelta("Hi"), Done(stop, raw))
    response = events[-1]["response"]
    assert events[-1]["type"] == f"response.{status}"
    assert response["status"] == status
    assert (response["incomplete_details"] or {}).get("reason") == reason


def test_a_refusal_is_a_part_of_its_own() -> None:
    events = encoded(
        TextDelta("No", is_refusal=True), TextDelta(".", is_refusal=True), Done(WireStop.REFUSAL, "completed")
    )
    assert kinds(events) == [
        "output_item.added",
        "content_part.added",
        "refusal.delta",
        "refusal.delta",
        "refusal.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert output(events)[0]["content"] == [{"type": "refusal", "refusal": "No."}]


def test_a_call_that_was_cut_off_is_incomplete() -> None:
    events = encoded(ToolCallStart("a", "look"), ToolCallDelta("a", '{"x"'), Done(WireStop.MAX_TOKENS, "length"))
    assert output(events)[0]["status"] == "incomplete"
    assert output(events)[0]["arguments"] == '{"x"'


def test_an_empty_answer() -> None:
    assert kinds(encoded(Notice("x"), TextDelta(""), END)) == ["completed"]


def test_a_failure_in_the_middle() -> None:
    encoder = new_encoder()
    events = [*encoder.begin(), *encoder.feed(TextDelta("Hi")), *encoder.fail(problem_of(ServerError("broken")))]
    check_events(events)
    assert events[-1]["response"]["error"] == {"code": "server_error", "message": "broken [upstream_error]"}
    assert events[-1]["response"]["output"] == []


def test_malformed_arguments_are_passed_on_and_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        events = encoded(*call("a", "look", '{"key": secret'), CALL_DONE)
    assert output(events)[0]["arguments"] == '{"key": secret'
    [record] = caplog.records
    assert "secret" not in record.getMessage()
    assert "14 characters of arguments are not JSON from character 8 on" in record.getMessage()


GIVEN = [
    {"type": "custom", "name": "apply_patch", "description": "Patches."},
    {"type": "namespace", "name": "mcp__git", "description": "", "tools": [{"type": "function", "name": "log"}]},
    {"type": "tool_search", "execution": "client", "parameters": {"type": "object"}},
]


def test_calls_are_given_back_as_their_clients_declared_the_tools() -> None:
    tools = read_tools(GIVEN, "tools")
    names = list(tools.tools)
    assert names == ["apply_patch", "mcp__git__log", "tool_search"]
    patch = json.dumps({"input": "*** Begin"})
    events = encoded(
        *call("a", names[0], patch),
        *call("b", names[1], '{"n":1}'),
        *call("c", names[2], '{"query":"x"}'),
        *call("d", "unknown", "{}"),
        CALL_DONE,
        tools=tools,
    )
    custom, namespaced, search, unknown = output(events)
    assert (custom["type"], custom["name"], custom["input"]) == ("custom_tool_call", "apply_patch", "*** Begin")
    assert (namespaced["name"], namespaced["namespace"], namespaced["arguments"]) == ("log", "mcp__git", '{"n":1}')
    assert (search["type"], search["execution"], search["arguments"]) == ("tool_search_call", "client", {"query": "x"})
    assert (unknown["type"], unknown["name"]) == ("function_call", "unknown")


@pytest.mark.parametrize("arguments", ["{not json", '{"other": 1}', '{"input": 5}', "[]"])
def test_a_custom_call_that_is_not_as_it_should_be(arguments: str) -> None:
    events = encoded(*call("a", "apply_patch", arguments), CALL_DONE, tools=read_tools(GIVEN, "tools"))
    assert output(events)[0]["input"] == arguments


STEPS = ("text", "think", "start", "piece", "complete", "signed", "phase", "opaque")


@st.composite
def answers(draw: st.DrawFn) -> list[StreamEvent]:
    """Any order of events that a wire can make: a call starts before its pieces, and its pieces are its arguments."""
    events: list[StreamEvent] = []
    waiting: dict[str, list[str]] = {}
    called = 0
    for kind in draw(
        st.lists(st.sampled_from(["text", "think", "start", "piece", "complete", "signed", "phase", "call", "opaque"]))
    ):
        match kind:
            case "text":
                events.append(TextDelta(draw(st.sampled_from(["a", "bc"]))))
            case "think":
                events.append(ThinkingDelta("hm"))
            case "start":
                called += 1
                waiting[f"call_{called}"] = draw(st.sampled_from([[], ['{"x":', "1}"], ["{}"], ["{bro", "ken"]]))[:]
                events.append(ToolCallStart(f"call_{called}", "look"))
                if draw(st.booleans()):
                    events.append(Echo("call", {"thoughtSignature": f"{called}"}, f"call_{called}"))
            case "piece" | "complete" if waiting:
                call_id = draw(st.sampled_from(sorted(waiting)))
                while waiting[call_id]:
                    events.append(ToolCallDelta(call_id, waiting[call_id].pop(0)))
                    if kind == "piece":
                        break
                if kind == "complete":
                    sent = [
                        event.arguments_delta
                        for event in events
                        if isinstance(event, ToolCallDelta) and event.id == call_id
                    ]
                    events.append(ToolCallComplete(call_id, "".join(sent) or "{}"))
                    del waiting[call_id]
            case "signed":
                events.append(Echo("thinking", {"signature": f"s{len(events)}"}))
            case "phase":
                events.append(
                    Echo("text", draw(st.sampled_from([{"phase": "final_answer"}, {"thoughtSignature": "t"}])))
                )
            case "opaque":
                events.append(Echo("opaque", {"type": "redacted_thinking", "data": f"d{len(events)}"}))
    return [*events, draw(st.sampled_from([END, CALL_DONE, Done(WireStop.MAX_TOKENS, "length")]))]


@pytest.mark.property
@given(answers())
def test_any_answer_is_valid_and_comes_back_as_it_was(events: list[StreamEvent]) -> None:
    made = encoded(*events)
    builder = MessageBuilder()
    for event in events:
        builder.add_event(event)
    if not output(made):
        return
    calls = [item for item in output(made) if item["type"] == "function_call"]
    answered = [{"type": "function_call_output", "call_id": item["call_id"], "output": "ok"} for item in calls]
    back = read_history([*output(made), *answered], "p/m").messages[0]
    wanted = builder.build_message("p/m")
    assert "".join(part.text for part in back.parts if isinstance(part, Text)) == wanted.text
    assert [call.arguments for call in back.tool_calls] == [call.arguments for call in wanted.tool_calls]
    assert [call.echo for call in back.tool_calls] == [call.echo for call in wanted.tool_calls]
    assert kept(back) == kept(wanted)


def kept(message: Message) -> list[Any]:
    """The parts but calls, whose ids are others; without empty ones."""
    return [part for part in message.parts if not isinstance(part, ToolCall) and part != Text("")]
