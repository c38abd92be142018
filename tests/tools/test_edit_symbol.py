"""edit_symbol: the definition is found in the text as it is now, whatever was written since, and only it changes."""

from contextlib import suppress
from textwrap import dedent

import pytest

from tark_lsp.agent.approval import Deny, Policy, decide_call
from tark_lsp.agent.rules import Rule
from tark_lsp.errors import ToolError
from tark_lsp.index.parsing import parse_file
from tark_lsp.index.parsing_apart import definitions_in
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools.symbol_placing import with_symbol
from tark_lsp.workspace.lines import split_lines
from tests.index.samples import Sample, samples
from tests.tools.conftest import Bench

SHAPES = '''\
import math
from functools import cache


class Shape:
    """A shape."""

    @property
    @cache
    def area(self) -> float:
        # by subclasses
        return 0.0

    def name(self):
        return "shape"


class Circle(Shape):
    def area(self) -> float:
        def squared(x):
            return x * x

        return math.pi * squared(1)


def name():
    return "module"
'''


async def edited(bench: Bench, text: str, symbol: str, new_text: str, file: str = "a.py") -> str:
    """The lines that the edit removes and adds, as in a diff."""
    bench.write(file, text)
    preview = await bench.preview("edit_symbol", path=file, symbol=symbol, new_text=new_text)
    (edit,) = preview.edits
    signed = [
        *(("-" + line, "+" + line)[new] for hunk in edit.hunks for new in (0, 1) for line in (hunk.old, hunk.new)[new])
    ]
    return "".join(signed)


AREA = "def area(self) -> float:\n    return 1.0\n"


@pytest.mark.parametrize("symbol", ["Shape.area", "Shape::area", "Shape#area"])
@pytest.mark.parametrize("indentation", ["", "    ", "  ", "\t"])
async def test_a_method_gets_the_indentation_of_the_file(bench: Bench, symbol: str, indentation: str) -> None:
    """Its decorators stay."""
    new = "".join(indentation + line for line in AREA.splitlines(keepends=True))
    assert await edited(bench, SHAPES, symbol, new) == (
        "-        # by subclasses\n-        return 0.0\n+        return 1.0\n"
    )


async def test_decorators_are_replaced_if_there_are_new_ones(bench: Bench) -> None:
    found = await edited(bench, SHAPES, "Shape.area", "@cached_property\n" + AREA)
    assert found == (
        "-    @property\n-    @cache\n-    def area(self) -> float:\n-        # by subclasses\n-        return 0.0\n"
        "+    @cached_property\n+    def area(self) -> float:\n+        return 1.0\n"
    )
    bench.ctx.seen.clear()
    added = await edited(bench, SHAPES, "Shape.name", '@property\ndef name(self):\n    return "shape"\n')
    assert added == "+    @property\n"


async def test_a_definition_inside_a_function(bench: Bench) -> None:
    found = await edited(bench, SHAPES, "squared", "def squared(x):\n    return x**2\n")
    assert found == "-            return x * x\n+            return x**2\n"


async def test_a_whole_class_and_a_constant(bench: Bench) -> None:
    found = await edited(bench, SHAPES, "Circle", "class Circle(Shape): ...\n")
    assert found.splitlines()[0] == "-class Circle(Shape):"
    assert found.count("-") == 7
    assert await edited(bench, "A = [\n    1,\n]\nB = 2\n", "A", "A = []", "b.py") == "-A = [\n-    1,\n-]\n+A = []\n"


async def test_an_empty_text_removes_it(bench: Bench) -> None:
    assert await edited(bench, SHAPES, "Circle.area", "") == "".join(
        f"-{line}" for line in SHAPES.splitlines(keepends=True)[18:23]
    )


async def test_several_of_the_name(bench: Bench) -> None:
    bench.write("a.py", SHAPES)
    for symbol, count in (("area", 2), ("name", 2)):
        error = await bench.failure("edit_symbol", path="a.py", symbol=symbol, new_text=AREA)
        assert error.code == "not_unique"
        assert len(error.details["candidates"]) == count
        assert "qualify" in error.hint
    assert error.details["candidates"][0] == "Shape.name: lines 14-15: def name(self):"
    overloads = "@overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\ndef f(x):\n    return x\n"
    bench.write("b.py", overloads)
    error = await bench.failure("edit_symbol", path="b.py", symbol="f", new_text="def f(): ...")
    assert error.code == "not_unique"
    assert "edit_file" in error.hint


async def test_none_of_the_name(bench: Bench) -> None:
    bench.write("a.py", SHAPES)
    error = await bench.failure("edit_symbol", path="a.py", symbol="Square.area", new_text=AREA)
    assert error.code == "not_found"
    assert [one.partition(":")[0] for one in error.details["candidates"]] == ["Shape.area", "Circle.area"]
    assert (await bench.failure("edit_symbol", path="b.py", symbol="f", new_text="")).code == "not_found"


