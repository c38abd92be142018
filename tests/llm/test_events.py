"""`MessageBuilder`: events to a message, also if the stream is cut off."""

import pytest

from tark_lsp.llm.events import (
    Done,
    Echo,
    MessageBuilder,
    Retry,
    Stall,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
    UsageUpdate,
    WireStop,
)
from tark_lsp.messages import Opaque, Part, Text, Thinking, ToolCall, Usage

CASES: dict[str, tuple[list[StreamEvent], tuple[Part, ...]]] = {
    "nothing": ([], ()),
    "texts are one until something comes between": (
        [TextDelta("a"), TextDelta("b"), ThinkingDelta("c"), TextDelta("d")],
        (Text("ab"), Thinking("c"), Text("d")),
    ),
    "an echo ends its part": (
        [ThinkingDelta("a"), Echo("thinking", {"s": 1}), ThinkingDelta("b"), Echo("thinking", {"s": 2})],
        (Thinking("a", {"s": 1}), Thinking("b", {"s": 2})),
    ),
    "a late echo finds its part": (
        [ThinkingDelta("a"), TextDelta("b"), Echo("thinking", {"s": 1})],
        (Thinking("a", {"s": 1}), Text("b")),
    ),
    "an echo without a part": ([TextDelta("b"), Echo("thinking", {"s": 1})], (Text("b"), Thinking("", {"s": 1}))),
    "an opaque part": ([Echo("opaque", {"type": "x"})], (Opaque({"type": "x"}),)),
    "calls, in the order of their starts": (
        [
            ToolCallStart("a", "f"),
            ToolCallStart("b", "g"),
            ToolCallDelta("b", "{"),
            ToolCallComplete("b", "{}"),
            ToolCallComplete("a", '{"x":1}'),
            Echo("call", {"s": 1}, "b"),
        ],
        (ToolCall("a", "f", '{"x":1}'), ToolCall("b", "g", "{}", {"s": 1})),
    ),
    "an incomplete call keeps what came": (
        [ToolCallStart("a", "f"), ToolCallDelta("a", '{"x"')],
        (ToolCall("a", "f", '{"x"'),),
    ),
    "word of the client is no content": ([Retry(1, "429"), Stall(20), TextDelta("a")], (Text("a"),)),
}


@pytest.mark.parametrize(("events", "parts"), CASES.values(), ids=CASES.keys())
def test_parts(events: list[StreamEvent], parts: tuple[Part, ...]) -> None:
    builder = MessageBuilder()
    for event in events:
        builder.add_event(event)
    message = builder.build_message("p/m")
    assert message.parts == parts
    assert (message.role, message.model) == ("assistant", "p/m")


def test_events_that_are_not_in_the_message() -> None:
    builder = MessageBuilder()
    assert (builder.stop, builder.usage, builder.incomplete_calls) == (None, Usage(), ())
    builder.add_event(ToolCallStart("a", "f"))
    builder.add_event(ToolCallStart("b", "f"))
    builder.add_event(ToolCallComplete("b", "{}"))
    builder.add_event(UsageUpdate(Usage(1, 0, 0, 1)))
    builder.add_event(UsageUpdate(Usage(1, 0, 0, 5)))
    builder.add_event(Done(WireStop.TOOL_CALLS, "tool_use"))
    assert builder.incomplete_calls == ("a",)
    assert builder.usage == Usage(1, 0, 0, 5)
    assert (builder.stop, builder.raw_stop) == (WireStop.TOOL_CALLS, "tool_use")
