"""The decoder of JSON lines: frames do not depend on the cuts, and the held bytes are limited."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.errors import ProtocolError
from tark_lsp.llm.wire.json_lines import JsonLineDecoder
from tests.exhaustive import examples


def decode(*chunks: bytes) -> list[bytes]:
    decoder = JsonLineDecoder()
    frames = [frame for chunk in chunks for frame in decoder.feed_bytes(chunk)]
    return [frame.data for frame in frames + decoder.close()]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1}\r\n{"b":2}\r\n', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1}\n{"b":2}', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1}\r', [b'{"a":1}']),
        (b'\n\r\n \t\n{"a":1}\n\n', [b'{"a":1}']),
        (b"", []),
        (b"\n", []),
        ('{"a":"\u2028\x0b\x85é"}\n'.encode(), ['{"a":"\u2028\x0b\x85é"}'.encode()]),
        (b'{"a":"x\ry"}\n', [b'{"a":"x\ry"}']),  # a CR inside a line is part of it
    ],
)
def test_lines_at_every_split(body: bytes, lines: list[bytes]) -> None:
    for split in range(len(body) + 1):
        assert decode(body[:split], body[split:]) == lines
    assert decode(*(bytes([byte]) for byte in body)) == lines


def test_a_line_comes_out_as_soon_as_it_is_whole() -> None:
    decoder = JsonLineDecoder()
    assert [frame.data for frame in decoder.feed_bytes(b"1\n2")] == [b"1"]
    assert [frame.data for frame in decoder.feed_bytes(b"3\n")] == [b"23"]


@settings(max_examples=examples(100))
@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=8))
def test_any_cut_gives_the_same_lines(body: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    assert decode(*(body[a:b] for a, b in pairwise(places))) == decode(body)


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("body", [b"x" * 1000, b"x" * 1000 + b"\n", b"a\n" + b"x" * 1000])
def test_size_cap(size: int, body: bytes) -> None:
    decoder = JsonLineDecoder(max_bytes=900)
    with pytest.raises(ProtocolError, match="900 bytes"):
        [decoder.feed_bytes(body[start : start + size]) for start in range(0, len(body), size)]