@pytest.mark.parametrize(
    ("file", "text", "symbol", "new", "code"),
    [
        ("a.md", "# area\n", "area", "# volume\n", "unsupported"),
        ("a.py", "def f():\n    return 1\n", "f", "return 2\n", "invalid_arguments"),
        ("a.py", "def f():\n    return 1\n", "f", "def f():\n    # ... rest unchanged ...\n", "unsupported"),
        ("a.py", "def f():\n    return 1\n", "f", "```\ndef f(): ...\n```\n", "unsupported"),
        ("a.py", "def f(): return 1; g = 2\n", "f", "  def f():\nreturn 1\n", "invalid_arguments"),
        ("a.js", "let a = () => 1, b = () => 2;\n", "a", "let a = () => 3;\n", "unsupported"),
        ("a.js", "let a = () => {\n}, b = () => 2;\n", "a", "let a = () => {\n};\n", "unsupported"),
        ("a.ts", "class A { x = 1; }\n", "A.x", "x = 2;\n", "unsupported"),
        ("a.ts", "class A {\n  constructor(private x = 1) {}\n}\n", "A.x", "x = 2;\n", "unsupported"),
    ],
)
async def test_what_is_refused(bench: Bench, file: str, text: str, symbol: str, new: str, code: str) -> None:
    bench.write(file, text)
    assert (await bench.failure("edit_symbol", path=file, symbol=symbol, new_text=new)).code == code


async def test_unsaved_text_counts(bench: Bench) -> None:
    path = bench.write("a.py", SHAPES)
    bench.buffers.open(path)
    bench.buffers.type(path, "# typed\n" * 3 + SHAPES)
    preview = await bench.preview("edit_symbol", path="a.py", symbol="Shape.area", new_text=AREA)
    (edit,) = preview.edits
    assert edit.after == "# typed\n" * 3 + SHAPES.replace(
        "        # by subclasses\n        return 0.0", "        return 1.0"
    )
    assert edit.base.version == 2


async def test_what_was_changed_since_it_was_read(bench: Bench) -> None:
    """Elsewhere: the edit moves with its lines. In the definition: a conflict. A definition written since is found."""
    path = bench.write("a.py", SHAPES)
    await bench.call("read_file", path="a.py")
    bench.write(
        "a.py", SHAPES.replace("import math\n", "import math\nimport os\n") + "\n\ndef fresh():\n    return 1\n"
    )
    preview = await bench.preview("edit_symbol", path="a.py", symbol="Shape.area", new_text=AREA)
    assert "import os" in preview.edits[0].after
    assert "return 1.0" in preview.edits[0].after
    found = await bench.preview("edit_symbol", path="a.py", symbol="fresh", new_text="def fresh():\n    return 2\n")
    assert found.edits[0].after.endswith("return 2\n")
    path.write_text(SHAPES.replace("return 0.0", "return 7.0"))
    error = await bench.failure("edit_symbol", path="a.py", symbol="Shape.area", new_text=AREA)
    assert error.code == "conflict"


async def test_on_top_of_the_edits_of_this_answer(bench: Bench) -> None:
    bench.write("a.py", SHAPES)
    await bench.edit("edit_file", path="a.py", old_text="class Circle(Shape):", new_text="class Round(Shape):")
    after = await bench.edit("edit_symbol", path="a.py", symbol="Round.area", new_text=AREA)
    assert "class Round(Shape):\n    def area(self) -> float:\n        return 1.0\n\n\n" in after
    assert "return 2" in await bench.edit(
        "edit_symbol", path="a.py", symbol="Round.area", new_text=AREA.replace("1", "2")
    )


async def test_line_endings_and_the_end_of_the_file_stay(bench: Bench) -> None:
    text = SHAPES.replace("\n", "\r\n").removesuffix("\r\n")
    bench.write("a.py", text)
    after = await bench.edit("edit_symbol", path="a.py", symbol="Shape.area", new_text=AREA)
    assert after.count("\r\n") == after.count("\n") == text.count("\n") - 1
    after = await bench.edit("edit_symbol", path="a.py", symbol="Circle.area", new_text=AREA)
    assert after.endswith('return "module"')


async def test_tabs(bench: Bench) -> None:
    go = "package a\n\ntype T struct{}\n\n// Area is big.\nfunc (t T) Area() int {\n\treturn 0\n}\n"
    assert await edited(bench, go, "Area", "func (t T) Area() int {\n\treturn 1\n}\n", "a.go") == (
        "-\treturn 0\n+\treturn 1\n"
    )
    text = "class A:\n\tdef f(self):\n\t\treturn 1\n"
    assert await edited(bench, text, "f", "def f(self):\n    if self:\n        return 2\n", "t.py") == (
        "-\t\treturn 1\n+\t\tif self:\n+\t\t\treturn 2\n"
    )


