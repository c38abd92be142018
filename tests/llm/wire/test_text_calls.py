"""Calls written as text: a corpus, whole and cut everywhere, also through a wire; and other events beside the text."""

import json
import random
from collections import Counter
from itertools import groupby

import pytest

from tark_lsp.errors import StreamCut
from tark_lsp.llm.answer import AnswerDecoder
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
from tark_lsp.llm.wire.openai_chat import WIRE
from tark_lsp.llm.wire.text_calls import TextCalls
from tark_lsp.messages import Usage
from tests.llm.asking import built, single_bytes
from tests.llm.wire.text_call_corpus import CASES, DONE, EACH, LIST_FILES, TOOLS, Case, assert_kept, cut, parts_of, read

# The corpus itself


def test_the_corpus_is_large_and_its_names_are_its_own() -> None:
    assert len(CASES) >= 70
    assert [name for name, count in Counter(case.name for case in CASES).items() if count > 1] == []


@EACH
def test_what_is_expected_keeps_the_text(case: Case) -> None:
    """An error in the corpus must not ask for text to be lost."""
    assert all(kind is tuple or len([*group]) == 1 for kind, group in groupby(case.parts, type))
    assert_kept(case.text, case.parts)


# Every text, however it is cut


@EACH
def test_whole(case: Case) -> None:
    assert read([case.text]) == case.parts


@EACH
def test_one_character_at_a_time(case: Case) -> None:
    assert read(case.text) == case.parts


@pytest.mark.slow  # it takes seconds
@EACH
def test_every_cut_in_two(case: Case) -> None:
    for place in range(1, len(case.text)):
        assert read(cut(case.text, [place])) == case.parts, f"cut at {place}"


@EACH
def test_random_cuts(case: Case) -> None:
    dice = random.Random(case.name)
    for _ in range(20):
        places = dice.sample(range(len(case.text)), dice.randint(1, min(12, len(case.text))))
        assert read(cut(case.text, places)) == case.parts, f"cut at {sorted(places)}"


@pytest.mark.slow  # it takes seconds
@EACH
def test_a_stream_cut_anywhere_loses_no_text(case: Case) -> None:
    for end in range(1, len(case.text) + 1):
        calls = TextCalls(TOOLS)
        parts = parts_of(calls.feed_events([TextDelta(case.text[:end])]) + calls.close())
        assert_kept(case.text[:end], parts)


# Through a real wire, in bytes

THROUGH_A_WIRE = (
    "json: text before and after is kept to the character",
    "json: unicode, raw and escaped",
    "json: a close inside a string does not close",
    "json: several objects in one block are several calls",
    "functions: each on its own line",
    "functions: wrapped in a tool_call",
    "functions: a stray close on the next line is swallowed",
    "several: all forms, text between each",
    "balance: a value that documents a whole call",
    "broken: a block that breaks off in a string",
    "code: an unmatched run, then a fence",
    "code: a lone backtick is just a sign",
    "prose: a whole function in the midst of a sentence",
)


