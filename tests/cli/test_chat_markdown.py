"""A model's Markdown in the terminal: it is drawn, and cannot control the terminal or hide anything."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tark_lsp.cli.chatting.markdown import MAX_DRAWN, column_widths, draw_block

STYLE = re.compile(r"\x1b\[[0-9;]*m")
"""All that rich may send."""


def drawn(text: str, width: int = 100) -> str:
    out = io.StringIO()
    console = Console(
        file=out, force_terminal=True, color_system="truecolor", width=width, highlight=False, markup=False
    )
    console.print(draw_block(text))
    return out.getvalue()


def plain(text: str, width: int = 100) -> str:
    return "\n".join(line.rstrip() for line in STYLE.sub("", drawn(text, width)).split("\n")).strip("\n")


SHOWN: list[tuple[str, str, str]] = [
    ("emphasis", "**a** and *b* and `c`", "a and b and c"),
    ("a link shows where it goes", "[bank](http://evil.example/x)", "bank (http://evil.example/x)"),
    ("an image shows where it is", "![chart](http://evil.example/x.png)", "!chart (http://evil.example/x.png)"),
    ("HTML", "<b>a</b> <!-- hidden -->", "<b>a</b> <!-- hidden -->"),
    ("a block of HTML", "<div>\nhidden\n</div>", "<div> hidden </div>"),
    ("a reference", "[a]: http://hidden.example", "[a]: http://hidden.example"),
    ("entities", "a&#x1b;&#27;&ZeroWidthSpace;b", "a&#x1b;&#27;&ZeroWidthSpace;b"),
    ("markup of rich", "[red]a[/red] :smile:", "[red]a[/red] :smile:"),
    ("escapes", "a\x1b[2Jb\u202ec\x9b1m", "a\\u{1b}[2Jb\\u{202e}c\\u{9b}1m"),
    (
        "escapes made by an address",
        "<http://a.example/%1b[2J>",
        "http://a.example/\\u{1b}[2J (http://a.example/%1b%5B2J)",
    ),
    ("a heading is on the left", "# A\n\n## B", "A\n\nB"),
    ("numbers have their full stop", "9. a\n10. b", "  9. a\n 10. b"),
    ("tasks", "- [x] a\n- [ ] b\n- [y] c", " • ☑ a\n • ☐ b\n • [y] c"),
    ("no task outside of a list", "[x] a", "[x] a"),
    ("a rule", "a\n\n---", "a\n\n" + "─" * 100),
    ("a table that fits", "|a|b|\n|-|-|\n|1|2|\n|3|4|", "a  b\n ────\n 1  2\n 3  4"),
    (
        "rows of several lines are apart",
        f"|a|b|\n|-|-|\n|1|{'word ' * 30}|\n|3|4|",
        f"a  b\n {'─' * 98}\n 1  {('word ' * 19).strip()}\n    {('word ' * 11).strip()}\n\n 3  4",
    ),
    ("code", "```python\nx = '\x1b[31m'\n```", " x = '\\u{1b}[31m'"),
    ("a language that is none", "```\x1b]0;x\x07\nx\n```", " x"),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in SHOWN], ids=[row[0] for row in SHOWN])
def test_shown(text: str, expected: str) -> None:
    assert plain(text).strip("\n ") == expected.strip()


WIDTHS: list[tuple[list[int], list[int], int, list[int] | None]] = [
    ([4, 4], [4, 40], 44, [4, 40]),
    ([4, 4], [4, 40], 43, [4, 39]),
    ([20, 4, 4], [20, 30, 30], 50, [20, 15, 15]),
    ([20, 4, 4], [20, 30, 30], 51, [20, 16, 15]),
    ([20, 4, 4], [20, 30, 30], 43, None),
    ([4, 18, 4], [4, 20, 60], 60, [4, 20, 36]),
    ([30, 31], [30, 31], 60, None),
]


@pytest.mark.parametrize(("words", "texts", "room", "expected"), WIDTHS)
def test_columns_are_as_wide_as_their_words(
    words: list[int], texts: list[int], room: int, expected: list[int] | None
) -> None:
    assert column_widths(words, texts, room) == expected


def test_a_table_cuts_no_word_and_becomes_lines_if_it_is_too_narrow() -> None:
    table = (
        f"|file|function|why|\n|-|-|-:|\n|shop/test_prices.py|test_an_empty_basket|{'of this ' * 8}|\n|a|\n|b|c|d|e|"
    )
    assert " shop/test_prices.py  test_an_empty_basket  of this" in plain(table, 60)
    lines = plain(table, 40).splitlines()
    assert lines[:3] == [
        "file: shop/test_prices.py",
        "function: test_an_empty_basket",
        "why: of this of this of this of this of",
    ]
    assert lines[-8:] == ["", "file: a", "function:", "why:", "", "file: b", "function: c", "why: d"]
    assert plain(f"|{'a' * 30}|{'b' * 30}|\n|-|-|", 40) == f"{'a' * 30}:\n{'b' * 30}:"


PIECES = st.sampled_from(["\x1b[2J", "\x1b]8;;http://a\x07", "\x9b", "\r", "\x08", "&#27;", "%1b", "<http://a/", ">"])


@given(st.lists(PIECES | st.sampled_from(["[a](", ")", "`", "```\n", "\n", "| a |\n|---|\n", "- ", "# "]), max_size=15))
def test_nothing_but_colours_reaches_the_terminal(pieces: list[str]) -> None:
    left = STYLE.sub("", drawn("".join(pieces)))
    assert all(character == "\n" or character.isprintable() for character in left)


def test_a_huge_block_is_shown_whole_and_plainly() -> None:
    text = "**a** " * (MAX_DRAWN // 6 + 1)
    assert "**a** **a**" in drawn(text)
    assert drawn(text).count("**a**") == MAX_DRAWN // 6 + 1


LONG = "w" * 60


@pytest.mark.parametrize("width", [1, 2, 7, 23, 24, 40, 80])
@pytest.mark.parametrize("text", [f"# {LONG}", f"1. {LONG}", f"|a|b|c|\n|-|-|-|\n|{LONG}|d|e|", f"```\n{LONG}\n```"])
def test_no_word_is_lost_in_a_narrow_terminal(text: str, width: int) -> None:
    assert STYLE.sub("", drawn(text, width)).count("w") == len(LONG)
