"""Quotes that differ from the file in one way that leaves no doubt about the place and the result."""

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.workspace.placing.placing import place_edit
from tests.cases import every

UNITS = {"2": "  ", "3": "   ", "4": "    ", "8": "        ", "tab": "\t"}
BODY = "class A:\nUdef f(self):\nUUif a:\nUUUx = 1\nUUUy = 2\n\nUUreturn x\n"


def spelled(text: str, unit: str) -> str:
    return text.replace("U", unit)


# name: old_text, new_text, what must be there instead of old_text
BLOCKS = {
    "two levels": ("UUif a:\nUUUx = 1\n", "UUif b:\nUUUx = 1\n", "UUif b:\nUUUx = 1\n"),
    "a line more": ("UUif a:\nUUUx = 1\n", "UUif a:\nUUUz = 0\nUUUx = 1\n", "UUif a:\nUUUz = 0\nUUUx = 1\n"),
    "a deeper line": ("UUif a:\nUUUx = 1\n", "UUif a:\nUUUif b:\nUUUUx = 1\n", "UUif a:\nUUUif b:\nUUUUx = 1\n"),
    "a line less": ("UUUy = 2\n\nUUreturn x\n", "UUUy = 2\n", "UUUy = 2\n"),
    "all levels": (BODY, BODY.replace("x = 1", "x = 3"), BODY.replace("x = 1", "x = 3")),
    "from the left": (
        "class A:\nUdef f(self):\n",
        "class A:\nUb = 1\nUdef f(self):\n",
        "class A:\nUb = 1\nUdef f(self):\n",
    ),
}
PAIRS = [(file, sent) for file in UNITS for sent in UNITS if file != sent]


@every("name", BLOCKS)
def test_another_kind_or_width_of_indentation(name: str) -> None:
    old, new, after = BLOCKS[name]
    for file, sent in PAIRS:
        if {file, sent} == {"3", "8"}:  # nobody indents like this
            continue
        text = spelled(BODY, UNITS[file])
        result = text.replace(spelled(old, UNITS[file]), spelled(after, UNITS[file]))
        assert place_edit(text, spelled(old, UNITS[sent]), spelled(new, UNITS[sent])) == result, (file, sent)


# name: text, old_text, new_text, result; None: refused
WIDTHS: dict[str, tuple[str, str, str, str | None]] = {
    "one line, spaces for a tab": ("\tx = 1\n", "    x = 1\n", "    x = 2\n", "\tx = 2\n"),
    "one line, spaces for a tab, a block": (
        "\tx = 1\n",
        "    x = 1\n",
        "    if a:\n        x = 1\n",
        "\tif a:\n\t\tx = 1\n",
    ),
    "one line, a tab for spaces": ("    x = 1\n", "\tx = 1\n", "\tx = 2\n\ty = 1\n", "    x = 2\n    y = 1\n"),
    "spaces that fit no number of tabs": ("\tx = 1\n", "     x = 1\n", "       x = 2\n", None),
    "the same width for two in the file": ("  aa\n    bb\n", "aa\nbb\n", "aa\ncc\n", None),
    "uneven in the file": ("\taa\n        bb\n\t\tcc\n", "aa\nbb\ncc\n", "aa\nbb\ndd\n", None),
    "twice": ("\tx = 1\n\ty = 1\n\tx = 1\n", "    x = 1\n", "    x = 2\n", None),
    "dedented and with tabs": (
        "\tif a:\n\t\tx\n",
        "if a:\n    x\n",
        "if a:\n    x\n    y\n",
        "\tif a:\n\t\tx\n\t\ty\n",
    ),
    "tabs and then spaces to align": (
        "\tf(a,\n\t  b)\n",
        "    f(a,\n      b)\n",
        "    f(a,\n      c)\n",
        "\tf(a,\n\t  c)\n",
    ),
}

