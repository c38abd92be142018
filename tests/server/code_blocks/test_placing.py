"""Where a code block goes in a file, and when that is not certain; the forms of blocks that say it themselves."""

from operator import itemgetter

from tark_lsp.server.code_blocks.forms import names_its_files, patch_of, replacements
from tark_lsp.server.code_blocks.placing import find_replacement
from tests.cases import every

PYTHON = """\
import math


# The area.
@cache
def area(radius):
    return math.pi * radius**2


class Box:
    def area(self):
        return self.side**2

    def volume(self, height: int) -> int:
        return self.area() * height


def edge(box):
    return box.side
"""
TYPESCRIPT = """\
import { a } from "./a";

export function first(value: string): string {
  return value;
}

export class Shape {
  private side = 1;
  area(): number {
    return this.side ** 2;
  }
}

const last = (value: number) => {
  return value;
};
"""
GO = "package main\n\nfunc (s *Server) Handle(x int) int {\n\treturn x\n}\n\nfunc Handle() {\n}\n"
TWICE = "def f():\n    return 1\n\n\nif True:\n    def f():\n        return 1\n"

PLACED = [
    # what, file, block, the file after it
    (
        "a function by its name",
        PYTHON,
        "def edge(box, unit):\n    return box.side * unit\n",
        ("def edge(box):\n    return box.side\n", "def edge(box, unit):\n    return box.side * unit\n"),
    ),
    (
        "its decorators stay if the block has none",
        "@cache\ndef f():\n    return 1\n",
        "def f():\n    return 2\n",
        ("return 1", "return 2"),
    ),
    (
        "its decorators are replaced if the block has some",
        "@a\n@b\ndef f():\n    return 1\n",
        "@c\ndef f():\n    return 1\n",
        ("@a\n@b\n", "@c\n"),
    ),
    (
        "its comment is the same one",
        "# One.\ndef f():\n    return 1\n",
        "# One.\ndef f():\n    return 2\n",
        ("return 1", "return 2"),
    ),
    (
        "a method, shown without its indentation",
        PYTHON,
        "def volume(self, height: int) -> int:\n    area = self.area()\n\n    return area * height\n",
        ("        return self.area() * height\n", "        area = self.area()\n\n        return area * height\n"),
    ),
    (
        "a class with all its methods",
        TYPESCRIPT,
        "export class Shape {\n  area(): number {\n    return 4;\n  }\n}\n",
        (
            "  private side = 1;\n  area(): number {\n    return this.side ** 2;\n",
            "  area(): number {\n    return 4;\n",
        ),
    ),
    (
        "an exported function",
        TYPESCRIPT,
        "export function first(value: string): string {\n  return value.trim();\n}",
        ("value;\n}\n\nexport class", "value.trim();\n}\n\nexport class"),
    ),
    (
        "an arrow function",
        TYPESCRIPT,
        "const last = (value: number) => {\n  return -value;\n};\n",
        ("  return value;\n};", "  return -value;\n};"),
    ),
    (
        "a method of Go, not the function of the same name",
        GO,
        "func (s *Server) Handle(x int) int {\n\treturn -x\n}\n",
        ("return x", "return -x"),
    ),
    (
        "lines between two that occur once",
        "a = 1\nb = 2\nc = 3\nd = 4\n",
        "a = 1\nb = 5\nc = 3\nd = 4\n",
        ("b = 2", "b = 5"),
    ),
    (
        "Windows line endings, and blank lines around the block",
        "a = 1\r\nb = 2\r\nc = 3\r\n",
        "\n\na = 1\nb = 5\nc = 3\n\n",
        None,
    ),
]

