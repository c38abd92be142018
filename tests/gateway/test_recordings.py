"""All recordings through the gateway: valid events, and what the vendor's own SDK made of the same bytes."""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.gateway.encoder import ResponseEncoder
from tark_lsp.gateway.history import read_history
from tark_lsp.gateway.problems import problem_of
from tark_lsp.gateway.response import new_response
from tark_lsp.gateway.tools import ToolSet
from tark_lsp.llm.events import ToolCallStart
from tark_lsp.llm.wire.sendable_history import replace_ids
from tark_lsp.messages import Message, Opaque, Part, Text, Thinking, ToolCall, Usage
from tests.cases import every
from tests.gateway.sdk import REPEATED, assembled, check_events
from tests.llm.wire.recordings import needs_shared
from tests.llm.wire.test_recorded_streams import (
    FILES,
    SDK_MISSES_THE_END,
    blocked,
    built,
    check_calls,
    check_usage,
    golden,
    name_of,
    read_whole,
    thoughts,
)

pytestmark = [needs_shared, pytest.mark.slow]  # the SDK takes seconds to import


COMPLETE = ("stop", "tool_calls", "end_turn", "tool_use", "STOP", "completed", "stop_sequence", "pause_turn")
FILTERED = ("content_filter", "refusal", "SAFETY", "RECITATION", "PROHIBITED_CONTENT")
UNKNOWN = ("", "FAKE_ENUM")
"""No word, or one that nobody knows: the answer can be cut off."""

ENDS = {
    **dict.fromkeys(COMPLETE, "completed"),
    **dict.fromkeys(["length", "max_tokens", "MAX_TOKENS", "max_output_tokens"], "incomplete: max_output_tokens"),
    **dict.fromkeys(FILTERED, "incomplete: content_filter"),
    **dict.fromkeys(UNKNOWN, "incomplete"),
}
"""The end of a response by the word of its provider."""

NOT_AS_GOLDEN = SDK_MISSES_THE_END
"""Recordings whose end and usage the vendor's SDK does not see, and why: 3 of 189."""


def replayed(path: Path) -> list[dict[str, Any]]:
    count = itertools.count(1)
    response = new_response("resp_1", 1, "p/m", REPEATED)
    encoder = ResponseEncoder(response, "p/m", ToolSet({}), lambda kind: f"{kind}_{next(count)}", lambda: 9.0)
    events, failure = read_whole(path)
    made = [*encoder.begin(), *(made for event in events for made in encoder.feed(event))]
    return made if failure is None else [*made, *encoder.fail(problem_of(failure))]


def message_of(output: list[dict[str, Any]], path: Path) -> Message:
    """With the provider's ids of calls: ours are unique beyond the answer."""
    ids = iter([event.id for event in read_whole(path)[0] if isinstance(event, ToolCallStart)])
    parts: list[Part] = []
    for item in output:
        match item["type"]:
            case "message":
                parts += [Text(part.get("text") or part["refusal"]) for part in item["content"]]
            case "reasoning":
                parts += [Thinking(part["text"]) for part in item["summary"]]
            case "function_call":
                parts.append(ToolCall(next(ids), item["name"], item["arguments"]))
    return Message("assistant", tuple(parts))


def usage_of(response: dict[str, Any]) -> Usage:
    usage = response["usage"]
    read, written = usage["input_tokens_details"], usage["output_tokens_details"]
    return Usage(
        usage["input_tokens"],
        read["cached_tokens"],
        read["cache_write_tokens"],
        usage["output_tokens"],
        written["reasoning_tokens"],
    )


@every("path", FILES, name_of)
def test_events_are_valid(path: Path) -> None:
    events = replayed(path)
    check_events(events)
    if events[-1]["type"] != "response.failed":
        assert assembled(events) == events[-1]["response"]["output"]


def excepted(path: Path) -> bool:
    return any(name in path.name for name in NOT_AS_GOLDEN)


@every("path", FILES, name_of)
def test_golden(path: Path) -> None:
    expected = golden(path)
    events = replayed(path)
    end = events[-1]["response"]
    if end["status"] == "failed":
        assert expected["error"] is not None or excepted(path)
        return
    message = message_of(assembled(events), path)
    assert message.text == expected["text"] or (blocked(expected) and blocked(expected) in message.text)
    assert thoughts(message) == expected["thinking"]
    check_calls(message, expected["tool_calls"])
    if excepted(path):
        return
    check_usage(usage_of(end), expected["usage"] or {})
    reason = (end["incomplete_details"] or {}).get("reason")
    word = expected["finish"] or blocked(expected)
    assert (end["status"] + (f": {reason}" if reason else "")) == ENDS[word]


@every("path", FILES, name_of)
def test_an_answer_that_is_sent_back_is_the_answer_that_was_given(path: Path) -> None:
    """To the last signature, in the same order: what the client sends back is what our own agent would have kept."""
    events, failure = read_whole(path)
    made = replayed(path)
    output = made[-1]["response"]["output"]
    if failure is not None or not output:
        return
    calls = [item for item in output if item["type"] == "function_call"]
    answers = [{"type": "function_call_output", "call_id": item["call_id"], "output": "ok"} for item in calls]
    history = read_history([*output, *answers], "p/m")
    assert history.foreign == 0
    starts = [event.id for event in events if isinstance(event, ToolCallStart)]
    ours = dict(zip(starts, [item["call_id"] for item in calls], strict=True))
    wanted = (renamed(part, ours) for part in built(events)[0].parts)
    assert history.messages[0].parts == tuple(part for part in wanted if part != Text("") and part != Thinking(""))


def renamed(part: Part, ours: Mapping[str, str]) -> Part:
    match part:
        case ToolCall():
            return replace(part, id=ours[part.id])
        case Thinking() | Opaque() if part.echo:
            return replace(part, echo=replace_ids(part.echo, ours))
    return part
