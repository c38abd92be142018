"""One indented line quoted without its indentation, and replaced by several: literal, re-indented or refused."""

from collections.abc import Iterator

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.tools.patch_format import parse_patch
from tark_lsp.tools.patch_placing import patched
from tark_lsp.workspace.placing.placing import place_edit
from tests.cases import every

UNITS = {"2": "  ", "4": "    ", "8": "        ", "tab": "\t"}

# what the model sends for `return a`, what must be there; U is one unit of indentation, F that of the line in the file.
# "" is a refusal.
LITERAL = {
    "a line more": ("b = 2\nFreturn a + b", "Fb = 2\nFreturn a + b"),
    "an empty line between": ("b = 2\n\nFreturn a + b", "Fb = 2\n\nFreturn a + b"),
    "an empty line with blanks between": ("b = 2\nF\nFreturn a + b", "Fb = 2\nF\nFreturn a + b"),
    "a comment first": ("# why\nFreturn a", "F# why\nFreturn a"),
    "a block": ("if a:\nFUreturn a\nFreturn b", "Fif a:\nFUreturn a\nFreturn b"),
    "a block with else": ("if a:\nFUreturn a\nFelse:\nFUreturn b", "Fif a:\nFUreturn a\nFelse:\nFUreturn b"),
    "a bracket": ("x = [\nFU1,\nF]", "Fx = [\nFU1,\nF]"),
    "a call over two lines": ("x = f(a,\nF      b)", "Fx = f(a,\nF      b)"),
    "braces": ("if (a) {\nFUreturn a;\nF}", "Fif (a) {\nFUreturn a;\nF}"),
    "a block in the next line": ("b = 2\nFif a:\nFUreturn a", "Fb = 2\nFif a:\nFUreturn a"),
}
REINDENTED = {
    "a block around it": ("if a:\nUreturn a", "Fif a:\nFUreturn a"),
    "a block with a comment": ("if a:  # why\nUreturn a", "Fif a:  # why\nFUreturn a"),
    "lines without indentation": ("b = 2\nreturn a + b", "Fb = 2\nFreturn a + b"),
    "a block, then a line": ("if a:\nUreturn a\nreturn b", "Fif a:\nFUreturn a\nFreturn b"),
    "a block with else": ("if a:\nUreturn a\nelse:\nUreturn b", "Fif a:\nFUreturn a\nFelse:\nFUreturn b"),
    "braces": ("if (a) {\nUreturn a;\n}", "Fif (a) {\nFUreturn a;\nF}"),
    "words for blocks": ("if a then\nUreturn a\nend", "Fif a then\nFUreturn a\nFend"),
    "a block without a sign": ("if a\nUreturn a\nend", "Fif a\nFUreturn a\nFend"),
    "two blocks": ("if a:\nUif b:\nUUreturn a", "Fif a:\nFUif b:\nFUUreturn a"),
    "a bracket": ("x = [\nU1,\n]", "Fx = [\nFU1,\nF]"),
}
REFUSED = {
    "a dedent": ("return b\nPelse:\nFreturn c", ""),
    "a dedent of braces": ("return b;\nP}", ""),
    "a dedent after a block": ("if a:\nFUreturn a\nPelse:\nFreturn b", ""),
    "a dedent after a line": ("b = 2\nFreturn a + b\nPexcept Error:\nFreturn 0", ""),
}


def spelled(some: str, unit: str, depth: int) -> str:
    """P is the indentation of the block around the line."""
    return some.replace("F", unit * depth).replace("U", unit).replace("P", unit * (depth - 1))


def rows() -> Iterator[tuple[str, str, str, str | None]]:
    """`(name, text, new_text, the whole text afterwards; None if it must be refused)`."""
    for (kind, unit), depth in ((item, depth) for item in UNITS.items() for depth in (1, 2, 3)):
        above = "".join(f"{unit * level}if x{level}:\n" for level in range(depth))
        text = spelled(f"{above}Fa = 1\nFreturn a\n\n\nlast = 1\n", unit, depth)
        for way, table in (("literal", LITERAL), ("re-indented", REINDENTED), ("refused", REFUSED)):
            for name, (new, after) in table.items():
                result = text.replace(spelled("Freturn a\n", unit, depth), spelled(after, unit, depth) + "\n")
                yield (
                    f"{kind}, {depth} deep, {way}, {name}",
                    text,
                    spelled(new, unit, depth),
                    (after and result) or None,
                )


ROWS = {name: (text, new, after) for name, text, new, after in rows()}


@every("row", ROWS)
@pytest.mark.parametrize("ended", ["", "\n"])
def test_one_line_quoted_without_its_indentation(row: str, ended: str) -> None:
    text, new, after = ROWS[row]
    if after is None:
        with pytest.raises(ToolError) as caught:
            place_edit(text, "return a" + ended, new + ended)
        assert "indentation" in f"{caught.value.message} {caught.value.hint}"
        assert caught.value.details["nearest"]
    else:
        assert place_edit(text, "return a" + ended, new + ended) == after
        assert place_edit(text, "return a" + ended, new + ended, replace_all=True) == after


