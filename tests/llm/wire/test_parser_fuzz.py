"""Parsers with invalid input: the result is always events or a ModelError, and quickly."""

import copy
import gc
import json
import time
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.errors import ModelError
from tark_lsp.llm.events import Done, MessageBuilder, ToolCallComplete
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.wire import WIRES, TargetModel, load_wire
from tests.exhaustive import examples
from tests.llm.asking import parse
from tests.llm.wire.histories import user
from tests.llm.wire.wire_answers import ANSWERS

pytestmark = pytest.mark.slow  # every field, every wrong kind

WIRE = pytest.mark.parametrize("wire", list(WIRES))

ODD: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**30, 1e308, "", "x", "\ud800", "\x00", [], {}, [None], {"": None}, [[]], [{}]),
    *([1, "a", None], {"type": None}, {"index": "0"}, {"error": None}, "NaN", {"text": 1}, "9" * 5000, -(2**70)),
]
"""What stands where something else should."""


def frames_of(wire: str) -> list[Any]:
    body = ANSWERS[wire]()
    lines = [line.removeprefix(b"data: ") for line in body.split(b"\n") if line]
    return [json.loads(line) for line in lines if not line.startswith(b"[DONE]")]


def framed(wire: str, frames: list[Any]) -> bytes:
    shape = b"%b\n" if wire == "ollama-chat" else b"data: %b\n\n"
    end = b"data: [DONE]\n\n" if wire == "openai-chat" else b""
    return b"".join(shape % json.dumps(frame).encode() for frame in frames) + end


def check(wire: str, body: bytes) -> None:
    """Only a ModelError may be raised. The events before it form a message that can be sent again."""
    events, failure = parse(load_wire(wire), [body])
    assert failure is None or isinstance(failure, ModelError)
    builder = MessageBuilder()
    for event in events:
        builder.add_event(event)
    message = builder.build_message("maker/m")
    used = asdict(builder.usage)
    assert used.pop("cost_usd") is None or isinstance(builder.usage.cost_usd, int | float)
    assert all(isinstance(count, int) for count in used.values()), used
    ends = sum(isinstance(event, Done) for event in events)
    assert ends == 1 or (ends == 0 and failure is not None)  # after the end nobody listens any more
    assert all(isinstance(event.arguments, str) for event in events if isinstance(event, ToolCallComplete))
    load_wire(wire).encode(ChatRequest("", (user("Hi"), message, user("Go on."))), TargetModel("maker/m", "m"))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with `new` at the path; what is beside the path is shared with `value`."""
    key, *rest = path
    changed = copy.copy(value)
    if rest:
        changed[key] = put(value[key], tuple(rest), new)
    elif new is MISSING:
        del changed[key]
    else:
        changed[key] = new
    return changed


MISSING = object()


@WIRE
def test_every_field_of_every_wrong_kind(wire: str) -> None:
    frames = frames_of(wire)
    for path in places(frames):
        for odd in (*ODD, MISSING):
            try:
                check(wire, framed(wire, put(frames, path, odd)))
            except Exception as error:
                error.add_note(f"{path} = {odd!r:.80}")
                raise


VALUES = st.recursive(
    st.sampled_from(ODD) | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@WIRE
@settings(max_examples=examples(100))
@given(data=st.data())
def test_events_in_any_order_and_number(wire: str, data: st.DataObject) -> None:
    frames = frames_of(wire)
    chosen = data.draw(st.lists(st.sampled_from(frames), max_size=12))
    for _ in range(data.draw(st.integers(0, 4))):
        if paths := places(chosen):
            chosen = put(chosen, data.draw(st.sampled_from(paths)), data.draw(VALUES))
    check(wire, framed(wire, chosen))


@WIRE
@settings(max_examples=examples(100))
@given(
    body=st.lists(st.sampled_from([b"data: ", b"\n\n", b"{", b"}", b'"', b"[", b"error", b":", b"\xff", b"\r", b"1"]))
)
def test_random_bytes(wire: str, body: list[bytes]) -> None:
    events, failure = parse(load_wire(wire), [b"".join(body)])
    assert isinstance(failure, ModelError) or isinstance(events[-1], Done)


DEEP = {
    "arrays": b"[" * 20_000 + b"]" * 20_000,
    "objects": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "open arrays": b"[" * 20_000,
    "as deep as it is still read": b'{"a":' * 150 + b"1" + b"}" * 150,
    "a huge number": b"1" + b"0" * 20_000,
    "a huge exponent": b"1e999999999",
}


@WIRE
@pytest.mark.parametrize("name", list(DEEP))
def test_deep_nesting_does_not_break_the_stack(wire: str, name: str) -> None:
    """In place of a whole event, and of every field of one."""
    shape = b"%b\n" if wire == "ollama-chat" else b"data: %b\n\n"
    check(wire, shape % DEEP[name])
    frames = frames_of(wire)
    for path in places(frames):
        body = framed(wire, put(frames, path, "@@"))
        check(wire, body.replace(b'"@@"', DEEP[name]))


@WIRE
def test_time_grows_with_the_answer_and_not_faster(wire: str) -> None:
    """Many small events of one kind: twice as many may take only a little more than twice as long."""
    for frame in frames_of(wire):
        few, many = (min(seconds_for(wire, [frame] * count) for _ in range(2)) for count in (300, 1_200))
        assert many < 12 * few + 0.1, frame


def seconds_for(wire: str, frames: list[Any]) -> float:
    """Of this process alone, and without the garbage of the tests before."""
    body = framed(wire, frames)
    gc.disable()
    began = time.process_time()
    parse(load_wire(wire), [body])
    spent = time.process_time() - began
    gc.enable()
    return spent
