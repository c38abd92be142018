"""Calls written as text while they stream: only a possible call or half a marker is held back."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tark_lsp.llm.events import StreamEvent, TextDelta, ToolCallStart
from tark_lsp.llm.wire.text_calls import TextCalls
from tests.exhaustive import examples
from tests.llm.wire.text_call_corpus import CASES, DONE, EACH, LIST_FILES, MADE, OPENERS, TOOLS, Case, parts_of


def assert_streams(text: str) -> None:
    """Character by character until the first call comes: nothing is held but that call, or half a marker."""
    calls = TextCalls(TOOLS)
    sent: list[StreamEvent] = []
    for place, sign in enumerate(text):
        given = text[: place + 1]
        sent += calls.feed_events([TextDelta(sign)])
        if any(isinstance(event, ToolCallStart) for event in sent):
            return
        shown = "".join(event.text for event in sent if isinstance(event, TextDelta))
        assert given.startswith(shown)
        held = given[len(shown) :]
        may_be_a_call = held.startswith(OPENERS)
        begins_a_marker = any(opener.startswith(held) and held != opener for opener in OPENERS)
        assert may_be_a_call or begins_a_marker, f"held {held!r} of {given!r}"


@EACH
def test_only_calls_and_starts_of_markers_are_held(case: Case) -> None:
    assert_streams(case.text)


WORDS_AT_THE_END = [case for case in CASES if len(case.parts) > 1 and isinstance(case.parts[-1], str)]


@pytest.mark.parametrize("case", WORDS_AT_THE_END, ids=lambda case: case.name)
def test_text_after_the_last_call_streams(case: Case) -> None:
    """White space may be held as well: the close of a block around a function may follow."""
    calls = TextCalls(TOOLS)
    left = sum(isinstance(part, tuple) for part in case.parts)
    last = case.parts[-1]
    assert isinstance(last, str)
    for sign in case.text[: -len(last)]:
        left -= sum(isinstance(event, ToolCallStart) for event in calls.feed_events([TextDelta(sign)]))
    shown = ""
    for place, sign in enumerate(last):
        events = calls.feed_events([TextDelta(sign)])
        left -= sum(isinstance(event, ToolCallStart) for event in events)
        shown += "".join(event.text for event in events if isinstance(event, TextDelta))
        if not left:
            held = last[: place + 1].removeprefix(shown)
            stray = held.lstrip()
            stray_close = "</tool_call>".startswith(stray) and stray != "</tool_call>"
            ok = held.startswith(OPENERS) or any(opener.startswith(held) for opener in OPENERS) or stray_close
            assert ok, f"held {held!r}"


AT_ONCE = {
    "words": "Just words, nothing else.",
    "a tag in a sentence": "The <tool_call> i",
    "a function tag in a sentence": "The <function=read_file> t",
    "a tag and a newline and a word": "The <tool_call>\ni",
    "an undeclared function": "<function=format_disk>",
    "a name that is longer than a declared one": "<function=read_files",
    "a wrapped undeclared function": "<tool_call><function=format_disk>",
    "a less-than sign and a space": "a < ",
    "half a marker, then something else": "<tool_x",
    "a tag twice": "<tool_call><tool_call>x",
    "a close": "</tool_call>",
    "backticks": "a `b` ``c",
    "a fence": "```\n<tool_call>{",
    "a tag in backticks": "`<tool_call>` ",
    "newlines and spaces": "a \n\n  \t",
    "angles": "<<<<a>>>>",
    "a parameter without a function": "<parameter=path>",
    "a function tag, then a tag of another kind": "<function=read_file>\n<param>",
    "braces": '{"name": "list_files"}',
}


@pytest.mark.parametrize("text", AT_ONCE.values(), ids=AT_ONCE.keys())
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "in characters"])
def test_text_that_cannot_be_a_call_is_not_held(text: str, whole: bool) -> None:
    calls = TextCalls(TOOLS)
    events: list[StreamEvent] = []
    for piece in [text] if whole else text:
        events += calls.feed_events([TextDelta(piece)])
    assert parts_of(events) == (text,)


@pytest.mark.parametrize("opener", OPENERS)
def test_a_prefix_of_a_marker_is_held_and_nothing_more(opener: str) -> None:
    for length in range(1, len(opener)):
        calls = TextCalls(TOOLS)
        assert parts_of(calls.feed_events([TextDelta(f"Well, {opener[:length]}")])) == ("Well, ",)
        assert parts_of(calls.feed_events([TextDelta("#")])) == (f"{opener[:length]}#",)


def test_a_call_comes_as_soon_as_it_closes() -> None:
    calls = TextCalls(TOOLS)
    assert calls.feed_events([TextDelta(sign) for sign in LIST_FILES[:-1]]) == []
    assert parts_of(calls.feed_events([TextDelta(LIST_FILES[-1])])) == (("list_files", {}),)


def test_a_text_without_markers_is_the_same_deltas() -> None:
    deltas: list[StreamEvent] = [TextDelta("Hello"), TextDelta(", "), TextDelta("you\n")]
    calls = TextCalls(TOOLS)
    assert [calls.feed_events([delta]) for delta in deltas] == [[delta] for delta in deltas]


@settings(max_examples=examples(200))
@given(MADE)
def test_only_calls_and_starts_of_markers_are_ever_held(text: str) -> None:
    assert_streams(text)


@settings(max_examples=examples(200))
@given(st.lists(st.text(min_size=1), max_size=8))
def test_text_without_markers_passes_unchanged_and_undelayed(pieces: list[str]) -> None:
    assume("<" not in "".join(pieces))
    calls = TextCalls(TOOLS)
    for piece in pieces:
        assert calls.feed_events([TextDelta(piece)]) == [TextDelta(piece)]
    assert calls.feed_events([DONE]) == [DONE]
