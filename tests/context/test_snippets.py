"""The code snippet format, written and found again."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.context.snippets import Reference, escape_code, format_snippet, parse_snippets, unescape_code


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("/a/b.py", "x = 1\n", '<code="/a/b.py" #3:3>\nx = 1\n</code>'),
        ("/a/b.py", "x = 1", '<code="/a/b.py" #3:3>\nx = 1\n</code>'),
        ("/a/b.py", "", '<code="/a/b.py" #3:3>\n\n</code>'),
        ('/a/"b".py', "</code>\n", '<code="/a/%22b%22.py" #3:3>\n<\\/code>\n</code>'),
    ],
)
def test_format(path: str, code: str, expected: str) -> None:
    assert format_snippet(Path(path), 3, 3, code) == expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("nothing here </code>", []),
        ('<code="a.py" #1:2>\nx\n</code>', [("a.py", 1, 2, "x")]),
        ('see <code="a.py" #7>y</code> and <code="b.py" #1:1>\nz\n</code>', [("a.py", 7, 7, "y"), ("b.py", 1, 1, "z")]),
        ('<code="a.py" #1:2>\nunclosed', [("a.py", 1, 2, "")]),
        ('<code="a.py" #1:2>\nunclosed\n<code="b.py" #3:4>\nx\n</code>', [("a.py", 1, 2, ""), ("b.py", 3, 4, "x")]),
        ('<code="a.py" #9:2>x</code>', [("a.py", 9, 9, "x")]),
        ('<code="a.py" #0:0>x</code>', [("a.py", 1, 1, "x")]),
        ('<code="%22.py" #1:1>\n<\\/code>\n</code>', [('".py', 1, 1, "</code>")]),
        ('<code="a\nb.py" #1:1>x</code>', []),
        ('<code="a.py" #1:99999999999>x</code>', []),
    ],
)
def test_parse(text: str, found: list[tuple[str, int, int, str]]) -> None:
    assert [
        (snippet.path, snippet.first_line, snippet.last_line, snippet.code) for snippet in parse_snippets(text)
    ] == found


def test_a_reference_says_where_it_stands() -> None:
    text = 'before <code="a.py" #1:1>\nx\n</code> after'
    assert parse_snippets(text) == [Reference("a.py", 1, 1, "x", 7, len(text) - 6)]


CODE = st.text(st.sampled_from('ab\n</code>"\\'), max_size=40)


@given(CODE, CODE)
def test_what_is_written_is_found_again(first: str, second: str) -> None:
    text = format_snippet(Path("/a.py"), 1, 2, first) + "\n" + format_snippet(Path("/b.py"), 3, 4, second)
    a, b = parse_snippets(text)
    assert (a.path, b.path, b.last_line) == ("/a.py", "/b.py", 4)
    assert a.code == unescape_code(escape_code(first)).removesuffix("\n")
    assert text[b.start : b.end] == format_snippet(Path("/b.py"), 3, 4, second)
