"""Streaming Markdown in blocks: the blocks do not depend on how the stream is cut, and nothing is lost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.cli.chatting.blocks import MarkdownBlocks

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
    blocks = MarkdownBlocks()
    return [*(block for piece in pieces for block in blocks.feed_text(piece)), *blocks.finish_text()]


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
    places = sorted({0, len(text), *(min(item, len(text)) for item in cuts)})
    pieces = [text[start:end] for start, end in pairwise(places)]
    blocks = cut(pieces)
    assert blocks == cut([text])
    kept = [line.removesuffix("\r") for line in text.split("\n") if line.strip()]
    assert [line for block in blocks for line in block.split("\n") if line.strip()] == kept


def test_a_block_is_returned_when_finished_and_the_rest_is_visible() -> None:
    blocks = MarkdownBlocks()
    assert blocks.feed_text("one\n\ntw") == []
    assert blocks.feed_text("o\n") == ["one"]
    assert blocks.tail(5, 100) == "two"
    assert blocks.feed_text("```\ncode\n") == ["two"]
    assert blocks.feed_text("more") == []
    assert blocks.tail(2, 100) == "code\nmore"
    assert blocks.tail(2, 3) == "ore"
    assert blocks.feed_text("\n```\n") == ["```\ncode\nmore\n```"]
    assert blocks.tail(5, 100) == ""
    assert blocks.finish_text() == []


def test_an_end_forgets_an_open_fence() -> None:
    blocks = MarkdownBlocks()
    blocks.feed_text("```\na")
    assert blocks.finish_text() == ["```\na"]
    assert blocks.feed_text("b\n\nc\n") == ["b"]
