"""What all results share: caps that say what they cut, the failure line, output made plain, head and tail in bounds."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.errors import FileMissing, ToolError
from tark_lsp.tools.output import HeadAndTail
from tark_lsp.tools.results import cap_lines, count_noun, failure_line, plain_text


@pytest.mark.parametrize(
    ("lines", "limit", "expected"),
    [
        (["a", "b"], 100, "a\nb"),
        (["a", "b"], 4, "a\nb"),
        (["aaaa", "b"], 5, "aaaa\n[1 more line left out; go on]"),
        (["aaaa", "b", "c"], 3, "aaa [cut]\n[2 more lines left out; go on]"),
        ([], 3, ""),
    ],
)
def test_cap_lines(lines: list[str], limit: int, expected: str) -> None:
    assert cap_lines(lines, limit, "go on") == expected


def test_failure_line() -> None:
    line = failure_line(ToolError("not_unique", "two\nplaces ü", hint="more", details={"count": 2}))
    assert "\n" not in line
    assert json.loads(line) == {
        "ok": False,
        "error": {"code": "not_unique", "message": "two\nplaces ü", "retry_hint": "more", "count": 2},
    }
    assert json.loads(failure_line(FileMissing("gone")))["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]0;title never ended\nnext", "\nnext"),
        ("\x1b(B\x1b=x\x1bc", "x"),
        ("10%\r20%\r100%\ndone\r\n", "100%\ndone\n"),
        ("tab\tkept, bell\x07 gone, c1\x9b gone", "tab\tkept, bell gone, c1 gone"),
        ("a\x1b", "a"),
    ],
)
def test_plain_text(raw: str, plain: str) -> None:
    assert plain_text(raw) == plain


@given(st.text(max_size=200))
def test_plain_text_has_no_control_characters(raw: str) -> None:
    assert not [item for item in plain_text(raw) if item < " " and item not in "\t\n"]


@pytest.mark.parametrize(
    ("number", "noun", "expected"),
    [(1, "line", "1 line"), (0, "line", "0 lines"), (12345, "byte", "12,345 bytes"), (2, "entry", "2 entries")],
)
def test_counted(number: int, noun: str, expected: str) -> None:
    assert count_noun(number, noun) == expected


@given(st.lists(st.binary(max_size=40), max_size=40), st.integers(2, 60))
def test_head_and_tail_stay_in_bounds(pieces: list[bytes], limit: int) -> None:
    output = HeadAndTail(limit)
    for piece in pieces:
        output.feed_bytes(piece)
        assert len(output.head) + len(output.tail) <= 2 * limit + 40
    whole = b"".join(pieces)
    assert output.total == len(whole)
    assert output.lines == whole.count(b"\n") + (not whole.endswith(b"\n") and whole != b"")
    if len(whole) <= limit - limit % 2:
        assert output.text() == plain_text(whole.decode("utf-8", "replace"))
    else:
        assert "left out; to see them, run the command again" in output.text()


def test_head_and_tail_cut_at_lines() -> None:
    output = HeadAndTail(40)
    output.feed_bytes(b"".join(b"line %03d\n" % number for number in range(1000)))
    shown = output.text().split("\n")
    assert shown[:2] == ["line 000", "line 001"]
    assert shown[2].startswith("[about 996 lines (8,964 bytes) left out;")
    assert shown[3:] == ["line 998", "line 999", ""]