def body_of(text: str, pieces: int) -> bytes:
    """The text in a few frames, then the end."""
    size = -(-len(text) // pieces)
    deltas = [{"content": text[start : start + size]} for start in range(0, len(text), size)]
    frames = [*({"index": 0, "delta": delta} for delta in deltas), {"index": 0, "delta": {}, "finish_reason": "stop"}]
    lines = (f"data: {json.dumps({'choices': [frame]}, ensure_ascii=False)}\n\n" for frame in frames)
    return ("".join(lines) + "data: [DONE]\n\n").encode()


def answered(*pieces: bytes) -> list[StreamEvent]:
    answer = AnswerDecoder(WIRE.parser(), WIRE.framing, TextCalls(TOOLS))
    events: list[StreamEvent] = []
    for piece in pieces:
        events += answer.feed_bytes(piece)
    events += answer.close()
    assert answer.failure is None
    return events


@pytest.mark.parametrize("name", THROUGH_A_WIRE)
def test_through_a_wire_cut_at_every_byte(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    body = body_of(case.text, 5)
    whole = answered(body)
    assert parts_of(whole) == case.parts
    for place in range(1, len(body)):
        assert answered(body[:place], body[place:]) == whole, f"cut at {place}"
    assert answered(*single_bytes(body)) == whole


@pytest.mark.parametrize("name", THROUGH_A_WIRE)
def test_through_a_wire_that_is_cut_off(name: str) -> None:
    """What was held comes out before the failure is said, and no more than the whole answer's calls."""
    case = next(case for case in CASES if case.name == name)
    body = body_of(case.text, 5)
    end = body.index(b'data: {"choices": [{"index": 0, "delta": {}')
    answer = AnswerDecoder(WIRE.parser(), WIRE.framing, TextCalls(TOOLS))
    events = answer.feed_bytes(body[:end]) + answer.close()
    assert isinstance(answer.failure, StreamCut)
    assert_kept(case.text, parts_of(events))


# What stands beside the text


def test_thinking_is_never_searched() -> None:
    events: list[StreamEvent] = [ThinkingDelta(LIST_FILES), ThinkingDelta("<function=list_files></function>"), DONE]
    assert TextCalls(TOOLS).feed_events(events) == events


def test_other_events_keep_their_order() -> None:
    """What was held comes out before Done, whatever came in between."""
    others: list[StreamEvent] = [
        ThinkingDelta("Hm. "),
        Echo("thinking", {"signature": "s"}),
        UsageUpdate(Usage(1)),
        UsageUpdate(Usage(2)),
        DONE,
    ]
    thinking, echo, first, second, done = others
    calls = TextCalls(TOOLS)
    sent = calls.feed_events([thinking, echo, TextDelta("Now <tool_"), first, TextDelta("call>{"), second, done])
    assert [event for event in sent if not isinstance(event, TextDelta)] == others
    assert "".join(event.text for event in sent if isinstance(event, TextDelta)) == "Now <tool_call>{"
    assert sent[-1] == done


NATIVE: list[StreamEvent] = [ToolCallStart("call_text_1", "read_file"), ToolCallComplete("call_text_1", "{}")]


def test_ids_do_not_clash_with_those_the_provider_has_given() -> None:
    message, builder = built(TextCalls(TOOLS).feed_events([*NATIVE, TextDelta(LIST_FILES * 2), DONE]))
    assert [call.name for call in message.tool_calls] == ["read_file", "list_files", "list_files"]
    assert len({call.id for call in message.tool_calls}) == 3
    assert builder.incomplete_calls == ()


def test_without_tools_everything_is_text() -> None:
    text = f"{LIST_FILES}<function=list_files></function>"
    assert read([text], ()) == (text,)


@pytest.mark.parametrize("end", ["done", "cut"])
@pytest.mark.parametrize(
    "held", ["<tool_ca", "<tool_call>", '<tool_call>{"name": "list', "<function=list_files>  ", "a `b <tool_call>{}"]
)
def test_held_text_is_passed_on_at_the_end(held: str, end: str) -> None:
    calls = TextCalls(TOOLS)
    events = calls.feed_events([TextDelta(held)])
    events += calls.feed_events([DONE]) if end == "done" else calls.close()
    assert parts_of(events) == (held,)
    assert calls.close() == []


QUOTES_A_CLOSE = "<function=write_file><parameter=content>\n<parameter=q>a</parameter>\n</function>"


@pytest.mark.parametrize("stop", WireStop)
def test_held_text_is_not_a_call_if_the_answer_was_cut_off(stop: WireStop) -> None:
    """The length ran out behind a close that the value quotes: half a file must not be written."""
    calls = TextCalls(TOOLS)
    done = Done(stop)
    events = calls.feed_events([TextDelta(QUOTES_A_CLOSE), done])
    assert events[-1] == done
    is_call = any(isinstance(event, ToolCallStart) for event in events)
    assert is_call == (stop in (WireStop.END_TURN, WireStop.TOOL_CALLS))
    assert is_call or parts_of(events) == (QUOTES_A_CLOSE,)
    assert calls.close() == []
