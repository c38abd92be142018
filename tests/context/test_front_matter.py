"""Front matter: what rules, skills and prompts of today's editors have at their top, and what is wrong with others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.context.front_matter import BadFrontMatter, FrontMatter, Value, parse_front_matter

# the lines between the marks -> the fields
GOOD: dict[str, tuple[str, dict[str, Value]]] = {
    "globs as Cursor writes them": (
        "description: Use this: always\nglobs: *.py, src/**\nalwaysApply: false",
        {"description": "Use this: always", "globs": "*.py, src/**", "alwaysApply": False},
    ),
    "quoted": ("globs: \"*.py, src/**\"\nname: 'it''s'", {"globs": "*.py, src/**", "name": "it's"}),
    "an escaped quote": (r'name: "a \"b\" \\"', {"name": 'a "b" \\'}),
    "a list": ('globs: ["*.py", src/**]', {"globs": ("*.py", "src/**")}),
    "a list of braces": ("globs: [*.{js,ts}, x]", {"globs": ("*.{js,ts}", "x")}),
    "an empty list": ("globs: []", {"globs": ()}),
    "a list below": ("globs:\n  - '*.py'\n  - src/**\nname: x", {"globs": ("*.py", "src/**"), "name": "x"}),
    "a list below, not indented": ("globs:\n- '*.py'\n- b", {"globs": ("*.py", "b")}),
    "a list over lines": ("globs: [\n  a,\n  b\n  ]", {"globs": ("a", "b")}),
    "empty": ("globs:\ndescription:", {"globs": "", "description": ""}),
    "folded": ("description: >-\n  one\n  two\nname: x", {"description": "one two", "name": "x"}),
    "literal": ("description: |\n  one\n    two\n", {"description": "one\n  two"}),
    "a plain text over lines": ("description: one\n  two # no\n  three", {"description": "one two three"}),
    "comments": ("# first\nname: x # second\nother: a#b\n\n  # third", {"name": "x", "other": "a#b"}),
    "a mapping nobody asks for": ("metadata:\n  author: me\nname: x", {"metadata": "author: me", "name": "x"}),
    "nothing": ("", {}),
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("name", GOOD)
def test_what_is_written(name: str, newline: str) -> None:
    lines, fields = GOOD[name]
    text = f"---\n{lines}\n---\n# Body\n---\n".replace("\n", newline)
    found = parse_front_matter(text)
    assert dict(found.fields) == fields
    assert found.body == f"# Body{newline}---{newline}"
    assert text.splitlines()[found.body_line - 1] == "# Body"


@pytest.mark.parametrize("text", ["", "# Body\n", "\n---\nname: x\n---\n", "----\nname: x\n"])
def test_a_text_without_any_is_all_body(text: str) -> None:
    assert parse_front_matter(text) == FrontMatter(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\nname: x\n", "line 1 opens is not closed"),
        ("---\n" + "a: b\n" * 300, "within 200 lines"),
        ("---\njust words\n---\n", "line 2 is not `key: value`: just words"),
        ("---\nname:x\n---\n", "line 2 is not"),
        ("---\n- a\n---\n", "line 2 is not"),
        ("---\nok: x\nname: 'x\n---\n", "line 3: the quote is not closed: 'x"),
        ("---\nglobs: [a, b\n---\n", "line 2: the list is not closed"),
        ("---\na: x\na: y\n---\n", "line 3: a occurs twice"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, said: str) -> None:
    with pytest.raises(BadFrontMatter) as caught:
        parse_front_matter(text)
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("globs: *.py, src/**", ("*.py", "src/**")),
        ('globs: "*.py, src/**"', ("*.py", "src/**")),
        ("globs: '*.py', \"src/**\"", ("*.py", "src/**")),
        ("globs: *.{js,ts},", ("*.{js,ts}",)),
        ("globs: [a, 'b, c']", ("a", "b, c")),
        ("globs:", ()),
        ("other: x", ()),
    ],
)
def test_words(line: str, words: tuple[str, ...]) -> None:
    assert parse_front_matter(f"---\n{line}\n---\n").list_field("globs") == words


def test_values_of_another_kind_are_refused() -> None:
    found = parse_front_matter("---\nlist: [a]\nflag: true\ntext: |\n  a\n  b\nempty:\n---\n")
    assert (
        found.text_field("text"),
        found.text_field("flag"),
        found.text_field("empty"),
        found.text_field("none"),
    ) == ("a b", "true", "", "")
    assert (found.flag_field("flag"), found.flag_field("empty"), found.flag_field("none")) == (True, False, False)
    for wrong in (lambda: found.text_field("list"), lambda: found.flag_field("text"), lambda: found.list_field("flag")):
        with pytest.raises(BadFrontMatter):
            wrong()


@given(st.text(st.sampled_from("ab:-'\"[],{}#|> \n\\"), max_size=80))
def test_anything_is_parsed_or_refused(lines: str) -> None:
    text = f"---\n{lines}\n---\nbody\n"
    try:
        found = parse_front_matter(text)
    except BadFrontMatter:
        return
    assert text.endswith(found.body)
    assert found.body.endswith("body\n")
