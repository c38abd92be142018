"""The definition around a caret and after a comment, by indentation and the words of many languages."""

import random
import time
from pathlib import Path

import pytest

from tark_lsp.server.documents.ranges import (
    begins_definition,
    block_end,
    definition_after,
    enclosing_definition,
    is_definition,
    with_prefixes,
)
from tests.patience import AT_ONCE

PYTHON = """\
import math


@cache
@wraps(area)
def area(radius):
    '''Of a circle.'''

    def inner():
        return radius

    return math.pi * inner()


class Circle(Shape):
    radius: float

    @property
    def area(self) -> float:
        return area(
            self.radius,
        )

    async def draw(self):
        pass


total = area(1)
"""
TYPESCRIPT = """\
import { pi } from "./math";

export function area(radius: number): number {
  if (radius < 0) {
    throw new Error("no");
  }
  return pi * radius ** 2;
}

export const volume = async (radius: number): Promise<number> => {
  return 4 / 3;
};

@Component({ selector: "x" })
export class Circle {
  draw(canvas: Canvas) {
    canvas.arc();
  }
}
"""
C = """\
#include <math.h>

static double area(double radius)
{
    if (radius < 0)
        return 0;
    return M_PI * radius * radius;
}

int main(int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        puts(argv[i]);
    }
    return 0;
}
"""
GO = """\
package shapes

type Circle struct {
	Radius float64
}

func (c Circle) Area() float64 {
	if c.Radius < 0 {
		return 0
	}

	return math.Pi * c.Radius * c.Radius
}
"""
RUST = """\
#[derive(Debug)]
pub struct Circle {
    radius: f64,
}

impl Circle {
    #[inline]
    pub(crate) fn area(&self) -> f64 {
        match self.radius {
            r if r < 0.0 => 0.0,
            r => r * r,
        }
    }
}
"""
RUBY = """\
class Circle
  def area
    if radius
      radius**2
    end
  end

  def draw; end
end
"""
LUA = """\
local M = {}

function M.area(radius)
  if radius then
    return radius ^ 2
  end
end

local function draw()
end

return M
"""


@pytest.mark.parametrize(
    ("text", "caret", "expected"),
    [
        (PYTHON, "Of a circle", (3, 12)),
        (PYTHON, "def area(radius)", (3, 12)),
        (PYTHON, "return radius", (8, 10)),
        (PYTHON, "return math", (3, 12)),
        (PYTHON, "radius: float", (14, 25)),
        (PYTHON, "self.radius", (17, 22)),
        (PYTHON, "        )", (17, 22)),
        (PYTHON, "pass", (23, 25)),
        (PYTHON, "total", (27, 28)),
        (PYTHON, "import", (0, 1)),
        (TYPESCRIPT, "throw", (2, 8)),
        (TYPESCRIPT, "4 / 3", (9, 12)),
        (TYPESCRIPT, "canvas.arc", (15, 18)),
        (TYPESCRIPT, "import", (0, 1)),
        (C, "return M_PI", (2, 8)),
        (C, "puts", (9, 15)),
        (C, "#include", (0, 1)),
        (GO, "Radius float64", (2, 5)),
        (GO, "return math", (6, 13)),
        (RUST, "radius: f64", (0, 4)),
        (RUST, "r * r", (6, 13)),
        (RUST, "impl", (5, 14)),
        (RUBY, "radius**2", (1, 6)),
        (RUBY, "draw", (7, 8)),
        (LUA, "return radius", (2, 7)),
        (LUA, "return M", (11, 12)),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_definition_around_a_caret(text: str, caret: str, expected: tuple[int, int], ending: str) -> None:
    line = text[: text.index(caret)].count("\n")
    lines = [*(f"{splitline}{ending}" for splitline in text.splitlines()), ""]
    assert enclosing_definition(lines, line) == expected


@pytest.mark.parametrize("line", range(6))
def test_nothing_but_text(line: int) -> None:
    assert enclosing_definition(["Some\n", "\n", "  words,\n", "if any\n", "for all\n", ""], line) == (line, line + 1)


@pytest.mark.parametrize(
    "head",
    [
        "if (x) {",
        "} else {",
        "for (a; b) {",
        "while (true) {",
        "switch (x) {",
        "} catch (e) {",
        "return f(x) {",
        "with (a) {",
    ],
)
def test_control_flow_is_no_definition(head: str) -> None:
    assert not is_definition(head)


def test_after_a_comment() -> None:
    lines = ["# tark: x\n", "# more\n", "\n", "@cache\n", "def f():\n", "    pass\n", "f()\n"]
    assert definition_after(lines, 1) == (3, 6)
    assert definition_after(lines, 6) is None
    assert definition_after(lines, 7) is None


@pytest.mark.parametrize(
    "line",
    ["f(a):bc" * 100_000, " " * 200_000, "a(" + ") throws a" * 20_000, "let x = (" + ")" * 200_000, "const " * 30_000],
    ids=lambda line: line[:10],
)
def test_endless_lines_take_no_time(line: str) -> None:
    begun = time.process_time()
    assert enclosing_definition([line, line, line], 2) == (2, 3)
    assert time.process_time() - begun < AT_ONCE


def test_a_long_file_without_definitions_takes_no_time() -> None:
    lines = ["value, value, value\n"] * 200_000
    begun = time.process_time()
    assert enclosing_definition(lines, 199_999) == (199_999, 200_000)
    assert time.process_time() - begun < AT_ONCE


def test_our_own_sources() -> None:
    """Each `def` of a real file is found from its own first line."""
    lines = Path(__file__).read_text().splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.startswith("def "):
            start, end = enclosing_definition(lines, number)
            assert start <= number < end
            assert end == len(lines) or not lines[end].startswith(" ")


def test_what_is_skipped_for_its_indentation_never_counts() -> None:
    """Against looking at every line above."""
    some = random.Random(7)
    pieces = ("def f():", "x = 1", "@deco", "class A:", "}", "{", "int foo(int a)", "", "end", "if (x) {", "fn x() {")
    for _ in range(3000):
        lines = [f"{' ' * some.randrange(0, 9, 4)}{some.choice(pieces)}\n" for _ in range(some.randint(1, 9))]
        line = some.randrange(len(lines))
        holding = ((start, block_end(lines, start)) for start in range(line, -1, -1) if begins_definition(lines, start))
        found = next(((with_prefixes(lines, start), end) for start, end in holding if line < end), (line, line + 1))
        assert enclosing_definition(lines, line) == found, lines
