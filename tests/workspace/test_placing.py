"""The placing of edits: what is found, the result byte for byte, and what is refused instead of guessed."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.errors import ToolError
from tark_lsp.workspace.lines import ending_of, split_lines
from tark_lsp.workspace.placing.placing import place_edit
from tests.patience import AT_ONCE
from tests.workspace.texts import texts

CODE = "def f():\n    a = 1\n    return a\n\n\ndef g():\n    b = 2\n    return b\n"

# name: text, old_text, new_text, result
PLACED = {
    "whole lines": (
        CODE,
        "    a = 1\n    return a\n",
        "    return 1\n",
        CODE.replace("    a = 1\n    return a", "    return 1"),
    ),
    "no newline at the end of both": (CODE, "    a = 1", "    a = 3", CODE.replace("a = 1", "a = 3")),
    "only old_text ends its line": (CODE, "    a = 1\n", "    a = 3", CODE.replace("a = 1", "a = 3")),
    "only new_text ends its line": (CODE, "    a = 1", "    a = 3\n", CODE.replace("a = 1", "a = 3")),
    "whole lines go": (CODE, "    a = 1", "", CODE.replace("    a = 1\n", "")),
    "an empty line comes": (CODE, "    a = 1\n", "\n    a = 1\n", CODE.replace("    a", "\n    a")),
    "spaces at the end, in the file": ("a  \nb\n", "a\nb\n", "a\nc\n", "a  \nc\n"),
    "spaces at the end, in old_text": ("a\nb\n", "a  \nb", "x\nb", "x\nb\n"),
    "spaces at the end are taken away": ("a  \nb\n", "a  \n", "a\n", "a\nb\n"),
    "re-indented": (
        CODE,
        "a = 1\nreturn a",
        "if x:\n    a = 1\nreturn a",
        CODE.replace("    a = 1", "    if x:\n        a = 1"),
    ),
    "re-indented to the left": ("if x:\n  y\n", "        y", "        y\n        z", "if x:\n  y\n  z\n"),
    "re-indented, a line less indented": (
        "    if x:\n        y\n",
        "  if x:\n      y\n",
        "  if x:\n      y\nz\n",
        "    if x:\n        y\n  z\n",
    ),
    "re-indented by tabs": ("\tif x:\n\t\ty\n", "if x:\n\ty", "if x:\n\tz", "\tif x:\n\t\tz\n"),
    "re-indented with an empty line": ("    a\n\n    b\n", "a\n\nb\n", "a\n\nc\n", "    a\n\n    c\n"),
    "a part of a line": ("x = foo(1) + bar\n", "foo(1)", "foo(2)", "x = foo(2) + bar\n"),
    "a part over two lines": ("x = f(1,\n      2)\n", "f(1,\n      2", "f(1,\n      3", "x = f(1,\n      3)\n"),
    "a part over two lines, CRLF": (
        "x = f(1,\r\n      2)\r\n",
        "f(1,\n      2",
        "f(1,\n\n      3",
        "x = f(1,\r\n\r\n      3)\r\n",
    ),
    "the first line lost its indentation": (
        "    if x:\n        y\n",
        "if x:\n        y",
        "if x:\n        z",
        "    if x:\n        z\n",
    ),
    "a part with the newline, not joined": ("x = a\ny\n", "= a\n", "= b", "x = b\ny\n"),
    "CRLF in the file": ("a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\ny\n", "a\r\nx\r\ny\r\nc\r\n"),
    "CRLF in old_text": ("a\nb\nc\n", "a\r\nb\r\n", "a\r\nx\r\ny\r\n", "a\nx\ny\nc\n"),
    "mixed endings": ("a\r\nb\nc\rd\n", "b\nc\nd", "b\nC\nnew\nd", "a\r\nb\nC\rnew\rd\n"),
    "mixed endings, inserted before": ("a\r\nb\nc\n", "b\n", "x\nb\n", "a\r\nx\r\nb\nc\n"),
    "no newline at the end of the file": ("a\nb", "b\n", "c\n", "a\nc"),
    "none, and lines added": ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),
    "none, and one is asked for": ("a\r\nb", "b", "b\n", "a\r\nb\r\n"),
    "the last line goes": ("a\nb", "b", "", "a\n"),
    "the only line": ("a", "a\n", "b\n", "b"),
    "an empty file": ("", "", "a\n", "a\n"),
    "escaped tag": ("<p>\n</code>\n", "<\\/code>\n", "<\\/code><br>\n", "<p>\n</code><br>\n"),
    "escaped tag in new_text only": ("<p>\n</code>\n", "<p>\n", "<p><\\/code>\n", "<p></code>\n</code>\n"),
    "escape that is in the file": ('"<\\/code>"\n', '"<\\/code>"\n', '"<\\/code>!"\n', '"<\\/code>!"\n'),
    "escape where the file has no such tag": ("a\n", "a\n", '"<\\/code>"\n', '"<\\/code>"\n'),
    "real dots": ("def f():\n    ...\n", "def f():\n    ...\n", "def f():\n    pass\n", "def f():\n    pass\n"),
    "other Unicode line ends are none": ("a\u2028b\nc\n", "a\u2028b\n", "x\n", "x\nc\n"),
    "regular expression characters": ("x = (a.b*c)\n", "(a.b*c)", "\\1", "x = \\1\n"),
    "whole lines before parts": ("foo\nfoo bar\n", "foo", "baz", "baz\nfoo bar\n"),
}


@pytest.mark.parametrize(("text", "old", "new", "result"), PLACED.values(), ids=PLACED)
def test_placed(text: str, old: str, new: str, result: str) -> None:
    assert place_edit(text, old, new) == result


TWICE = "    x()\nif a:\n    x()\nelse:\n        y\n    x()\n"

# name: text, old_text, line_hint, replace_all, code, lines shown
REFUSED = {
    "nothing like it": ("a\nb\n", "zzz\n", None, False, "not_found", []),
    "twice": (TWICE, "    x()\n", None, False, "not_unique", [1, 3, 6]),
    "twice as a part": ("foo foo\n", "foo", None, False, "not_unique", [1, 1]),
    "re-indented, and as a part elsewhere": ("    foo\nbar(foo)\n", "foo", None, False, "not_unique", [1, 2]),
    "overlapping": ("a\na\na\n", "a\na\n", None, False, "not_unique", [1, 2]),
    "the hint is between": (TWICE, "    x()\n", 2, False, "not_unique", [1, 3, 6]),
    "the hint is nearer to one, not by much": (TWICE, "    x()\n", 40, False, "not_unique", [1, 3, 6]),
    "elided": (CODE, "def f():\n    ...\n    return a\n", None, False, "not_found", [1, 2, 3]),
    "elided by a comment": (
        CODE,
        "def f():\n    # ... existing code ...\n    return a\n",
        None,
        False,
        "not_found",
        [1, 2, 3],
    ),
    "one line differs": (CODE, "def g():\n    b = 3\n    return b\n", None, False, "not_found", [6, 7, 8]),
    "words in common": ("alpha beta gamma\ndelta\n", "alpha gamma delta\n", None, False, "not_found", [1]),
    "unevenly indented": ("  aa\n    bb\n", "aa\nbb\n", None, False, "not_found", [1, 2]),
    "tabs for spaces, uneven": ("\tif x:\n\t\ty = 1\n", "    if x:\n       y = 1\n", None, False, "not_found", [1, 2]),
    "replace_all, but nothing exact": ("  a1\n    a2\n", "a1\na2\n", None, True, "not_found", [1, 2]),
}


@pytest.mark.parametrize(("text", "old", "hint", "every", "code", "lines"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, old: str, hint: int | None, every: bool, code: str, lines: list[int]) -> None:
    with pytest.raises(ToolError) as caught:
        place_edit(text, old, "new", line_hint=hint, replace_all=every)
    assert caught.value.code == code
    assert caught.value.hint
    shown = caught.value.details.get("nearest" if code == "not_found" else "places", [])
    assert [one["line"] for one in shown] == lines


# name: text, old_text, new_text, line_hint, words of the message or hint
CAUSES = {
    "within a word": ("total = 10\n", "total = 1", "total = 2", None, "within a word"),
    "a line that goes on": ("def f():\n    return a + b\n", "    return a", "    return c", None, "goes on"),
    "lines, the last of which goes on": ("a\nb + c\n", "a\nb", "x\ny", None, "goes on"),
    "old_text alone lost its indentation": ("    a = 1\n", "a = 1\n", "    a = 2\n", None, "indentation of the file"),
    "its first line alone": ("    if x:\n        y\n", "if x:\n        y", "    if x:\n        z", None, "indentation"),
    "a hint far from what is re-indented": (CODE, "a = 1\n", "a = 2\n", 40, "only at line 2"),
    "a hint at what is re-indented": ("x = 1\n" + "\n" * 20 + "    x = 1\n", "x = 1\n", "x = 2\n", 22, "2 places"),
    "numbers of a listing": (CODE, "1: def f():\n2:         a = 1\n", "", None, "without the line numbers"),
    "numbers in new_text": ("a\nb\n", "a\nb\n", "7| a\n8| c\n", None, "begin with line numbers"),
    "a no-break space": ("a\u00a0= 1\n", "a = 1\n", "b - 1\n", None, "U+00A0 NO-BREAK SPACE"),
    "a curly quote in old_text": ('a = "x"\n', "a = “x”\n", "b = “y”\n", None, "U+0022 QUOTATION MARK"),
    "tabs for spaces": ("\tif x:\n\t\ty\n", "    if x:\n       y\n", "z\n", None, "the file has tabs"),
    "dots for lines that go": ("a\nb\nc\n", "a\nb\nc\n", "A\n...\nc\n", None, "leaves lines out: ..."),
    "a comment for lines that go": ("a\nb\n", "a\nb\n", "A\n// ... rest of it\n", None, "leaves lines out: // ..."),
    "another comment": ("a\nb\n", "a\nb\n", "A\n# existing code ...\n", None, "leaves lines out: # existing"),
    "a comment for lines nobody gave": ("a\n", "a\n", "a\n/* ... */\n", None, "leaves lines out: /* ... */"),
}


@pytest.mark.parametrize(("text", "old", "new", "hint", "words"), CAUSES.values(), ids=CAUSES)
def test_the_cause_is_said(text: str, old: str, new: str, hint: int | None, words: str) -> None:
    with pytest.raises(ToolError) as caught:
        place_edit(text, old, new, line_hint=hint)
    assert words in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pass\n", "...\n"),
        ("a\n", "a\ndef f() -> int:\n    ...\n"),
        ("# ... keep this\n", "# ... keep this\nb\n"),
        ("a\n", "a\n# ... keep this\n"),
        ("a\n", "f(...args)\n"),
        ("a\n", "# Wait before the rest comes...\n"),
        ("a\n", '1: "one",\n2: "two",\n'),
    ],
)
def test_what_only_looks_left_out_or_numbered_is_written(old: str, new: str) -> None:
    text = "a\npass\n# ... keep this\n"
    assert place_edit(text, old, new) == text.replace(old, new)


def test_empty_old_text_says_what_to_do() -> None:
    with pytest.raises(ToolError, match="old_text is empty") as caught:
        place_edit("a\n", "", "b\n")
    assert caught.value.code == "invalid_arguments"
    assert "write_file" in caught.value.hint


def test_an_elision_is_named() -> None:
    with pytest.raises(ToolError) as caught:
        place_edit(CODE, "def f():\n    ...\n", "x")
    assert '"..."' in caught.value.hint


@pytest.mark.parametrize(("hint", "line"), [(1, 1), (3, 3), (6, 6), (7, 6), (0, 1)])
def test_the_hint_chooses(hint: int, line: int) -> None:
    lines = split_lines(TWICE)
    lines[line - 1] = "    z()\n"
    assert place_edit(TWICE, "    x()\n", "    z()\n", line_hint=hint) == "".join(lines)


# name: text, old_text, new_text, result
EVERY = {
    "parts": ("foo foobar\nfoo\n", "foo", "x", "x xbar\nx\n"),
    "whole lines only": ("foo\nmyfoo\nfoo", "foo\n", "x\n", "x\nmyfoo\nx"),
    "whole lines, CRLF": ("foo\r\na\r\nfoo\r\n", "foo\n", "x\ny\n", "x\r\ny\r\na\r\nx\r\ny\r\n"),
    "not overlapping": ("aaaa a\n", "aa", "b", "bb a\n"),
    "one place by the recipe": ("    a\n    b\n", "a\nb\n", "c\n", "    c\n"),
}


@pytest.mark.parametrize(("text", "old", "new", "result"), EVERY.values(), ids=EVERY)
def test_replace_all(text: str, old: str, new: str, result: str) -> None:
    assert place_edit(text, old, new, replace_all=True) == result


@given(texts(), st.data())
def test_what_is_not_replaced_stays_byte_for_byte(text: str, data: st.DataObject) -> None:
    lines = split_lines(text)
    start = data.draw(st.integers(0, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    old = "".join(line.rstrip("\r\n") + "\n" for line in lines[start:end])
    if not old.strip():
        return
    before, after = "".join(lines[:start]), "".join(lines[end:])
    result = place_edit(text, old, "new 1\nnew 2\n", line_hint=start + 1)
    assert result.startswith(before)
    assert result.endswith(after)
    middle = split_lines(result[len(before) : len(result) - len(after)])
    assert [line.rstrip("\r\n") for line in middle] == ["new 1", "new 2"]
    kinds = {ending_of(line) for line in lines} or {"\n"}
    assert ending_of(middle[0]) in kinds | ({"\n"} if kinds == {""} else set())
    assert bool(ending_of(middle[1])) == (end < len(lines) or bool(ending_of(lines[-1])))


@given(texts(), texts(size=3))
def test_one_place_is_taken_and_two_are_not(text: str, old: str) -> None:
    lines, wanted = ([line.rstrip("\r\n") for line in split_lines(quoted)] for quoted in (text, old))
    count = sum(lines[at : at + len(wanted)] == wanted for at in range(len(lines) - len(wanted) + 1))
    if not old.strip() or not count:
        return
    if count == 1:
        assert "new" in place_edit(text, old, "new")
        return
    with pytest.raises(ToolError) as caught:
        place_edit(text, old, "new")
    assert (caught.value.code, caught.value.details["count"]) == ("not_unique", count)


def test_big_texts_take_no_time() -> None:
    text = "".join(f"    call_{number}({number % 97}, value)\n" for number in range(50_000))
    began = time.process_time()
    place_edit(text, "    call_40000(36, value)\n", "x\n")
    with pytest.raises(ToolError):
        place_edit(text, "call_40000(36, values)\ncall_40001(37, value)\n", "x\n")
    assert time.process_time() - began < AT_ONCE
