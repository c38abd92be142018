"""Markdown cut into blocks while it streams: the same blocks however the stream is cut, and nothing lost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.cli.chatting.blocks import Blocks

TEXTS: list[tuple[str, str, list[str]]] = [
    ("paragraphs", "a\nb\n\nc\n", ["a\nb", "c"]),
    ("blank lines around", "\n\n  \na\n\n\n\nb\n\n", ["a", "b"]),
    ("a fence is one block", "```py\na\n\nb\n```\nc", ["```py\na\n\nb\n```", "c"]),
    ("a fence ends a paragraph", "a\n```\nb\n```\n", ["a", "```\nb\n```"]),
    ("longer fences hold shorter ones", "````\n```\n\n```\n````\nb", ["````\n```\n\n```\n````", "b"]),
    ("a fence that nobody closes", "```\na\n\nb", ["```\na\n\nb"]),
    ("a loose list is one block", "1. a\n\n2. b\n\n   c\n\nd", ["1. a\n\n2. b\n\n   c", "d"]),
    ("code in a list", "- a\n\n  ```\n  x\n\n  y\n  ```\n\n- b\n", ["- a\n\n  ```\n  x\n\n  y\n  ```\n\n- b"]),
    ("a list after a paragraph", "a\n\n- b\n", ["a", "- b"]),
    ("Windows lines", "a\r\n\r\nb\r\n", ["a", "b"]),
    ("nothing", "", []),
]


def cut(pieces: list[str]) -> list[str]:
    blocks = Blocks()
    return [*(block for piece in pieces for block in blocks.feed(piece)), *blocks.end()]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in TEXTS], ids=[row[0] for row in TEXTS])
def test_blocks(text: str, expected: list[str]) -> None:
    assert cut([text]) == expected
    assert cut(list(text)) == expected


LINES = [
    "a",
    "",
    "  ",
    "- b",
    "2. c",
    "  d",
    "\te",
    "```",
    "  ```",
    "~~~ x",
    "````",
    "# f",
    "| g |",
    "---",
    "> h",
    "i\r",
]


@given(st.lists(st.sampled_from(LINES), max_size=30), st.lists(st.integers(0, 100)), st.booleans())
def test_any_cut_gives_the_same_blocks_and_loses_no_line(lines: list[str], cuts: list[int], ended: bool) -> None:
    text = "\n".join(lines) + ("\n" if ended else "")
    places = sorted({0, len(text), *(min(each, len(text)) for each in cuts)})
    pieces = [text[start:end] for start, end in pairwise(places)]
    blocks = cut(pieces)
    assert blocks == cut([text])
    kept = [line.removesuffix("\r") for line in text.split("\n") if line.strip()]
    assert [line for block in blocks for line in block.split("\n") if line.strip()] == kept


def test_a_block_is_given_as_soon_as_it_is_finished_and_the_rest_can_be_seen() -> None:
    blocks = Blocks()
    assert blocks.feed("one\n\ntw") == []
    assert blocks.feed("o\n") == ["one"]
    assert blocks.tail(5, 100) == "two"
    assert blocks.feed("```\ncode\n") == ["two"]
    assert blocks.feed("more") == []
    assert blocks.tail(2, 100) == "code\nmore"
    assert blocks.tail(2, 3) == "ore"
    assert blocks.feed("\n```\n") == ["```\ncode\nmore\n```"]
    assert blocks.tail(5, 100) == ""
    assert blocks.end() == []


def test_an_end_forgets_an_open_fence() -> None:
    blocks = Blocks()
    blocks.feed("```\na")
    assert blocks.end() == ["```\na"]
    assert blocks.feed("b\n\nc\n") == ["b"]
