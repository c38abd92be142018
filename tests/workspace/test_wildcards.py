"""Wildcards of rules: the same language as a simple translation that backtracks, without its time."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tark_lsp.workspace.wildcards import command_pattern, path_pattern

SIMPLE = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
PARTS = st.sampled_from(["**/", "**", "*", "?", "a", "b", "ab", "/", "a/", "."])
PATHS = st.text("ab/.", max_size=12)


def simple_path_pattern(pattern: str) -> re.Pattern[str]:
    # `a**/b` has no whole parts of a path: `**`, and then a `/`.
    pattern = re.sub(r"(?<![/*])(?<!^)\*\*/", "**|", pattern)
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    text = "".join(SIMPLE.get(piece, re.escape(piece)) for piece in pieces)
    return re.compile(text.replace(r"\|", "/"), re.DOTALL)


@given(st.lists(PARTS, max_size=7).map("".join), PATHS)
@example("**a*b", "a/ab")
@example("a/**/b", "a/b")
@example("**/*.a/**/b", ".a/a.a/b")
@example("a**b**", "aab/")
def test_the_same_paths(pattern: str, path: str) -> None:
    expected = simple_path_pattern(pattern).fullmatch(path) is not None
    assert (path_pattern(pattern).fullmatch(path) is not None) == expected


@given(st.text("ab *", max_size=8), st.text("ab \n", max_size=12))
@example("a* *", "aab c")
@example("a*b *", "ab ab")
def test_the_same_commands(pattern: str, command: str) -> None:
    tail = r"(?:\s.*)?" if pattern.endswith(" *") else ""
    simple = re.escape(pattern.removesuffix(" *") if tail else pattern).replace(r"\*", ".*") + tail
    expected = re.compile(simple, re.DOTALL).fullmatch(command) is not None
    assert (command_pattern(pattern).fullmatch(command) is not None) == expected


@pytest.mark.parametrize("wildcard", ["*", "**", "*a", "**a", "a**/", "*?", "**/*a", "**/a*/"])
def test_many_wildcards_end(wildcard: str) -> None:
    """These took longer than the age of the universe."""
    assert path_pattern(wildcard * 60 + "x").fullmatch("a" * 250) is None
    assert path_pattern(wildcard * 60 + "x").fullmatch("a/" * 125) is None
    assert command_pattern(wildcard * 60 + "x *").fullmatch("a " * 5000) is None