NUMBERED = "def f():\n    a = 1\n\n    return a\n\n\ndef g():\n    a = 1\n"
FORMS = ["{n}: {line}", "{n:5} | {line}", "{n:6}\t{line}", "{n}|{line}", "{n:4}→{line}", "{n}:{line}"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize(("first", "size"), [(1, 4), (2, 3), (2, 1), (8, 1), (7, 2)])
def test_line_numbers_before_the_quoted_lines(form: str, both: bool, first: int, size: int) -> None:
    lines = NUMBERED.split("\n")
    some = lines[first - 1 : first - 1 + size]
    new = [*some[:-1], some[-1].replace("a", "b").replace("1", "2"), "    c = 3"]

    def numbered(lines: list[str]) -> str:
        return "".join(form.format(n=first + k, line=line) + "\n" for k, line in enumerate(lines))

    new_text = numbered(new) if both else "".join(f"{line}\n" for line in new)
    after = "\n".join([*lines[: first - 1], *new, *lines[first - 1 + size :]])
    assert place_edit(NUMBERED, numbered(some), new_text) == after


GO = "func (s *Store) Delete(key string) {\n\ts.mu.Lock()\n\tif a {\n\t\tb()\n\t}\n}\n"


@pytest.mark.parametrize("form", ["{n:6}\t{line}", "{n}\t{line}", "{n} \t{line}", "{n}\t| {line}"])
@pytest.mark.parametrize("both", [True, False], ids=["both", "old only"])
@pytest.mark.parametrize(("first", "size"), [(2, 1), (4, 1), (2, 3), (3, 3), (4, 2)])
def test_a_tab_after_the_line_number_and_lines_indented_with_tabs(form: str, both: bool, first: int, size: int) -> None:
    """Only one tab belongs to the number."""
    lines = GO.splitlines()
    some = lines[first - 1 : first - 1 + size]
    new = [*some[:-1], some[-1] + " // new"]

    def numbered(each: list[str]) -> str:
        return "".join(form.format(n=first + at, line=line) + "\n" for at, line in enumerate(each))

    new_text = numbered(new) if both else "".join(f"{line}\n" for line in new)
    after = GO.replace("".join(f"{line}\n" for line in some), "".join(f"{line}\n" for line in new))
    assert place_edit(GO, numbered(some), new_text) == after


DOCTEST = "def f():\n    >>> a = 1\n    >>> msg = (\n    ... b\n    ...\n    c\n"


def test_dots_that_the_numbered_quote_has_are_no_placeholder() -> None:
    old = "3:     >>> msg = (\n4:     ... b\n5:     ...\n"
    new = "    >>> msg = [\n    ... b\n    ...\n"
    assert place_edit(DOCTEST, old, new) == DOCTEST.replace("msg = (", "msg = [")


def test_dots_that_the_numbered_quote_does_not_have_are_a_placeholder() -> None:
    with pytest.raises(ToolError, match="leaves lines out"):
        place_edit(DOCTEST, "2:     >>> a = 1\n3:     >>> msg = (\n", "    >>> a = 1\n    ...\n")


SIGNS = {"'": "’", '"': "“", "-": "–", " ": "\u00a0"}
LINES = "first\n    x = 'it' - \"one\" + f(a, b)\n    y = 'two'\nlast\n"


@every("sign", SIGNS)
def test_characters_that_look_alike(sign: str) -> None:
    fancy = LINES[:10] + LINES[10:].replace(sign, SIGNS[sign])
    for text, quoted in ((fancy, LINES), (LINES, fancy)):
        here, old = (one.split("\n")[1:3] for one in (text, quoted))
        lines = text.split("\n")
        whole = "\n".join(old) + "\n"
        replaced = place_edit(text, whole, "    new()\n" + old[1] + "\n")
        assert replaced == "\n".join([lines[0], "    new()", *lines[2:]])
        word = place_edit(text, whole, whole.replace("f(a", "g(a"))
        assert word == text.replace("f(a", "g(a")
        more = place_edit(text, whole, whole + "    z()\n")
        assert more == "\n".join([*lines[:3], "    z()", *lines[3:]])
        assert here != old


def test_changed_words_with_such_characters_are_refused() -> None:
    for text, old, new in (
        ("x = “a”\n", 'x = "a"\n', 'x = ["a", "b"]\n'),
        ('x = "a"\n', "x = “a”\n", "x = “b” + “c”\n"),
    ):
        with pytest.raises(ToolError, match="other characters") as caught:
            place_edit(text, old, new)
        assert "U+" in caught.value.hint
        assert caught.value.details["nearest"]


# name: text, old_text, new_text, result; None: refused
BLANKS: dict[str, tuple[str, str, str, str | None]] = {
    "one too few": ("a\n\n\nb\nc\n", "a\n\nb\n", "a\n\nB\n", "a\n\n\nB\nc\n"),
    "one too many": ("a\n\nb\nc\n", "a\n\n\nb\n", "A\n\n\nb\n", "A\n\nb\nc\n"),
    "none": ("a\n\nb\nc\n", "a\nb\n", "a\nx\nb\n", None),
    "none, another line": ("a\n\nb\nc\n", "a\nb\nc\n", "a\nb\nC\n", "a\n\nb\nC\n"),
    "none, the line before": ("a\n\nb\nc\n", "a\nb\n", "A\nb\n", "A\n\nb\nc\n"),
    "none, the line after": ("a\n\nb\nc\n", "a\nb\n", "a\nB\n", "a\n\nB\nc\n"),
    "none, both lines": ("a\n\nb\nc\n", "a\nb\n", "A\nB\n", "A\nB\nc\n"),
    "one that is none": ("a\nb\nc\n", "a\n\nb\n", "a\n\nB\n", "a\nB\nc\n"),
    "before": ("x\na\nb\n", "\na\nb\n", "\na\nB\n", "x\na\nB\n"),
    "after": ("a\nb\nx\n", "a\nb\n\n", "A\nb\n\n", "A\nb\nx\n"),
    "the run goes with its lines": ("a\n\n\nb\nc\n", "a\n\nb\n", "x\n", "x\nc\n"),
    "a line before the run": ("a\n\n\nb\n", "a\n\nb\n", "a\nx\n\nb\n", "a\nx\n\n\nb\n"),
    "a line after the run": ("a\n\n\nb\n", "a\n\nb\n", "a\n\nx\nb\n", "a\n\n\nx\nb\n"),
    "the blank lines are changed": ("a\n\n\nb\n", "a\n\nb\n", "a\nb\n", None),
    "a line within the run": ("a\n\n\n\nb\n", "a\n\n\nb\n", "a\n\nx\n\nb\n", None),
    "twice": ("a\n\n\nb\na\n\n\nb\n", "a\n\nb\n", "x\n", None),
    "CRLF": ("a\r\n\r\n\r\nb\r\n", "a\n\nb\n", "a\n\nB\n", "a\r\n\r\n\r\nB\r\n"),
    "no newline at the end": ("a\n\n\nb", "a\n\nb\n", "a\n\nB\n", "a\n\n\nB"),
}


@every("name", {**WIDTHS, **BLANKS})
def test_widths_and_blank_lines(name: str) -> None:
    text, old, new, after = {**WIDTHS, **BLANKS}[name]
    if after is None:
        with pytest.raises(ToolError) as caught:
            place_edit(text, old, new)
        assert caught.value.hint
    else:
        assert place_edit(text, old, new) == after
