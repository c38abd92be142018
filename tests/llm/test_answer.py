"""Bytes to events: the events of a scripted answer do not depend on how its bytes are cut."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.errors import ProtocolError, StreamCut
from tark_lsp.llm.answer import AnswerDecoder
from tark_lsp.llm.events import Done
from tark_lsp.llm.scripted.answer import answer_frames
from tark_lsp.llm.scripted.scenario import Reply, ScriptedCall
from tark_lsp.llm.wire.wire import WIRES, load_wire
from tests.exhaustive import examples
from tests.llm.asking import parse, single_bytes

ALL_WIRES = pytest.mark.parametrize("wire", sorted(WIRES))
REPLY = Reply(
    thinking="Hmm\u2028, \U0001f600?",
    text="Grüße, 👩\u200d👩\u200d👧!\r\n",
    calls=(ScriptedCall("f", {"x": "ä\n"}), ScriptedCall("g", arguments_json="{ }")),
    chunk=3,
)


def body_of(wire: str, reply: Reply = REPLY) -> bytes:
    return b"".join(answer_frames(reply, wire, b"{}", 1))


@ALL_WIRES
@settings(max_examples=examples(60))
@given(cuts=st.lists(st.integers(0, 4000), max_size=30))
def test_random_cuts(wire: str, cuts: list[int]) -> None:
    body = body_of(wire)
    places = [0, *sorted(cut for cut in cuts if cut < len(body)), len(body)]
    pieces = [body[start:end] for start, end in pairwise(places)]
    assert parse(load_wire(wire), pieces) == parse(load_wire(wire), [body])


@ALL_WIRES
def test_byte_by_byte(wire: str) -> None:
    body = body_of(wire)
    events, failure = parse(load_wire(wire), single_bytes(body))
    assert (events, failure) == parse(load_wire(wire), [body])
    assert failure is None
    assert isinstance(events[-1], Done)


@ALL_WIRES
def test_half_an_event_at_the_end_is_a_cut_stream(wire: str) -> None:
    body = body_of(wire, Reply(text="Hi"))
    place = body.index(b"Hi") + 1
    events, failure = parse(load_wire(wire), [body[:place]])
    assert isinstance(failure, StreamCut)
    assert not any(isinstance(event, Done) for event in events)


@ALL_WIRES
def test_invalid_bytes_are_a_protocol_error(wire: str) -> None:
    _, failure = parse(load_wire(wire), [b"data: {garbage\n\n"])
    assert isinstance(failure, ProtocolError)


@ALL_WIRES
def test_an_event_that_never_ends_is_refused(wire: str) -> None:
    answer = AnswerDecoder(load_wire(wire).parser(), load_wire(wire).framing)
    piece = b"x" * (1 << 20)
    for _ in range(20):
        assert answer.feed_bytes(piece) == []
    assert isinstance(answer.failure, ProtocolError)


@pytest.mark.parametrize("wire", sorted(set(WIRES) - {"ollama-chat"}))
def test_empty_events_keep_a_stream_alive(wire: str) -> None:
    body = body_of(wire)
    events, failure = parse(load_wire(wire), [b"event: ping\ndata:\n\n", body, b"data:\n\n"])
    assert (events, failure) == parse(load_wire(wire), [body])
