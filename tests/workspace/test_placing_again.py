"""Edits that are in the file already, because the model repeats itself: nothing changes, and the call succeeds."""

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.tools.patch_format import parse_patch
from tark_lsp.tools.patch_placing import patched
from tark_lsp.workspace.placing.placing import place_edit
from tests.cases import every

# name: old_text, new_text, which contains it; the text is the one that the edit leaves
GROWN = {
    "a word before": ("struct S", "pub struct S"),
    "a word before, whole line": ("struct S {\n", "pub struct S {\n"),
    "export": ("const a = 1;", "export const a = 1;"),
    "await": ("x = fetch(url)", "x = await fetch(url)"),
    "await, the call alone": ("fetch(url)", "await fetch(url)"),
    "a word after": ("def f(a)", "def f(a) -> int"),
    "words on both sides": ("call(a)", "str(call(a), 1)"),
    "a line after": ("import os\n", "import os\nimport re\n"),
    "a line after, no newline": ("import os", "import os\nimport re"),
    "a line before": ("def f():\n", "@cache\ndef f():\n"),
    "lines on both sides": ("b = 1\n", "a = 1\nb = 1\nc = 1\n"),
    "several lines": ("b = 1\nc = 1\n", "b = 1\nc = 1\nd = 1\n"),
    "an empty line after": ("import os\n", "import os\n\nx = 1\n"),
}
AROUND = [("", ""), ("first\n", "last\n"), ("\n", "\n"), ("first\r\n", "last\r\n")]


@every("name", GROWN)
def test_an_edit_made_twice_changes_nothing(name: str) -> None:
    old, new = GROWN[name]
    for before, after in AROUND:
        ending = "\r\n" if "\r" in before else "\n"
        body = old if old.endswith("\n") else f"{old}\n"
        text = before + body.replace("\n", ending) + after
        once = place_edit(text, old, new)
        assert once != text
        if old not in new:  # the first edit leaves nothing that the second one could find
            continue
        assert place_edit(once, old, new) == once
        line = once[: once.index(old.split("\n")[0])].count("\n") + 1
        assert place_edit(once, old, new, line_hint=line) == once
        assert place_edit(once, old, new, replace_all=True) == once


# name: text, old_text, new_text, result
INDENTED = {
    "re-indented": ("    a\n    b\n", "a\n", "a\nb\n", "    a\n    b\n"),
    "re-indented, two lines quoted": ("    a\n    b\n    c\n", "a\nb\n", "a\nb\nc\n", "    a\n    b\n    c\n"),
    "spaces at the ends": ("a  \nb\n", "a\n", "a\nb\n", "a  \nb\n"),
    "the end of the file": ("a\nb", "a\n", "a\nb\n", "a\nb"),
    "only a part is there": ("x\na\nz\n", "a\n", "x\na\ny\n", "x\nx\na\ny\nz\n"),
    "a longer word is there": (
        "pub struct Sa\nstruct S\n",
        "struct S\n",
        "pub struct S\n",
        "pub struct Sa\npub struct S\n",
    ),
    "another word is there": ("hub struct S\n", "struct S", "pub struct S", "hub pub struct S\n"),
    "a longer word around it": ("unasync f()\n", "f()", "async f()", "unasync async f()\n"),
}


@every("name", INDENTED)
def test_what_is_there_is_compared_as_it_would_be_written(name: str) -> None:
    text, old, new, after = INDENTED[name]
    assert place_edit(text, old, new) == after


def test_each_of_several_places_is_judged_alone() -> None:
    text = "pub struct S;\n\n\n\n\n\n\n\n\nstruct S;\n"
    with pytest.raises(ToolError, match="2 places"):
        place_edit(text, "struct S", "pub struct S")
    assert place_edit(text, "struct S", "pub struct S", line_hint=1) == text
    both = text.replace("\nstruct", "\npub struct")
    assert place_edit(text, "struct S", "pub struct S", line_hint=10) == both
    assert place_edit(text, "struct S", "pub struct S", replace_all=True) == both
    assert place_edit(both, "struct S", "pub struct S", replace_all=True) == both


def test_lines_of_a_patch_that_are_there_already() -> None:
    patch = "*** Begin Patch\n*** Update File: a\n@@\n import os\n+import re\n"
    (section,) = parse_patch(patch)
    assert patched("import os\nx\n", section.chunks) == "import os\nimport re\nx\n"
    assert patched("import os\nimport re\nx\n", section.chunks) == "import os\nimport re\nx\n"