async def test_comments_above_are_replaced_by_new_ones(bench: Bench) -> None:
    text = "class A {\n  /**\n   * Old.\n   */\n  f() {\n    return 1;\n  }\n}\n"
    bench.write("a.ts", text)
    new = "/** New. */\nf() {\n  return 2;\n}\n"
    after = await bench.edit("edit_symbol", path="a.ts", symbol="A.f", new_text=new)
    assert after == "class A {\n  /** New. */\n  f() {\n    return 2;\n  }\n}\n"
    bench.write("b.ts", text.replace("  f()", "  @Log()\n  f()"))
    after = await bench.edit("edit_symbol", path="b.ts", symbol="A.f", new_text=new)
    assert "@Log()\n  /** New. */\n  f()" in after, "a decorator that the new text does not mention stays"


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.language)
def test_in_every_language_a_definition_is_its_own_replacement(sample: Sample) -> None:
    """Its lines as they are, and without their common indentation, in so far as they tell how they are indented."""
    lines = split_lines(sample.source)
    tried = 0
    for found in parse_file(sample.file_name, sample.source).definitions:
        own = "".join(lines[found.start_line - 1 : found.end_line])
        for new_text in (own, dedent(own)):
            with suppress(Refused):
                assert placed(sample, found.qualified_name, new_text) == sample.source, (found, new_text)
                tried += 1
    assert tried > 4


class Refused(Exception):
    """For a reason that the sample has: names that are not unique, or several definitions on one line."""


def placed(sample: Sample, symbol: str, new_text: str) -> str:
    try:
        return with_symbol(sample.file_name, sample.source, symbol, new_text, definitions_in)
    except ToolError as error:
        if error.code in ("not_unique", "unsupported"):
            raise Refused from error
        raise


async def test_a_macro_is_no_comment(bench: Bench) -> None:
    text = "#include <stdio.h>\n#define LIMIT 10\n"
    assert await edited(bench, text, "LIMIT", "#define LIMIT 20\n", "a.c") == "-#define LIMIT 10\n+#define LIMIT 20\n"


async def test_the_parameters_of_a_constructor_are_inside_of_it(bench: Bench) -> None:
    """In TypeScript they can be fields of the class."""
    text = "class A {\n  constructor(private x: X) {}\n\n  f() {}\n}\n"
    new = "constructor(private x: X, private y: Y) {}\n"
    assert await edited(bench, text, "A.constructor", new, "a.ts") == (
        "-  constructor(private x: X) {}\n+  constructor(private x: X, private y: Y) {}\n"
    )


async def test_an_edit_that_is_there_already(bench: Bench) -> None:
    assert await edited(bench, "def f():\n    return 1\n", "f", "def f():\n    return 1\n") == ""


async def test_rules_for_edits_bind_it(bench: Bench) -> None:
    bench.write("src/a.py", SHAPES)
    preview = await bench.preview("edit_symbol", path="src/a.py", symbol="Circle", new_text="class Circle: ...\n")
    for rule in ("edit_file(src/**)", "write_file", "read_file(**/a.py)", "edit_symbol(src/a.py)"):
        policy = Policy(ApprovalLevel.BALANCED, deny=(Rule.parse(rule),))
        assert isinstance(decide_call("edit_symbol", preview, policy, bench.ctx.workspace), Deny), rule
    assert preview.title == "edit_symbol Circle in src/a.py"


async def test_a_secret_keeps_its_place(bench: Bench) -> None:
    key = "ghp_" + "a1B2" * 9
    bench.write("a.py", f'def token():\n    return "{key}"\n')
    shown = await bench.call("read_file", path="a.py")
    token = shown.split('return "')[1].split('"')[0]
    assert key not in shown
    after = await bench.edit(
        "edit_symbol", path="a.py", symbol="token", new_text=f'def token():\n    # the key\n    return "{token}"\n'
    )
    assert after == f'def token():\n    # the key\n    return "{key}"\n'


BOMB = "a=>" * 10_000
"""For which the grammar of Java takes gigabytes in one step."""


@pytest.mark.parametrize("bomb", ["file", "new_text"])
async def test_a_text_that_kills_a_parser_does_not_kill_the_server(bench: Bench, bomb: str) -> None:
    """It is parsed in a process of its own, which can have 500 MB."""
    text, method = "class A {\n    void f() {}\n}\n", "void f() { g(); }\n"
    bench.write("A.java", text + BOMB if bomb == "file" else text)
    new_text = method if bomb == "file" else method + BOMB
    failure = await bench.failure("edit_symbol", path="A.java", symbol="A.f", new_text=new_text)
    assert failure.code == "unsupported"
