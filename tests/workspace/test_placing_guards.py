"""Quotes that fit a place that is not meant: twins near the hint, last lines that go on, ends of files, blank lines."""

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.workspace.placing.placing import place_edit
from tests.cases import every

ENDS = "if a:\n    if b:\n        g\n    end\nend\n"
FAR = "x\n" * 30

# name: text, old_text, the hint, the line that is changed; 0: refused as not_unique
TWINS = {
    "the indented line is meant": (ENDS, "end\n", 4, 0),
    "the line itself is meant": (ENDS, "end\n", 5, 5),
    "the hint is behind both": (ENDS, "end\n", 9, 5),
    "several lines": (f"  a\n  b\n{'c' * 9}\na\nb\n", "a\nb\n", 1, 0),
    "several lines, the right ones": (f"  a\n  b\n{'c' * 9}\na\nb\n", "a\nb\n", 4, 4),
    "spaces at the end": ("end \nx\nend\n", "end\n", 1, 0),
    "a part of a line": ("f(end)\nx\nend\n", "end\n", 1, 3),
    "a part of a line that ends with it": ("f = end\nx\nend\n", "end", 1, 0),
    "a part within a word": ("append\nx\nend\n", "end", 1, 3),
    "no line without indentation": (f"  end\n{FAR}  end\n", "end\n", 1, 1),
    "the twin is far away": (f"  end\n{FAR}end\n", "end\n", 1, 0),
    "without a hint": (ENDS, "end\n", None, 5),
}


@every("name", TWINS)
def test_a_twin_nearer_to_the_hint_makes_the_quote_ambiguous(name: str) -> None:
    text, old, hint, line = TWINS[name]
    if not line:
        with pytest.raises(ToolError) as caught:
            place_edit(text, old, "new\n", line_hint=hint)
        assert caught.value.code == "not_unique"
        assert len(caught.value.details["places"]) == 2
        return
    lines = text.splitlines()
    lines[line - 1] = lines[line - 1].replace(old.split("\n")[0], "new").replace("  b", "new")
    after = place_edit(text, old, old.replace(old.split("\n")[0], "new", 1), line_hint=hint)
    assert after.splitlines()[line - 1].strip() == "new"
    assert after.splitlines()[: line - 1] == lines[: line - 1]


GOES_ON = "a\nx = 1\ny = 2 + z\n"

# name: text, old_text, new_text, result; None: refused because a line goes on
LAST_LINES: dict[str, tuple[str, str, str, str | None]] = {
    "as it was": (GOES_ON, "x = 1\ny = 2", "x = 1\ny = 3", None),
    "a newline first": (GOES_ON, "\nx = 1\ny = 2", "\nx = 1\ny = 3", None),
    "two newlines first": ("a\n\nx = 1\ny = 2 + z\n", "\n\nx = 1\ny = 2", "\n\nx = 1\ny = 3", None),
    "a blank line with spaces first": ("a\n  \nx = 1\ny = 2 + z\n", "  \nx = 1\ny = 2", "\nx = 1\ny = 3", None),
    "a newline and one line": (GOES_ON, "\ny = 2", "\ny = 3", None),
    "the end of the line above": (GOES_ON, "a\nx = 1\ny = 2", "b\nx = 1\ny = 3", None),
    "CRLF": (GOES_ON.replace("\n", "\r\n"), "\nx = 1\ny = 2", "\nx = 1\ny = 3", None),
    "CR": (GOES_ON.replace("\n", "\r"), "\nx = 1\ny = 2", "\nx = 1\ny = 3", None),
    "indented": ("if a:\n    b\n    y = 2 + z\n", "\n    y = 2", "\n    y = 3", None),
    "lines after it": (GOES_ON, "\nx = 1\ny = 2", "\nx = 1\ny = 2\nw = 3", None),
    "a word that goes on": ("a\nx = 1\ny = 20\n", "\nx = 1\ny = 2", "\nx = 1\ny = 3", None),
    "a newline first, and nothing goes on": (
        GOES_ON,
        "\nx = 1\ny = 2 + z",
        "\nx = 1\ny = 3 + z",
        "a\nx = 1\ny = 3 + z\n",
    ),
    "the part of the last line stays": (GOES_ON, "x = 1\ny = 2", "x = 3\ny = 2", "a\nx = 3\ny = 2 + z\n"),
    "the part stays, a newline first": (GOES_ON, "\nx = 1\ny = 2", "\nx = 3\ny = 2", "a\nx = 3\ny = 2 + z\n"),
    "the part stays, a word goes on": ("a\nx = 1\ny = 20\n", "x = 1\ny = 2", "x = 3\ny = 2", "a\nx = 3\ny = 20\n"),
    "the part stays, CRLF": (
        "a\r\nx = 1\r\ny = 2 + z\r\n",
        "x = 1\ny = 2",
        "x = 3\ny = 2",
        "a\r\nx = 3\r\ny = 2 + z\r\n",
    ),
    "a part that begins within a line": (
        "x = f(1,\n      2)\n",
        "f(1,\n      2",
        "f(1,\n      3",
        "x = f(1,\n      3)\n",
    ),
}