NOT_PLACED = [
    ("no such function", PYTHON, "def other():\n    pass\n"),
    ("two functions of the name", TWICE, "def f():\n    return 2\n"),
    (
        "a function, where the file has a method of the name",
        "class A:\n    def f(self):\n        return 1\n",
        "def f(path):\n    return 2\n",
    ),
    ("another kind of definition", "class f:\n    pass\n", "def f():\n    return 2\n"),
    ("a class of which methods are missing", PYTHON, "class Box:\n    def area(self):\n        return 1\n"),
    ("another comment above", "# One.\ndef f():\n    return 1\n", "# Two.\ndef f():\n    return 2\n"),
    (
        "spaces in a file of tabs",
        GO.replace("(s *Server) Handle", "Other"),
        "func Other(x int) int {\n    return -x\n}\n",
    ),
    (
        "the last line is one of another function",
        "def a():\n    return 1\n\n\ndef b():\n    return 2\n",
        "x = 1\ndef a():\n    return 2\n",
    ),
    ("between the ends everything differs", "a\n1\n2\n3\n4\nz\n", "a\nx\nz\n"),
    ("the ends would take a function away", "a = 1\n\ndef f():\n    pass\n\nb = 2\n", "a = 1\n\nb = 2\n"),
    ("the ends occur in the wrong order", "b = 2\nx = 1\na = 1\n", "a = 1\nx = 1\nb = 2\n"),
    ("one line", PYTHON, "import math\n"),
    ("two definitions", PYTHON, "def edge(box):\n    return 1\n\n\ndef new(box):\n    return 2\n"),
    ("only blank lines", PYTHON, "\n\n"),
    ("only a comment", PYTHON, "# TODO\n"),
    ("a call is no definition", "print(\n    1)\n", "print(2)\n"),
    ("a very long line", PYTHON, "def " + "x" * 100_000 + "():\n    pass\n"),
]


Placed = tuple[str, str, str, tuple[str, str] | None]


@every("placed", PLACED, itemgetter(0))
def test_what_a_block_replaces(placed: Placed) -> None:
    _, text, block, changed = placed
    found = find_replacement(text, block)
    assert found is not None
    assert text.splitlines(keepends=True)[found.line - 1] == found.old.splitlines(keepends=True)[0]
    assert text.count(found.old) == 1
    after = text.replace(found.old, found.new)
    assert after.replace("\r\n", "\n") == (text.replace(*changed) if changed else "a = 1\nb = 5\nc = 3\n")


@every("unplaced", NOT_PLACED, itemgetter(0))
def test_what_is_not_certain(unplaced: tuple[str, str, str]) -> None:
    _, text, block = unplaced
    assert find_replacement(text, block) is None


GIT = "diff --git a/f.py b/f.py\nindex 1..2 100644\n--- a/f.py\n+++ b/f.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
PAIR = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
FORMS = [
    # block, language, does it name its files, is it a diff of one file, its replacements
    (GIT, "diff", True, False, None),
    (GIT.partition("\n")[2], "", True, False, None),
    ("*** Begin Patch\n*** Delete File: f.py\n*** End Patch\n", "", True, False, None),
    ("@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "", False, True, None),
    (" a\n-b\n+c\n", "diff", False, True, None),
    (" a\n-b\n+c\n", "python", False, False, None),
    ("- one\n- two\n", "markdown", False, False, None),
    ("a\n-b\n", "diff", False, False, None),
    (PAIR, "", False, False, (("a\n", "b\n"),)),
    (f"src/f.py\n{PAIR}\n{PAIR}", "python", False, False, (("a\n", "b\n"), ("a\n", "b\n"))),
    ("<<<<<<< SEARCH\n=======\nb\n>>>>>>> REPLACE", "", False, False, (("", "b\n"),)),
    (PAIR.replace(">>>>>>> REPLACE\n", ""), "", False, False, None),
    (f"{PAIR}and this\n", "", False, False, None),
    ("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n", "", False, False, None),
    ("", "diff", False, False, None),
]


@every("form", FORMS, itemgetter(0, 1))
def test_the_forms_of_blocks(form: tuple[str, str, bool, bool, tuple[tuple[str, str], ...] | None]) -> None:
    block, language, named, diff, pairs = form
    assert (names_its_files(block), replacements(block)) == (named, pairs)
    if not named:
        assert (patch_of(block, language, "f.py") is not None) == diff
