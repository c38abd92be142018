"""A paste is limited while it is read, however the terminal cuts it, and keys are not affected."""

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.cli.chatting.paste_limit import BEGIN, END, PasteLimit


def through(pieces: list[str], most: int) -> str:
    limit = PasteLimit(most)
    return "".join(limit.limit_text(piece) for piece in pieces)


SENT: list[tuple[str, str, str]] = [
    ("keys", "abc\x1b[A\x1b", "abc\x1b[A\x1b"),
    ("a short paste", f"a{BEGIN}bcd{END}e", f"a{BEGIN}bcd{END}e"),
    ("a paste that is too long", f"{BEGIN}abcdefgh{END}i", f"{BEGIN}abcd{END}i"),
    ("two pastes", f"{BEGIN}abcdef{END}{BEGIN}xy{END}", f"{BEGIN}abcd{END}{BEGIN}xy{END}"),
    ("a beginning within a paste is text", f"{BEGIN}{BEGIN}{END}", f"{BEGIN}{BEGIN[:4]}{END}"),
    ("an end outside of one is a key", f"{END}a", f"{END}a"),
    ("what only looks like the end", f"{BEGIN}\x1b[2{END}", f"{BEGIN}\x1b[2{END}"),
]


@pytest.mark.parametrize(("sent", "expected"), [row[1:] for row in SENT], ids=[row[0] for row in SENT])
def test_a_paste_is_cut_one_character_past_the_limit(sent: str, expected: str) -> None:
    assert through([sent], 3) == expected
    assert through(list(sent), 3) == expected


@given(st.lists(st.sampled_from([BEGIN, END, "a", "\x1b", "\x1b[20", "1~", "bcdef"])), st.lists(st.integers(0, 60)))
def test_any_cut_passes_the_same(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts) + END  # so that nothing is held back at the end
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert through(pieces, 4) == through([text], 4)


def test_a_lone_escape_is_a_key_at_once() -> None:
    assert PasteLimit(3).limit_text("\x1b") == "\x1b"


def test_ten_megabytes_are_dropped_as_they_come() -> None:
    limit = PasteLimit(100)
    tracemalloc.start()
    kept = limit.limit_text(BEGIN) + "".join(limit.limit_text("x" * 4096) for _ in range(2560)) + limit.limit_text(END)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept == BEGIN + "x" * 101 + END
    assert most < 1_000_000