@every("row", ROWS)
def test_the_same_line_in_a_patch(row: str) -> None:
    text, new, after = ROWS[row]
    if text.startswith("  if"):  # one column less or more is a lost sign, not indentation
        return
    body = "\n".join(["*** Begin Patch", "*** Update File: a", "-return a", *(f"+{line}" for line in new.split("\n"))])
    (section,) = parse_patch(body)
    if after is None:
        with pytest.raises(ToolError):
            patched(text, section.chunks)
    else:
        assert patched(text, section.chunks) == after


# name: text, old_text, new_text, result; None: refused
MORE: dict[str, tuple[str, str, str, str | None]] = {
    "the beginning of a line": (
        "if x:\n    return a + b\n",
        "return a",
        "c = 2\n    return c",
        "if x:\n    c = 2\n    return c + b\n",
    ),
    "the beginning of a line, a block": (
        "if x:\n    return a + b\n",
        "return a",
        "if a:\n    return c",
        "if x:\n    if a:\n        return c + b\n",
    ),
    "the beginning of a line, a dedent": (
        "if x:\n    if y:\n        return a + b\n",
        "return a",
        "return c\n    else:\n        return d",
        None,
    ),
    "the middle of a line": ("    x = f(1)\n", "f(1)", "f(\n    1,\n)", "    x = f(\n    1,\n)\n"),
    "several flat lines, the new ones uneven": (
        "if x:\n    a = 1\n    return a\n",
        "a = 1\nreturn a",
        "a = 2\n    return a",
        None,
    ),
    "several flat lines, a block": (
        "if x:\n    a = 1\n    return a\n",
        "a = 1\nreturn a",
        "with y:\n    a = 1\n    return a",
        "if x:\n    with y:\n        a = 1\n        return a\n",
    ),
    "several flat lines, a call over two": (
        "if x:\n    a = 1\n    return a\n",
        "a = 1\nreturn a",
        "a = f(1,\n      2)\nreturn a",
        "if x:\n    a = f(1,\n          2)\n    return a\n",
    ),
    "less indentation than in the file": (
        "if x:\n    if y:\n        return a\n",
        "    return a\n",
        "    b = 2\n        return b\n",
        "if x:\n    if y:\n        b = 2\n        return b\n",
    ),
    "less indentation, a block": (
        "if x:\n    if y:\n        return a\n",
        "    return a\n",
        "    if a:\n        return b\n",
        "if x:\n    if y:\n        if a:\n            return b\n",
    ),
    "spaces around a block where the file has tabs": (
        "if x:\n\treturn a\n",
        "return a",
        "if a:\n    return a",
        "if x:\n\tif a:\n\t\treturn a\n",
    ),
    "tabs around a block where the file has spaces": (
        "if x:\n    return a\n",
        "return a",
        "if a:\n\treturn a",
        "if x:\n    if a:\n        return a\n",
    ),
    "spaces that could mean either where the file has tabs": (
        "if x:\n\treturn a\n",
        "return a",
        "b = 2\n    return b",
        None,
    ),
    "a quote that begins within the indentation": (
        "    a\n\nb:\n",
        "   a\n\nb:\n",
        "   a\n   c\n\nb:\n",
        "    a\n    c\n\nb:\n",
    ),
    "a quote that begins within the indentation, and goes on": ("    a + b\n", "   a", "   c", None),
    "brackets alone that are quoted ones": (
        "        }\n      }\n    }\n    return found;\n  }\n",
        "      }\n    }\n  }\n  return found;\n}\n",
        "        }\n      }\n    return found;\n  }\n",
        None,
    ),
    "an empty line first": ("if x:\n    return a\n", "return a", "\nreturn b", "if x:\n\n    return b\n"),
}


@pytest.mark.parametrize(("text", "old", "new", "after"), MORE.values(), ids=MORE)
def test_more_quotes_without_indentation(text: str, old: str, new: str, after: str | None) -> None:
    if after is None:
        with pytest.raises(ToolError) as caught:
            place_edit(text, old, new)
        assert caught.value.details["nearest"]
    else:
        assert place_edit(text, old, new) == after


def test_every_occurrence_is_judged_by_its_own_indentation() -> None:
    text = "if x:\n    return a\nif y:\n        return a\n"
    with pytest.raises(ToolError, match="indentation"):
        place_edit(text, "return a", "b = 2\n      return b", replace_all=True)
    assert place_edit(text, "return a", "if a:\n    return b", replace_all=True) == (
        "if x:\n    if a:\n        return b\nif y:\n        if a:\n            return b\n"
    )