@every("name", LAST_LINES)
def test_a_last_line_that_goes_on_in_the_text(name: str) -> None:
    text, old, new, after = LAST_LINES[name]
    if after is None:
        with pytest.raises(ToolError) as caught:
            place_edit(text, old, new)
        assert caught.value.code == "not_found"
        assert caught.value.details["nearest"]
    else:
        assert place_edit(text, old, new) == after


# name: text, old_text, new_text, result
FILE_ENDS = {
    "one newline too many": ("a\n}\n", "}\n\n", "x\ny\n", "a\nx\ny\n"),
    "two too many": ("a\n}\n", "}\n\n\n", "x\ny\n", "a\nx\ny\n"),
    "one too many in both": ("a\n}\n", "}\n\n", "x\ny\n\n", "a\nx\ny\n"),
    "one too many, none in new_text": ("a\n}\n", "}\n\n", "x\ny", "a\nx\ny\n"),
    "one too many, no newline at the end": ("a\n}", "}\n\n", "x\ny\n", "a\nx\ny"),
    "one too many, CRLF": ("a\r\n}\r\n", "}\n\n", "x\ny\n", "a\r\nx\r\ny\r\n"),
    "one too many, CRLF in both": ("a\r\n}\r\n", "}\r\n\r\n", "x\r\ny\r\n", "a\r\nx\r\ny\r\n"),
    "one too many, several lines": ("a\nb\n}\n", "b\n}\n\n", "b\nc\n}\n\n", "a\nb\nc\n}\n"),
    "one too many, re-indented": ("a\n    b\n    }\n", "b\n}\n\n", "b\nc\n}\n", "a\n    b\n    c\n    }\n"),
    "one too many, deleted": ("a\n}\n", "}\n\n", "", "a\n"),
    "one that is there": ("a\n}\n\n", "}\n\n", "x\n", "a\nx\n"),
    "a part of the last line": ("a\nf = }\n", "}\n\n", "x\n", "a\nf = x\n"),
    "the only line": ("}\n", "}\n\n", "x\n", "x\n"),
}


@every("name", FILE_ENDS)
def test_the_last_newline_of_the_file_stays(name: str) -> None:
    text, old, new, after = FILE_ENDS[name]
    assert place_edit(text, old, new) == after


@pytest.mark.parametrize("old", ["\n", "\n\n", "   ", "  \n", "\t", "\r\n"])
@pytest.mark.parametrize("every_place", [False, True])
@pytest.mark.parametrize("text", ["a\n\nb\n\n\nc\n", "a b\n", "\n", "  \n\t\n"])
def test_a_blank_old_text_is_refused(text: str, old: str, every_place: bool) -> None:
    with pytest.raises(ToolError, match="only blank") as caught:
        place_edit(text, old, "x\n", replace_all=every_place, line_hint=1)
    assert caught.value.code == "invalid_arguments"
    assert "a neighbouring line" in caught.value.hint


# name: text, old_text, new_text, result
DELETED = {
    "the first line unindented": ("a\n    if x:\n        y\nb\n", "if x:\n        y\n", "", "a\nb\n"),
    "no newline at the end": ("a\n    if x:\n        y\nb\n", "if x:\n        y", "", "a\nb\n"),
    "one line": ("a\n    x\nb\n", "x", "", "a\nb\n"),
    "CRLF": ("a\r\n    if x:\r\n        y\r\nb\r\n", "if x:\n        y\n", "", "a\r\nb\r\n"),
    "the end of the file": ("a\n    if x:\n        y", "if x:\n        y", "", "a\n"),
    "tabs": ("a\n\tif x:\n\t\ty\nb\n", "if x:\n\t\ty\n", "", "a\nb\n"),
    "blanks instead": ("a\n    if x:\n        y\nb\n", "if x:\n        y\n", "  \n", "a\n\nb\n"),
    "an empty line instead": ("a\n    if x:\n        y\nb\n", "if x:\n        y\n", "\n", "a\n\nb\n"),
    "an empty line first": ("a\n    if x:\n        y\nb\n", "if x:\n        y\n", "\n    z\n", "a\n\n    z\nb\n"),
    "a part of a line": ("a\n    x = y\nb\n", "x = ", "", "a\n    y\nb\n"),
    "blanks behind it": ("a\n    if x:\n        y  \nb\n", "if x:\n        y", "", "a\nb\n"),
}


@every("name", DELETED)
def test_deleted_lines_leave_no_line_of_blanks(name: str) -> None:
    text, old, new, after = DELETED[name]
    assert place_edit(text, old, new) == after


def test_every_occurrence_deleted_leaves_no_line_of_blanks() -> None:
    assert place_edit("    x\na\n        x\nf(x)\n", "x", "", replace_all=True) == "a\nf()\n"
