"""Chunks along definitions, and along blank lines where there are none."""

from tark_lsp.index.parsing import parse_file


def chunks(name: str, text: str) -> list[tuple[int, int, str]]:
    return [(one.start_line, one.end_line, one.symbol) for one in parse_file(name, text).chunks]


def function(name: str, lines: int, indent: str = "") -> str:
    body = "".join(f"{indent}    step_{number}()\n" for number in range(lines - 1))
    return f"{indent}def {name}(self):\n{body}\n"


def test_definitions_are_chunks() -> None:
    assert chunks("a.py", function("one", 20) + function("two", 25)) == [(1, 20, "one"), (22, 46, "two")]


def test_small_neighbours_are_joined() -> None:
    text = "import os\n\n" + function("one", 3) + function("two", 4)
    assert chunks("a.py", text) == [(1, 10, "one")]


def test_a_comment_belongs_to_the_definition_below() -> None:
    text = function("one", 20) + "# What two does.\n@decorated\n" + function("two", 20)
    assert chunks("a.py", text) == [(1, 20, "one"), (22, 43, "two")]


def test_a_large_class_is_divided_at_its_methods() -> None:
    text = "class Shape:\n    size = 1\n\n" + function("one", 30, "    ") + function("two", 30, "    ")
    assert chunks("a.py", text) == [(1, 33, "Shape"), (35, 64, "Shape.two")]


def test_parts_of_a_large_function_keep_its_name() -> None:
    found = chunks("a.py", function("one", 100))
    assert len(found) == 3
    assert {symbol for _, _, symbol in found} == {"one"}


def test_without_a_grammar_paragraphs_stay_together() -> None:
    paragraph = "heading\n" + "  text\n" * 24 + "\n"
    assert chunks("a.unknown", paragraph * 3) == [(1, 25, ""), (27, 51, ""), (53, 77, "")]


def test_a_line_that_is_too_long_is_a_chunk_alone() -> None:
    assert chunks("a.unknown", "a\n" + "b" * 5_000 + "\nc\n") == [(1, 1, ""), (2, 2, ""), (3, 3, "")]
