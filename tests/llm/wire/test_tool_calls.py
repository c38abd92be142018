"""ToolCallTracker: each oddity of wires.md sections 0 and 8 as one row."""

from typing import Any

import pytest

from tark_lsp.errors import ProtocolError
from tark_lsp.llm.events import MessageBuilder, StreamEvent, ToolCallComplete, ToolCallDelta, ToolCallStart
from tark_lsp.llm.wire.tool_calls import ToolCallTracker

Call = tuple[str, str, str]

CASES: dict[str, tuple[list[dict[str, Any]], list[Call]]] = {
    "one": (
        [{"slot": 0, "call_id": "a", "name": "f"}, {"slot": 0, "arguments": '{"x"'}, {"slot": 0, "arguments": ":1}"}],
        [("a", "f", '{"x":1}')],
    ),
    "no arguments": ([{"slot": 0, "call_id": "a", "name": "f", "arguments": " "}], [("a", "f", "{}")]),
    "interleaved": (
        [
            {"slot": 1, "call_id": "b", "name": "g", "arguments": "{"},
            {"slot": 0, "call_id": "a", "name": "f", "arguments": "{"},
            {"slot": 1, "arguments": "}"},
            {"slot": 0, "arguments": "}"},
        ],
        [("b", "g", "{}"), ("a", "f", "{}")],
    ),
    "name after arguments": (
        [{"slot": 0, "call_id": "a", "arguments": '{"x":'}, {"slot": 0, "arguments": "1}"}, {"slot": 0, "name": "f"}],
        [("a", "f", '{"x":1}')],
    ),
    "new id at the same index is a new call": (
        [
            {"slot": 0, "call_id": "a", "name": "f", "arguments": "{}"},
            {"slot": 0, "call_id": "b", "name": "f", "arguments": '{"x":1}'},
        ],
        [("a", "f", "{}"), ("b", "f", '{"x":1}')],
    ),
    "an earlier id at the same index is its call": (
        [
            {"slot": 0, "call_id": "a", "name": "f", "arguments": "{"},
            {"slot": 0, "call_id": "b", "name": "g", "arguments": "{"},
            {"slot": 0, "call_id": "a", "arguments": "}"},
            {"slot": 0, "call_id": "b", "arguments": "}"},
        ],
        [("a", "f", "{}"), ("b", "g", "{}")],
    ),
    "repeated id and name change nothing": (
        [
            {"slot": 0, "call_id": "a", "name": "f", "arguments": "{"},
            {"slot": 0, "call_id": "a", "name": "f", "arguments": "}"},
            {"slot": 0, "call_id": "a", "name": "f", "arguments": ""},
        ],
        [("a", "f", "{}")],
    ),
    "a name alone after whole arguments does not begin another call, where there are ids": (
        [{"slot": 0, "call_id": "a", "name": "f", "arguments": "{}"}, {"slot": 0, "name": "f"}],
        [("a", "f", "{}")],
    ),
    "no ids at all": (
        [{"slot": 0, "name": "f", "arguments": "{}"}, {"slot": 0, "name": "f", "arguments": '{"x":1}'}],
        [("call_1", "f", "{}"), ("call_2", "f", '{"x":1}')],
    ),
    "no ids, no arguments": (
        [{"slot": 0, "name": "f"}, {"slot": 0, "name": "g"}],
        [("call_1", "f", "{}"), ("call_2", "g", "{}")],
    ),
    "one id for two slots": (
        [{"slot": 0, "call_id": "a", "name": "f"}, {"slot": 1, "call_id": "a", "name": "g"}],
        [("a", "f", "{}"), ("a_2", "g", "{}")],
    ),
    "id after name": ([{"slot": 0, "name": "f"}, {"slot": 0, "call_id": "a", "arguments": "{}"}], [("a", "f", "{}")]),
}


@pytest.mark.parametrize(("fragments", "expected"), CASES.values(), ids=CASES.keys())
def test_fragments(fragments: list[dict[str, Any]], expected: list[Call]) -> None:
    tracker = ToolCallTracker()
    events: list[StreamEvent] = []
    for fragment in fragments:
        events += tracker.add_fragment(fragment.pop("slot"), **fragment)
    events += tracker.complete_all_calls()
    builder = MessageBuilder()
    for event in events:
        builder.add_event(event)
    assert [(call.id, call.name, call.arguments) for call in builder.build_message("p/m").tool_calls] == expected
    assert builder.incomplete_calls == ()
    for call_id, _, arguments in expected:
        deltas = [event.arguments_delta for event in events if isinstance(event, ToolCallDelta) and event.id == call_id]
        assert "".join(deltas).strip() in (arguments, "")
        assert sum(isinstance(event, ToolCallStart) and event.id == call_id for event in events) == 1


def test_completion_is_idempotent_and_final_arguments_count() -> None:
    tracker = ToolCallTracker()
    tracker.add_fragment(0, call_id="a", name="f", arguments='{"x":')
    assert tracker.complete_call(0, '{"x":1}') == [ToolCallComplete("a", '{"x":1}')]
    assert tracker.complete_call(0) == []
    assert tracker.add_fragment(0, call_id="a", arguments="more") == []
    assert tracker.complete_all_calls() == []
    assert tracker.complete_call(7) == []


def test_a_call_without_a_name_is_an_error() -> None:
    tracker = ToolCallTracker()
    assert tracker.add_fragment(0, call_id="a", arguments="{}") == []
    with pytest.raises(ProtocolError, match="without a name"):
        tracker.complete_all_calls()


@pytest.mark.parametrize(
    ("arguments", "completes"), [('{"x":1}', True), ('{"x":', False), ("", False), ("[1]", False), ("{}", True)]
)
def test_a_call_that_was_cut_off_is_never_complete(arguments: str, completes: bool) -> None:
    tracker = ToolCallTracker()
    events = tracker.add_fragment(0, call_id="a", name="f", arguments=arguments)
    events += tracker.complete_all_calls(cut_off=True)
    builder = MessageBuilder()
    for event in events:
        builder.add_event(event)
    assert (builder.incomplete_calls == ()) is completes
    assert builder.build_message("p/m").tool_calls[0].arguments == arguments
